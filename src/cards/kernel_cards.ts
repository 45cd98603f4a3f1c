// The cards of kernels and modules, and of arrays handed to other libraries.

import { DLPackTensor } from "../dlpack/dlpack_tensor.ts";
import { CudaKernel } from "../kernels/cuda_kernel.ts";
import { CudaModule } from "../kernels/cuda_module.ts";
import { formatAddress, formatBytes, formatCount } from "../words/format.ts";
import { type Card, factsPart } from "./card.ts";
import { show } from "./show_card.ts";

show(CudaKernel, kernelCard);
show(CudaModule, moduleCard);
show(DLPackTensor, tensorCard);

/** Most kernels of a module that its card names. */
const MAX_NAMES = 12;

function kernelCard(kernel: CudaKernel): Card {
  const { name, parameterBytes, context: { ordinal } } = kernel;
  const head = { title: name, kind: "CudaKernel" };
  const parameters = parameterBytes === undefined
    ? "parameters unknown"
    : formatCount(parameterBytes.length, "parameter");
  const summary = `device ${ordinal}, ${parameters}`;
  if (kernel.disposed) return { ...head, state: "disposed", summary, parts: [] };
  const { limits } = kernel;
  const parts = factsPart([
    ["threads of a block", `at most ${limits.maxBlockThreads}`],
    ["registers of a thread", String(limits.registerCount)],
    ["shared memory", formatBytes(limits.staticSharedBytes)],
    ["more on request", `at most ${formatBytes(limits.maxSharedBytes)}`],
    ["memory of a thread", formatBytes(limits.localBytes)],
    ["bytes of parameters", parameterBytes?.join(", ") || undefined],
  ]);
  return { ...head, summary, parts };
}

function moduleCard(module: CudaModule): Card {
  const { name, kernelNames, context: { ordinal } } = module;
  const head = { title: name, kind: "CudaModule" };
  const summary = `device ${ordinal}, ${formatCount(kernelNames.length, "kernel")} by name`;
  if (module.disposed) return { ...head, state: "disposed", summary, parts: [] };
  const more = kernelNames.length > MAX_NAMES ? `, ${kernelNames.length - MAX_NAMES} more` : "";
  const names = `${kernelNames.slice(0, MAX_NAMES).join(", ")}${more}`;
  return { ...head, summary, parts: factsPart([["kernels", names || undefined]]) };
}

function tensorCard(tensor: DLPackTensor): Card {
  const head = { title: "array for another library", kind: "DLPackTensor" };
  const summary = `DLPack ${tensor.versioned ? "with" : "without"} a version`;
  if (tensor.disposed) {
    return { ...head, state: "disposed", summary: `${summary}, given away or disposed`, parts: [] };
  }
  return { ...head, summary, parts: factsPart([["struct", formatAddress(tensor.address)]]) };
}
