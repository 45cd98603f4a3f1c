// A bandwidth sweep by nvbandwidth's method: warm-up copies, then a row of copies between two events
// on a stream that is held until all are queued; the median of samples; every byte checked afterwards.

import { allocateDeviceBuffer, type DeviceBuffer } from "../buffers/device_buffer.ts";
import { allocatePinnedBuffer, type PinnedBuffer } from "../buffers/pinned_buffer.ts";
import { createEvent, type CudaEvent } from "../order/event.ts";
import { createStream, type CudaStream } from "../order/stream.ts";
import { nextTurn } from "../order/waiting.ts";
import { engineOf } from "../transfer/context_engine.ts";
import { MIN_RING_BYTES } from "../transfer/ways.ts";
import { type ByteSize, parseBytes } from "../words/format.ts";
import { CALLBACK, listOf, NUMBER, oneOf, OptionSet, SIGNAL, SIZE } from "../words/options.ts";
import { reportProgress } from "../words/progress.ts";
import {
  type BandwidthPoint,
  type BandwidthResult,
  type CopyCase,
  type CopyDirection,
  DIRECTIONS,
  type HostKind,
  type LatencyCase,
} from "./bandwidth_result.ts";
import {
  type BandwidthMemory,
  CASE_BYTES,
  COPY_CASES,
  isCopyCase,
  measureCases,
} from "./copy_cases.ts";
import { Latch } from "./latch.ts";
import { isLatencyCase, LATENCY_CASES, measureLatencies } from "./latency_cases.ts";
import { fillPattern, findMismatch, PATTERN_SEED } from "./pattern.ts";
import { checkSampleCount, speedsOf, spreadOf } from "./samples.ts";

/** Options for {@link CudaDevice.bandwidth}: sizes, kinds of memory and directions to measure. */
export interface BandwidthOptions {
  /** Sizes of a copy; powers of four from 4 KiB to 256 MiB by default. */
  readonly sizes?: readonly ByteSize[] | undefined;
  /** Kinds of host memory; both by default. */
  readonly kinds?: readonly ("pageable" | "pinned")[] | undefined;
  /** Directions; all three by default. */
  readonly directions?: readonly CopyDirection[] | undefined;
  /**
   * Cases of nvbandwidth to measure: copies by the copy engines, copies by a kernel, and the latency of
   * an access to host memory; none by default. Given alone, there are no points by size.
   */
  readonly cases?: readonly (CopyCase | LatencyCase)[] | undefined;
  /** Size of a copy in these cases; 512 MiB by default, as in nvbandwidth. */
  readonly caseSize?: ByteSize | undefined;
  /** Samples for each point or case; 3 by default. */
  readonly sampleCount?: number | undefined;
  /** Called after each point; cases have none. */
  readonly onProgress?:
    | ((doneCount: number, totalCount: number, point: BandwidthPoint) => void)
    | undefined;
  /** Stops the measurement between two points or cases. */
  readonly signal?: AbortSignal | undefined;
}

/** Checks the options above. */
export const BANDWIDTH_OPTIONS: OptionSet<BandwidthOptions> = new OptionSet({
  sizes: listOf(SIZE),
  kinds: listOf(oneOf("pageable", "pinned")),
  directions: listOf(DIRECTIONS),
  cases: listOf(oneOf(...COPY_CASES, ...LATENCY_CASES)),
  caseSize: SIZE,
  sampleCount: NUMBER,
  onProgress: CALLBACK,
  signal: SIGNAL,
});

/** Number of copies in a sample when they are quick, as in nvbandwidth. */
const MAX_COPIES = 16;
/** Number of copies before the first event of a sample when they are quick. */
const WARM_UP_COPIES = 4;
/** Host time that one sample aims to stay within. */
const SAMPLE_SECONDS = 0.25;

/** The smallest copy that a sweep measures unless told otherwise. */
export const MIN_COPY_BYTES = 4096;

/** Returns powers of four from 4 KiB on, and `largestBytes` as the last. */
export function sizesUpTo(largestBytes: number): number[] {
  const sizes: number[] = [];
  for (let size = MIN_COPY_BYTES; size < largestBytes; size *= 4) sizes.push(size);
  return [...sizes, largestBytes];
}

/** Sizes of a sweep unless told otherwise. */
const DEFAULT_SIZES: readonly number[] = sizesUpTo(256 * 2 ** 20);

/** One way of copying, between buffers that hold the largest size. */
interface CopyWay {
  readonly direction: CopyDirection;
  readonly kind: HostKind;
  /** Queues or does one copy of the first `byteLength` bytes. */
  copy(byteLength: number): void;
  /** Writes the pattern to the source, and something else to the destination. */
  prepare(byteLength: number): void;
  /** Returns the destination's bytes on the host. */
  result(byteLength: number): Uint8Array<ArrayBufferLike>;
}

/** Measures every point of a sweep, and every case. */
export async function measureBandwidth(
  memory: BandwidthMemory,
  options: BandwidthOptions = {},
): Promise<Pick<BandwidthResult, "points" | "cases" | "latencies">> {
  const { cases = [], caseSize = CASE_BYTES, sampleCount = 3, signal } = options;
  const byteLength = parseBytes(caseSize, "size of a case");
  checkSweep([byteLength], options);
  const isOfCasesOnly = options.cases !== undefined && options.sizes === undefined &&
    options.kinds === undefined && options.directions === undefined;
  requireEffect(options, isOfCasesOnly);
  const points = isOfCasesOnly ? [] : await measurePoints(memory, options);
  const plan = { sampleCount, signal };
  return {
    points,
    cases: await measureCases(memory, { cases: cases.filter(isCopyCase), byteLength, ...plan }),
    latencies: await measureLatencies(memory, { cases: cases.filter(isLatencyCase), ...plan }),
  };
}

async function measurePoints(
  memory: BandwidthMemory,
  options: BandwidthOptions,
): Promise<BandwidthPoint[]> {
  const sizes = (options.sizes ?? DEFAULT_SIZES).map((size) => parseBytes(size, "copy size"));
  checkSweep(sizes, options);
  using resources = new DisposableStack();
  const sweep = new Sweep(memory, Math.max(...sizes), resources);
  const ways = sweep.ways(options);
  const points: BandwidthPoint[] = [];
  for (const way of ways) {
    if (way.kind === "pageable") await sweep.runThreads();
    for (const byteLength of sizes) {
      options.signal?.throwIfAborted();
      await nextTurn();
      const point = sweep.measure(way, { byteLength, sampleCount: options.sampleCount ?? 3 });
      points.push(point);
      const pointCount = ways.length * sizes.length;
      reportProgress(options.onProgress, points.length, pointCount, point);
    }
  }
  return points;
}

/** The buffers, stream and events of one sweep. */
class Sweep {
  readonly #stream: CudaStream;
  readonly #start: CudaEvent;
  readonly #end: CudaEvent;
  readonly #latch: Latch;
  readonly #source: DeviceBuffer<"uint8">;
  readonly #destination: DeviceBuffer<"uint8">;
  readonly #pinned: PinnedBuffer<"uint8">;
  readonly #pageable: Uint8Array<ArrayBuffer>;

  constructor(memory: BandwidthMemory, largestBytes: number, resources: DisposableStack) {
    const { context } = memory.device;
    const stream = resources.use(createStream(context));
    const request = { dtype: "uint8", shape: largestBytes, stream, label: "bandwidth" } as const;
    const device = () =>
      resources.use(allocateDeviceBuffer({ ...request, resource: memory.device }));
    this.#stream = stream;
    this.#start = resources.use(createEvent(context));
    this.#end = resources.use(createEvent(context));
    this.#source = device();
    this.#destination = device();
    this.#pinned = resources.use(allocatePinnedBuffer({ ...request, resource: memory.pinned }));
    this.#pageable = new Uint8Array(largestBytes);
    this.#latch = Latch.onStream(memory.pinned, { stream, resources });
  }

  /** The ways of copying that the options ask for. */
  ways(options: BandwidthOptions): CopyWay[] {
    const { kinds = ["pinned", "pageable"] } = options;
    const { directions = ["host-to-device", "device-to-host", "device-to-device"] } = options;
    const toHost = directions.filter((direction) => direction !== "device-to-device");
    const isMeasured = (kind: HostKind) => kinds.some((wanted) => wanted === kind);
    return [
      ...isMeasured("pinned") ? toHost.map((direction) => this.#hostWay(direction, "pinned")) : [],
      ...directions.includes("device-to-device") ? [this.#onDevice()] : [],
      ...isMeasured("pageable")
        ? toHost.map((direction) => this.#hostWay(direction, "pageable"))
        : [],
    ];
  }

  /** Starts the threads for large pageable memory: a sweep measures a running program. */
  async runThreads(): Promise<void> {
    if (this.#pageable.byteLength < MIN_RING_BYTES) return;
    await engineOf(this.#stream.context).runLanes();
  }

  /** Measures one point and checks the bytes. */
  measure(way: CopyWay, plan: { byteLength: number; sampleCount: number }): BandwidthPoint {
    const { byteLength, sampleCount } = plan;
    way.prepare(byteLength);
    const copiesPerSample = this.#copiesFor(way, byteLength);
    const seconds = spreadOf(Array.from(
      { length: sampleCount },
      () => this.#sample(way, byteLength, copiesPerSample) / copiesPerSample,
    ));
    const verified = findMismatch(way.result(byteLength), PATTERN_SEED) === -1;
    return {
      direction: way.direction,
      kind: way.kind,
      byteLength,
      secondsPerCopy: seconds.middle,
      ...speedsOf(byteLength, seconds),
      sampleCount,
      copiesPerSample,
      verified,
    };
  }

  /** Returns how many copies fit into a sample, by the host time of one after a warm-up. */
  #copiesFor(way: CopyWay, byteLength: number): number {
    way.copy(byteLength);
    this.#stream.synchronizeSync();
    const start = performance.now();
    way.copy(byteLength);
    this.#stream.synchronizeSync();
    const seconds = (performance.now() - start) / 1000;
    return Math.max(1, Math.min(MAX_COPIES, Math.floor(SAMPLE_SECONDS / seconds)));
  }

  /** Returns the GPU seconds of one row of copies. */
  #sample(way: CopyWay, byteLength: number, copies: number): number {
    const queue = () => {
      for (let i = 0; i < Math.min(WARM_UP_COPIES, copies); i++) way.copy(byteLength);
      this.#stream.record(this.#start);
      for (let i = 0; i < copies; i++) way.copy(byteLength);
      this.#stream.record(this.#end);
    };
    // A blocking copy would wait for a held stream forever.
    if (way.kind === "pageable") queue();
    else this.#latch.hold(this.#stream, queue);
    this.#stream.synchronizeSync();
    return this.#end.secondsSince(this.#start);
  }

  #onDevice(): CopyWay {
    const options = { stream: this.#stream };
    return {
      direction: "device-to-device",
      kind: "device",
      copy: (n) =>
        void this.#destination.subarray(0, n).copyFrom(this.#source.subarray(0, n), options),
      prepare: (n) => this.#fillDevice(this.#source, n),
      result: (n) => this.#destination.subarray(0, n).downloadSync(undefined, options),
    };
  }

  #hostWay(direction: CopyDirection, kind: "pinned" | "pageable"): CopyWay {
    const options = { stream: this.#stream };
    const isPinned = kind === "pinned";
    const device = (n: number) => this.#source.subarray(0, n);
    const pinned = (n: number) => this.#pinned.subarray(0, n);
    const pageable = (n: number) => this.#pageable.subarray(0, n);
    const bytes = (n: number) => isPinned ? this.#pinned.array.subarray(0, n) : pageable(n);
    if (direction === "host-to-device") {
      const copy = isPinned
        ? (n: number) => void device(n).copyFrom(pinned(n), options)
        : (n: number) => void device(n).uploadSync(pageable(n), options);
      const prepare = (n: number) => {
        fillPattern(bytes(n), PATTERN_SEED);
        this.#source.fill(0, options);
      };
      return {
        direction,
        kind,
        copy,
        prepare,
        result: (n) => device(n).downloadSync(undefined, options),
      };
    }
    const copy = isPinned
      ? (n: number) => void device(n).copyTo(pinned(n), options)
      : (n: number) => void device(n).downloadSync(pageable(n), options);
    const prepare = (n: number) => {
      this.#fillDevice(this.#source, n);
      bytes(n).fill(0);
    };
    return { direction, kind, copy, prepare, result: bytes };
  }

  #fillDevice(buffer: DeviceBuffer<"uint8">, byteLength: number): void {
    const bytes = this.#pageable.subarray(0, byteLength);
    fillPattern(bytes, PATTERN_SEED);
    buffer.subarray(0, byteLength).uploadSync(bytes, { stream: this.#stream });
    this.#destination.fill(0, { stream: this.#stream });
    this.#stream.synchronizeSync();
  }
}

/**
 * Checks that something is measured, and that no option is for what is not.
 *
 * @throws RangeError when nothing is measured.
 * @throws TypeError when an option would have no effect.
 */
function requireEffect(options: BandwidthOptions, isOfCasesOnly: boolean): void {
  const { cases = [], kinds = ["pinned"], directions = ["device-to-device"] } = options;
  if (isOfCasesOnly && cases.length === 0) throw nothing("cases must be one or more");
  const isAnyWay = directions.includes("device-to-device") || directions.length * kinds.length > 0;
  if (!isOfCasesOnly && !isAnyWay) throw nothing("no copy is of these kinds and directions");
  if (options.caseSize !== undefined && cases.length === 0) {
    throw new TypeError('Cannot measure bandwidth: option "caseSize" needs cases');
  }
  if (options.onProgress !== undefined && isOfCasesOnly) {
    throw new TypeError(
      'Cannot measure bandwidth: option "onProgress" is for points by size, name sizes as well',
    );
  }
}

function nothing(reason: string): RangeError {
  return new RangeError(`Cannot measure bandwidth: ${reason}`);
}

function checkSweep(sizes: readonly number[], { sampleCount = 3 }: BandwidthOptions): void {
  if (sizes.length === 0 || sizes.includes(0)) {
    throw new RangeError("Cannot measure bandwidth: sizes must be one or more, each above 0 bytes");
  }
  checkSampleCount(sampleCount);
}
