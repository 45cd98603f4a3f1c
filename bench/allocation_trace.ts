// How do our resources hold up under a random trace of allocations and frees? Time for a step, and
// the most bytes reserved over the most bytes live, on the trace that the peers' pools replay:
// `deno run -A bench/allocation_trace.ts [peers.json [result.json]]`.

import { CudaDevice, type MemoryResource } from "../mod.ts";
import { CachingResourceAdaptor, CudaAsyncMemoryResource } from "../src/entries/memory.ts";
import { readWords } from "./arguments.ts";
import { findPeerResult, type PeerReport } from "./peers/report.ts";
import { allocationTrace, replayTrace } from "./peers/trace.ts";
import { type BenchRow, median, report } from "./result_file.ts";

/** The libraries that have a pool of their own; the peers' report has both questions for each. */
const PEERS = ["CuPy", "PyTorch"] as const;
const REPLAY_COUNT = 5;

/** A resource and what it has taken from the device so far. */
interface TracedPool extends Disposable {
  /** Whether it is a pool of ours, which promises to be no slower than theirs, or the driver's. */
  readonly isOurs: boolean;
  readonly resource: MemoryResource;
  readonly peakReservedBytes: () => number;
}

const [peersPath, resultPath] = readWords({ most: 2 });
const peers: PeerReport | undefined = peersPath === undefined
  ? undefined
  : JSON.parse(await Deno.readTextFile(peersPath));

using gpu = CudaDevice.open(0, { driver: "auto" });
const trace = allocationTrace();
const rows = [
  ...traceRows("a driver pool that returns what is freed", () => driverPool(0)),
  ...traceRows("a driver pool that keeps what is freed", () => driverPool(gpu.memory.totalBytes)),
  ...traceRows("Caching over the default pool", cachingPool),
];
await report(gpu, rows, resultPath);

function driverPool(releaseThresholdSize: number): TracedPool {
  const resource = new CudaAsyncMemoryResource(gpu, { releaseThresholdSize });
  return {
    isOurs: false,
    resource,
    peakReservedBytes: () => resource.peakReservedBytes,
    [Symbol.dispose]: () => resource.dispose(),
  };
}

function cachingPool(): TracedPool {
  const resource = new CachingResourceAdaptor(gpu.memoryResource);
  return {
    isOurs: true,
    resource,
    peakReservedBytes: () => resource.peakReservedBytes,
    [Symbol.dispose]: () => resource.dispose(),
  };
}

/** Replays the trace from an empty pool each time. */
function traceRows(name: string, makePool: () => TracedPool): BenchRow[] {
  const seconds: number[] = [];
  const ratios: number[] = [];
  let isOurs = false;
  for (let replay = 0; replay < REPLAY_COUNT; replay++) {
    gpu.synchronizeSync();
    using pool = makePool();
    isOurs = pool.isOurs;
    seconds.push(replayOn(pool.resource));
    ratios.push(pool.peakReservedBytes() / trace.peakLiveBytes);
  }
  const step: BenchRow = { name: `${name}: a step`, value: median(seconds), unit: "s" };
  const peak: BenchRow = {
    name: `${name}: peak reserved over live`,
    value: median(ratios),
    unit: "ratio",
  };
  return [
    ...beside(step, { name: "traceStep", isOurs }),
    ...beside(peak, { name: "tracePeakReservedOverLive", isOurs }),
  ];
}

function replayOn(resource: MemoryResource): number {
  const { stream } = gpu;
  return replayTrace(trace, {
    allocate: (byteLength) => ({ address: resource.allocate(byteLength, stream), byteLength }),
    free: ({ address, byteLength }) => resource.deallocate(address, byteLength, stream),
  });
}

function beside(row: BenchRow, question: { name: string; isOurs: boolean }): BenchRow[] {
  const { name, isOurs } = question;
  const compared = PEERS.flatMap((peer): BenchRow[] => {
    const theirs = peers === undefined ? undefined : findPeerResult(peers, { peer, name });
    if (theirs === undefined) return [];
    const compared = { ...row, reference: { name: peer, value: theirs.value } };
    if (!isOurs) return [compared];
    const promise = { text: `not behind ${peer}`, holds: row.value <= theirs.value };
    return [{ ...compared, promise }];
  });
  return compared.length === 0 ? [row] : compared;
}
