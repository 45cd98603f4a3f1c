// What does it cost the host to allocate and free 1 MiB, from each kind of resource? Beside other
// libraries where a report of theirs is given: `deno run -A bench/allocation.ts
// [peers.json [result.json]]`.

import { CudaDevice, type MemoryResource } from "../mod.ts";
import {
  AlignedResourceAdaptor,
  CachingResourceAdaptor,
  CudaAsyncMemoryResource,
  CudaMemoryResource,
  FailureCallbackResourceAdaptor,
  LimitingResourceAdaptor,
  LoggingResourceAdaptor,
  PinnedHostMemoryResource,
  PooledPinnedHostMemoryResource,
  StatisticsResourceAdaptor,
  TrackingResourceAdaptor,
} from "../src/entries/memory.ts";
import { readWords } from "./arguments.ts";
import { findPeerResult, type PeerReport } from "./peers/report.ts";
import { type BenchRow, median, report } from "./result_file.ts";

const BLOCK_BYTES = 2 ** 20;
const BATCH_COUNT = 21;

/** The calls that the two fast resources are compared with, each measured in the peers' run. */
const PEERS = [
  { peer: "CuPy", method: "cupy.cuda.alloc" },
  { peer: "cuda.core", method: "Device.allocate, Buffer.close" },
  { peer: "PyTorch", method: "torch.empty" },
  { peer: "C++ driver API", method: "cuMemAllocAsync, cuMemFreeAsync, threshold max" },
] as const;

const [peersPath, resultPath] = readWords({ most: 2 });
const peers: PeerReport | undefined = peersPath === undefined
  ? undefined
  : JSON.parse(await Deno.readTextFile(peersPath));

using gpu = CudaDevice.open(0, { driver: "auto" });
using stack = new DisposableStack();
const pool = gpu.memoryResource;
const caching = stack.use(new CachingResourceAdaptor(pool));
const ownPool = stack.use(new CudaAsyncMemoryResource(gpu, { releaseThresholdSize: "1 GiB" }));
const pinned = new PinnedHostMemoryResource(gpu);
const pooledPinned = stack.use(new PooledPinnedHostMemoryResource(gpu));

const cachingSeconds = secondsPerPair(caching);
const rows: BenchRow[] = [
  defaultRow(secondsPerPair(pool)),
  row("a pool of one's own that keeps 1 GiB", secondsPerPair(ownPool)),
  ...cachingRows(cachingSeconds),
  row(
    "Limiting over Caching",
    secondsPerPair(new LimitingResourceAdaptor(caching, { limitSize: "90%" })),
  ),
  row("Statistics over Caching", secondsPerPair(new StatisticsResourceAdaptor(caching))),
  row("Aligned to 4 KiB over Caching", secondsPerPair(aligned(caching))),
  row("FailureCallback over Caching", secondsPerPair(asking(caching))),
  row("Tracking without stacks over Caching", secondsPerPair(tracking(caching, false))),
  row("Tracking with stacks over Caching", secondsPerPair(tracking(caching, true), 1_000)),
  row("Logging over Caching", secondsPerPair(logging(caching), 1_000)),
  row("cuMemAlloc", secondsPerPair(new CudaMemoryResource(gpu), 100)),
  row("page-locked", secondsPerPair(pinned, 10)),
  row("page-locked, pooled", secondsPerPair(pooledPinned)),
  row("gpu.alloc().dispose() from the default pool", secondsPer(() => allocateBuffer(pool))),
  row("gpu.alloc().dispose() from Caching", secondsPer(() => allocateBuffer(caching))),
];
await report(gpu, rows, resultPath);

function aligned(upstream: MemoryResource): MemoryResource {
  return new AlignedResourceAdaptor(upstream, { alignmentSize: "4 KiB" });
}

function asking(upstream: MemoryResource): MemoryResource {
  return new FailureCallbackResourceAdaptor(upstream, { onFailure: () => false });
}

function tracking(upstream: MemoryResource, captureStacks: boolean): MemoryResource {
  return new TrackingResourceAdaptor(upstream, { captureStacks });
}

function logging(upstream: MemoryResource): MemoryResource {
  return new LoggingResourceAdaptor(upstream, { write: () => {} });
}

function allocateBuffer(resource: MemoryResource): void {
  gpu.alloc("uint8", BLOCK_BYTES, { resource }).dispose();
}

function secondsPerPair(resource: MemoryResource, callCount?: number): number {
  const { stream } = gpu;
  return secondsPer(() => {
    const address = resource.allocate(BLOCK_BYTES, stream);
    resource.deallocate(address, BLOCK_BYTES, stream);
  }, callCount);
}

/** The median over batches that start with empty queues; the first batches only warm up. */
function secondsPer(call: () => void, callCount = 10_000): number {
  const samples = Array.from({ length: BATCH_COUNT + 4 }, () => {
    gpu.synchronizeSync();
    const start = performance.now();
    for (let i = 0; i < callCount; i++) call();
    return (performance.now() - start) / 1000 / callCount;
  });
  return median(samples.slice(4));
}

function row(name: string, value: number): BenchRow {
  return { name, value, unit: "s" };
}

function peerSeconds(peer: string, method: string): number | undefined {
  if (peers === undefined) return undefined;
  return findPeerResult(peers, { peer, name: "allocateFree", method })?.value;
}

function defaultRow(value: number): BenchRow {
  const ours = row("the default pool", value);
  const cpp = peerSeconds("C++ driver API", "cuMemAllocAsync, cuMemFreeAsync, threshold 0");
  if (cpp === undefined) return ours;
  const promise = { text: "at most 300 ns over C++", holds: value <= cpp + 3e-7 };
  return { ...ours, reference: { name: "C++", value: cpp }, promise };
}

function cachingRows(value: number): BenchRow[] {
  const promise = { text: "at most 200 ns", holds: value <= 2e-7 };
  const beside = PEERS.flatMap(({ peer, method }): BenchRow[] => {
    const theirs = peerSeconds(peer, method);
    if (theirs === undefined) return [];
    const promise = { text: `not behind ${peer}`, holds: value <= theirs };
    return [{ ...row("Caching", value), reference: { name: peer, value: theirs }, promise }];
  });
  return [{ ...row("Caching over the default pool", value), promise }, ...beside];
}
