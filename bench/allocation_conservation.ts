// Do the books of the caching resource stay right for days of allocations? A walk of millions of
// steps with three streams and too little memory; it ends with an error at the first step after
// which a byte is missing: `deno run -A bench/allocation_conservation.ts [stepCount [result.json]]`.

import { CudaDevice } from "../mod.ts";
import { CachingResourceAdaptor, StatisticsResourceAdaptor } from "../src/entries/memory.ts";
import { walkAllocations } from "./allocation_walk.ts";
import { readWords } from "./arguments.ts";
import { report } from "./result_file.ts";

const STEP_COUNT = 1_000_000;

const [stepText, resultPath] = readWords({ most: 2 });
const stepCount = Number(stepText ?? STEP_COUNT);
if (!Number.isInteger(stepCount) || stepCount < 1) {
  throw new RangeError(`Cannot walk ${stepText} steps: expected a whole number from 1 on`);
}

using gpu = CudaDevice.open(0, { driver: "auto" });
using second = gpu.createStream();
using third = gpu.createStream();
const freeBefore = settledFreeBytes();
const upstream = new StatisticsResourceAdaptor(gpu.memoryResource);
using cache = new CachingResourceAdaptor(upstream, { limitSize: "2 GiB" });
const { refusedCount, secondsPerStep } = walkAllocations(cache, {
  stepCount,
  streams: [gpu.stream, second, third],
  liveCount: 400,
  upstreamBytes: () => upstream.currentBytes,
  onPause: () => gpu.synchronizeSync(),
});
const missingBytes = freeBefore - settledFreeBytes();

await report(gpu, [
  {
    name: "steps with used + cached = reserved",
    value: stepCount,
    unit: "count",
    promise: { text: "after every step", holds: true },
  },
  {
    name: "device memory missing at the end",
    value: missingBytes,
    unit: "bytes",
    promise: { text: "none", holds: missingBytes <= 0 },
  },
  { name: "a step, its checks included", value: secondsPerStep, unit: "s" },
  { name: "requests refused for lack of memory", value: refusedCount, unit: "count" },
  { name: "allocations of the upstream", value: upstream.totalCount, unit: "count" },
  { name: "most reserved at once", value: cache.peakReservedBytes, unit: "bytes" },
], resultPath);

function settledFreeBytes(): number {
  gpu.synchronizeSync();
  return gpu.memory.freeBytes;
}
