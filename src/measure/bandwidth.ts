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
  type CopyEnd,
  hasPattern,
  isCopyCase,
  measureCases,
  setPattern,
} from "./copy_cases.ts";
import { Latch } from "./latch.ts";
import { isLatencyCase, LATENCY_CASES, measureLatencies } from "./latency_cases.ts";
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
const MAX_SAMPLE_COPIES = 16;
/** Number of copies before the first event of a sample when they are quick. */
const WARM_UP_COPIES = 4;
/** Host time that one sample aims to stay within. */
const SAMPLE_SECONDS = 0.25;

/** The smallest copy that a sweep measures unless told otherwise. */
export const MIN_SWEPT_BYTES = 4096;

/** Returns powers of four from 4 KiB on, and `largestBytes` as the last. */
export function sizesUpTo(largestBytes: number): number[] {
  const sizes: number[] = [];
  for (let size = MIN_SWEPT_BYTES; size < largestBytes; size *= 4) sizes.push(size);
  return [...sizes, largestBytes];
}

/** Sizes of a sweep unless told otherwise. */
const DEFAULT_SIZES: readonly number[] = sizesUpTo(256 * 2 ** 20);

/** Directions of a sweep unless told otherwise. */
const ALL: readonly CopyDirection[] = ["host-to-device", "device-to-host", "device-to-device"];

/** One way of copying, between ends that hold the largest size. */
interface CopyWay {
  readonly direction: CopyDirection;
  readonly kind: HostKind;
  readonly from: CopyEnd;
  readonly to: CopyEnd;
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
      const point = await sweep.measure(way, { byteLength, sampleCount: options.sampleCount ?? 3 });
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
  ways({ kinds = ["pinned", "pageable"], directions = ALL }: BandwidthOptions): CopyWay[] {
    const device = this.#source;
    const onDevice: CopyWay = {
      direction: "device-to-device",
      kind: "device",
      from: device,
      to: this.#destination,
    };
    const waysOf = (kind: "pinned" | "pageable", host: CopyEnd): CopyWay[] => {
      if (!kinds.includes(kind)) return [];
      return directions.filter((direction) => direction !== "device-to-device").map((direction) => {
        const isUpload = direction === "host-to-device";
        return { direction, kind, from: isUpload ? host : device, to: isUpload ? device : host };
      });
    };
    return [
      ...waysOf("pinned", this.#pinned),
      ...directions.includes("device-to-device") ? [onDevice] : [],
      ...waysOf("pageable", this.#pageable),
    ];
  }

  /** Starts the threads for large pageable memory: a sweep measures a running program. */
  async runThreads(): Promise<void> {
    if (this.#pageable.byteLength < MIN_RING_BYTES) return;
    await engineOf(this.#stream.context).runLanes();
  }

  /** Measures one point and checks the bytes. */
  async measure(
    { direction, kind, from, to }: CopyWay,
    { byteLength, sampleCount }: { readonly byteLength: number; readonly sampleCount: number },
  ): Promise<BandwidthPoint> {
    const way = {
      direction,
      kind,
      from: from.subarray(0, byteLength),
      to: to.subarray(0, byteLength),
    };
    way.to.fill(0);
    setPattern(way.from);
    this.#stream.context.waitForAll();
    const copiesPerSample = this.#copiesFor(way);
    const seconds = spreadOf(Array.from(
      { length: sampleCount },
      () => this.#sample(way, copiesPerSample) / copiesPerSample,
    ));
    return {
      direction,
      kind,
      byteLength,
      secondsPerCopy: seconds.middle,
      ...speedsOf(byteLength, seconds),
      sampleCount,
      copiesPerSample,
      verified: await hasPattern(way.to),
    };
  }

  /** Returns how many copies fit into a sample, by the host time of one after a warm-up. */
  #copiesFor(way: CopyWay): number {
    this.#copy(way, 1);
    this.#stream.synchronizeSync();
    const start = performance.now();
    this.#copy(way, 1);
    this.#stream.synchronizeSync();
    const seconds = (performance.now() - start) / 1000;
    return Math.max(1, Math.min(MAX_SAMPLE_COPIES, Math.floor(SAMPLE_SECONDS / seconds)));
  }

  /** Returns the GPU seconds of one row of copies. */
  #sample(way: CopyWay, copies: number): number {
    const queue = () => {
      this.#copy(way, Math.min(WARM_UP_COPIES, copies));
      this.#stream.record(this.#start);
      this.#copy(way, copies);
      this.#stream.record(this.#end);
    };
    // A blocking copy would wait for a held stream forever.
    if (way.kind === "pageable") queue();
    else this.#latch.hold(this.#stream, queue);
    this.#stream.synchronizeSync();
    return this.#end.secondsSince(this.#start);
  }

  /** Queues copies, or does them with pageable memory. */
  #copy({ from, to }: CopyWay, count: number): void {
    const options = { stream: this.#stream };
    for (let i = 0; i < count; i++) {
      if (from instanceof Uint8Array) (to as DeviceBuffer<"uint8">).uploadSync(from, options);
      else if (to instanceof Uint8Array) from.downloadSync(to, options);
      else to.copyFrom(from, options);
    }
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
