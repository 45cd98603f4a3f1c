// How does the default memory resource hold up under a random trace of allocations and frees?
// The trace is the one that PyTorch's and CuPy's pools replay, so the times compare.

import { CudaDevice } from "../mod.ts";
import { allocationTrace, replayTrace } from "./peers/trace.ts";

const gpu = CudaDevice.open(0, { driver: "auto" });
const trace = allocationTrace();
const pool = {
  allocate: (byteLength: number) => gpu.alloc("uint8", byteLength),
  free: (block: Disposable) => block[Symbol.dispose](),
};

Deno.bench(`${gpu.name}: replay ${trace.steps.length} steps`, { n: 5, warmup: 1 }, () => {
  replayTrace(trace, pool);
});
