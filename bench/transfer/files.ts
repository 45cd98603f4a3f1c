// How fast do files reach the GPU and come back? One file in the page cache, and a safetensors model
// of 300 tensors, beside the pinned ceiling of the same run and what other libraries reach; then a model
// that is not in the page cache, beside dd and PyTorch:
// `deno task bench files [--largest BYTES] [--peers peers.json] [--only warm,cold] [--out result.json]`.

import { join } from "node:path";
import { CudaDevice, type DeviceBuffer } from "../../mod.ts";
import { saveSafetensors } from "../../src/interop/safetensors/save.ts";
import { fillPattern } from "../../src/measure/pattern.ts";
import { type BenchRow, report } from "../result_file.ts";
import {
  ceilingRow,
  medianSeconds,
  peerRows,
  pinnedCeiling,
  readFlags,
  SEED,
  verify,
} from "./bench_run.ts";
import { coldRows } from "./cold_files.ts";

const SAMPLE_COUNT = 7;
/** Transfers before anything but the first is timed, so that lanes run. */
const WARM_COUNT = 32;
const TENSOR_COUNT = 300;
/** Size of the model, in times the file's. */
const MODEL_TIMES = 2;

const { largestBytes, peers, out, only = ["warm", "cold"] } = await readFlags({
  largestBytes: 2 ** 30,
});
const folder = await Deno.makeTempDir({ prefix: "vramkit-bench-" });
try {
  using gpu = CudaDevice.open(0, { driver: "auto" });
  const rows: BenchRow[] = [];
  if (only.includes("warm")) rows.push(...await warmRows(gpu));
  if (only.includes("cold")) rows.push(...await coldRows(gpu, folder, { largestBytes }));
  await report(gpu, rows, out);
} finally {
  await Deno.remove(folder, { recursive: true });
}

/** Files in the page cache. */
async function warmRows(gpu: CudaDevice): Promise<BenchRow[]> {
  const ceiling = {
    up: await pinnedCeiling(gpu, { largestBytes }),
    down: await pinnedCeiling(gpu, { largestBytes, direction: "device-to-host" }),
  };
  return [
    { name: "pinned ceiling, up", value: ceiling.up, unit: "GB/s" },
    { name: "pinned ceiling, down", value: ceiling.down, unit: "GB/s" },
    ...await fileRows(gpu, ceiling),
    ...await modelRows(gpu, ceiling),
  ];
}

/** One large file, both ways. */
async function fileRows(
  gpu: CudaDevice,
  ceiling: { readonly up: number; readonly down: number },
): Promise<BenchRow[]> {
  const [from, to] = [join(folder, "from.bin"), join(folder, "to.bin")];
  const bytes = new Uint8Array(largestBytes);
  fillPattern(bytes, SEED);
  await Deno.writeFile(from, bytes);
  let buffer = gpu.alloc("uint8", 1);
  const load = async () => {
    buffer.dispose();
    buffer = await gpu.uploadFile(from);
  };
  const byteLength = largestBytes;
  const first = await medianSeconds(1, load);
  for (let i = 0; i < WARM_COUNT; i++) await load();
  const upload = await medianSeconds(SAMPLE_COUNT, load);
  using last = buffer;
  verify(await last.download(), "uploadFile()");
  await last.writeFile(to);
  const overwrite = await medianSeconds(SAMPLE_COUNT, () => last.writeFile(to, { fileOffset: 0 }));
  verify(await Deno.readFile(to), "writeFile()");
  await Deno.remove(to);
  const fresh = await medianSeconds(
    SAMPLE_COUNT,
    () => last.writeFile(to),
    { afterEach: () => Deno.remove(to) },
  );
  return [
    ceilingRow("first uploadFile() of the process", {
      byteLength,
      seconds: first,
      ceiling: ceiling.up,
    }),
    ceilingRow("uploadFile()", { byteLength, seconds: upload, ceiling: ceiling.up, share: 0.8 }),
    ceilingRow("writeFile() into a file's pages", {
      byteLength,
      seconds: overwrite,
      ceiling: ceiling.down,
    }),
    ceilingRow("writeFile() of a new file", { byteLength, seconds: fresh, ceiling: ceiling.down }),
  ];
}

/** A model: written once from the device, then loaded again and again. */
async function modelRows(
  gpu: CudaDevice,
  ceiling: { readonly up: number; readonly down: number },
): Promise<BenchRow[]> {
  const path = join(folder, "model.safetensors");
  const tensorBytes = Math.ceil(MODEL_TIMES * largestBytes / TENSOR_COUNT / 4096) * 4096;
  const byteLength = TENSOR_COUNT * tensorBytes;
  const save = await saveModel(gpu, { path, tensorBytes });
  let model = await gpu.loadSafetensors(path);
  const load = await medianSeconds(SAMPLE_COUNT, async () => {
    model.dispose();
    model = await gpu.loadSafetensors(path);
  });
  using last = model;
  for (const [name, tensor] of last) verify(await bytesOf(tensor), `tensor ${name}`);
  return [
    ceilingRow(`loadSafetensors() of ${last.size} tensors`, {
      byteLength,
      seconds: load,
      ceiling: ceiling.up,
      share: 0.75,
    }),
    ...peerRows(peers, { name: "loadModel", ceiling: ceiling.up }),
    ceilingRow("saveSafetensors()", { byteLength, seconds: save, ceiling: ceiling.down }),
  ];
}

/** Saves the same tensor under many names, and tells how long that took. */
async function saveModel(
  gpu: CudaDevice,
  target: { readonly path: string; readonly tensorBytes: number },
): Promise<number> {
  const bytes = new Uint8Array(target.tensorBytes);
  fillPattern(bytes, SEED);
  using tensor = await gpu.upload(new Uint16Array(bytes.buffer), { dtype: "float16" });
  const tensors = Array.from(
    { length: TENSOR_COUNT },
    (_, index): [string, DeviceBuffer] => [`layers.${index}.weight`, tensor],
  );
  return await medianSeconds(1, () => saveSafetensors(target.path, tensors));
}

async function bytesOf(tensor: DeviceBuffer): Promise<Uint8Array<ArrayBuffer>> {
  return await tensor.as("uint8").download();
}
