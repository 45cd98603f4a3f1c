// Do the books of the caching resource stay right for days of allocations? A walk of millions of
// steps with three streams and too little memory: `deno run -A bench/allocation_conservation.ts
// [stepCount]`; it ends with an error at the first step after which a byte is missing.

import { CachingResourceAdaptor, CudaDevice, StatisticsResourceAdaptor } from "../mod.ts";
import { walkAllocations } from "./allocation_walk.ts";

const STEP_COUNT = 1_000_000;

using gpu = CudaDevice.open(0, { driver: "auto" });
using second = gpu.createStream();
using third = gpu.createStream();
const freeBefore = settledFreeBytes();
const stepCount = Number(Deno.args[0] ?? STEP_COUNT);
const upstream = new StatisticsResourceAdaptor(gpu.memoryResource);
using cache = new CachingResourceAdaptor(upstream, { limit: "2 GiB" });
const { refusedCount, secondsPerStep } = walkAllocations(cache, {
  stepCount,
  streams: [gpu.stream, second, third],
  liveCount: 400,
  upstreamBytes: () => upstream.currentBytes,
  onPause: () => gpu.synchronizeSync(),
});
console.log(
  `${gpu.name}: ${stepCount} steps, ${(secondsPerStep * 1e9).toFixed(0)} ns each with checks, ` +
    `${refusedCount} refused for lack of memory, ${upstream.totalCount} upstream allocations, ` +
    `peak ${cache.peakReservedBytes} bytes, ${freeBefore - settledFreeBytes()} bytes missing`,
);

function settledFreeBytes(): number {
  gpu.synchronizeSync();
  return gpu.memory.freeBytes;
}
