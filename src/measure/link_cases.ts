// The copy-engine cases of nvbandwidth for several GPUs, by its names and its method: each pair of
// devices, all with one, one with all, and the host with all at once.

import { allocateDeviceBuffer } from "../buffers/device_buffer.ts";
import type { GpuBuffer } from "../buffers/gpu_buffer.ts";
import { allocatePinnedBuffer } from "../buffers/pinned_buffer.ts";
import { peerRoute } from "../copies/peer_link.ts";
import { createEvent, type CudaEvent } from "../order/event.ts";
import { createStream, type CudaStream } from "../order/stream.ts";
import { nextTurn } from "../order/waiting.ts";
import { type ByteSize, parseBytes } from "../words/format.ts";
import { CALLBACK, listOf, NUMBER, oneOf, OptionSet, SIGNAL, SIZE } from "../words/options.ts";
import {
  type BandwidthMemory,
  CASE_BYTES,
  COPY_COUNT,
  hasPattern,
  setPattern,
  WARM_UP_COUNT,
} from "./copy_cases.ts";
import { Latch } from "./latch.ts";
import type { LinkCase, LinkSpeed } from "./link_bandwidth_result.ts";

/** One copy among those of a measurement. */
interface Copy {
  /** The ends of the copy: the place of a device in the list, or the host. */
  readonly from: number | "host";
  readonly to: number | "host";
  /** Place of the device on whose stream it runs. */
  readonly on: number;
}

/** Copies that run at the same time, and what counts of them. */
interface Run {
  readonly copies: readonly Copy[];
  /**
   * The copies that count: the first copy, which the others only load; all, over the time until the last is
   * done; or each over its own time.
   */
  readonly counts: "first" | "together" | "each";
}

/** A case: how many rows its matrix has, and the run of each field; undefined for one without. */
interface CasePlan {
  readonly isSquare: boolean;
  run(row: number, column: number, count: number): Run | undefined;
}

const CASES: Readonly<Record<LinkCase, CasePlan>> = {
  host_to_device_memcpy_ce: row((at) => first({ from: "host", to: at, on: at })),
  device_to_host_memcpy_ce: row((at) => first({ from: at, to: "host", on: at })),
  device_to_device_memcpy_read_ce: pairs((own, peer) => first({ from: peer, to: own, on: own })),
  device_to_device_memcpy_write_ce: pairs((own, peer) => first({ from: own, to: peer, on: own })),
  device_to_device_bidirectional_memcpy_read_ce: pairs((own, peer) => ({
    copies: [{ from: peer, to: own, on: own }, { from: own, to: peer, on: peer }],
    counts: "each",
  })),
  device_to_device_bidirectional_memcpy_write_ce: pairs((own, peer) => ({
    copies: [{ from: peer, to: own, on: peer }, { from: own, to: peer, on: own }],
    counts: "each",
  })),
  all_to_host_memcpy_ce: row((at, count) => ({
    copies: beginningWith(at, count).map((on) => ({ from: on, to: "host", on })),
    counts: "first",
  })),
  host_to_all_memcpy_ce: row((at, count) => ({
    copies: beginningWith(at, count).map((on) => ({ from: "host", to: on, on })),
    counts: "first",
  })),
  all_to_one_write_ce: row((at, count) =>
    together(others(at, count).map((on) => ({ from: on, to: at, on })))
  ),
  all_to_one_read_ce: row((at, count) =>
    together(others(at, count).map((from) => ({ from, to: at, on: at })))
  ),
  one_to_all_write_ce: row((at, count) =>
    together(others(at, count).map((to) => ({ from: at, to, on: at })))
  ),
  one_to_all_read_ce: row((at, count) =>
    together(others(at, count).map((on) => ({ from: at, to: on, on })))
  ),
};

/** The names of the cases, in nvbandwidth's order. */
export const LINK_CASES = Object.keys(CASES) as readonly LinkCase[];

/** Options for {@link DeviceList.bandwidth}. */
export interface LinkBandwidthOptions {
  /** Copy-engine cases of nvbandwidth; all by default. */
  readonly cases?: readonly LinkCase[];
  /** Size of a copy; 512 MiB by default, as in nvbandwidth. */
  readonly caseSize?: ByteSize;
  /** Samples for each field of a matrix; 3 by default. */
  readonly sampleCount?: number;
  /** Called after each case. */
  readonly onProgress?: (doneCount: number, totalCount: number, found: LinkSpeed) => void;
  /** Stops the measurement between two fields. */
  readonly signal?: AbortSignal;
}

/** Checks the options above. */
export const LINK_BANDWIDTH_OPTIONS: OptionSet<LinkBandwidthOptions> = new OptionSet({
  cases: listOf(oneOf(...LINK_CASES)),
  caseSize: SIZE,
  sampleCount: NUMBER,
  onProgress: CALLBACK,
  signal: SIGNAL,
});

/** A measured field: GB/s of the middle, slowest and fastest sample, and whether all bytes were right. */
interface Field {
  readonly middle: number;
  readonly slowest: number;
  readonly fastest: number;
  readonly verified: boolean;
}

/** Measures cases one after another; each field has its memory for itself. */
export async function measureLinks(
  memories: readonly BandwidthMemory[],
  options: LinkBandwidthOptions = {},
): Promise<LinkSpeed[]> {
  const { cases = LINK_CASES, caseSize = CASE_BYTES, sampleCount = 3, signal } = options;
  const byteLength = parseBytes(caseSize, "size of a case");
  if (byteLength === 0) {
    throw new RangeError("Cannot measure bandwidth: the size of a case must be above 0 bytes");
  }
  if (!Number.isInteger(sampleCount) || sampleCount < 1) {
    throw new RangeError(
      `Cannot measure bandwidth with ${sampleCount} samples: expected at least 1`,
    );
  }
  const speeds: LinkSpeed[] = [];
  for (const name of cases) {
    const { isSquare, run } = CASES[name];
    const fields: (Field | undefined)[][] = [];
    for (let row = 0; row < (isSquare ? memories.length : 1); row++) {
      const line: (Field | undefined)[] = [];
      for (let column = 0; column < memories.length; column++) {
        signal?.throwIfAborted();
        await nextTurn();
        const wanted = run(row, column, memories.length);
        const isPossible = wanted !== undefined && areLinked(wanted, memories);
        line.push(
          isPossible ? measureRun(wanted, { memories, byteLength, sampleCount }) : undefined,
        );
      }
      fields.push(line);
    }
    const found = speedOf(name, fields, { byteLength, sampleCount });
    speeds.push(found);
    options.onProgress?.(speeds.length, cases.length, found);
  }
  return speeds;
}

function speedOf(
  name: LinkCase,
  fields: readonly (readonly (Field | undefined)[])[],
  plan: { readonly byteLength: number; readonly sampleCount: number },
): LinkSpeed {
  const found = fields.flat().filter((field) => field !== undefined);
  const sum = (of: (field: Field) => number) =>
    found.reduce((total, field) => total + of(field), 0);
  return {
    name,
    ...plan,
    matrix: fields.map((line) => line.map((field) => field?.middle ?? null)),
    gigabytesPerSecond: sum(({ middle }) => middle),
    minGigabytesPerSecond: sum(({ slowest }) => slowest),
    maxGigabytesPerSecond: sum(({ fastest }) => fastest),
    copiesPerSample: COPY_COUNT,
    verified: found.every(({ verified }) => verified),
  };
}

/** Whether the devices of all copies reach each other, without the host between them. */
function areLinked({ copies }: Run, memories: readonly BandwidthMemory[]): boolean {
  if (copies.length === 0) return false;
  return copies.every(({ from, to }) => {
    if (from === "host" || to === "host") return true;
    const [one, other] = [memories[from], memories[to]];
    if (one === undefined || other === undefined) return false;
    return peerRoute(one.device.context, other.device.context) === "peer";
  });
}

/** A copy that is set up. */
interface Lane {
  readonly stream: CudaStream;
  readonly from: GpuBuffer<"uint8">;
  readonly to: GpuBuffer<"uint8">;
  readonly start: CudaEvent;
  readonly end: CudaEvent;
}

function measureRun(
  { copies, counts }: Run,
  { memories, byteLength, sampleCount }: {
    readonly memories: readonly BandwidthMemory[];
    readonly byteLength: number;
    readonly sampleCount: number;
  },
): Field {
  using resources = new DisposableStack();
  const lanes = copies.map((copy) => laneOf(copy, { memories, byteLength, resources }));
  const [main] = lanes;
  const memory = memories[copies[0]?.on ?? 0];
  if (main === undefined || memory === undefined) throw new RangeError("Cannot measure no copies");
  const done = resources.use(createEvent(main.stream.context));
  const latch = Latch.onStream(memory.pinned, { stream: main.stream, resources });
  const queue = () => {
    for (const { stream, from, to } of lanes) {
      for (let i = 0; i < WARM_UP_COUNT && stream === main.stream; i++) {
        to.copyFrom(from, { stream });
      }
    }
    main.stream.record(main.start);
    for (const [index, { stream, from, to, start, end }] of lanes.entries()) {
      if (index > 0) {
        stream.wait(main.start);
        stream.record(start);
      }
      // A load lasts longer than what it loads.
      const count = counts === "first" && index > 0 ? 2 * COPY_COUNT : COPY_COUNT;
      for (let i = 0; i < count; i++) to.copyFrom(from, { stream });
      stream.record(end);
    }
    if (counts !== "together") return;
    for (const { end } of lanes.slice(1)) main.stream.wait(end);
    main.stream.record(done);
  };
  const speeds: number[] = [];
  for (let sample = 0; sample < sampleCount; sample++) {
    if (latch === undefined) queue();
    else latch.hold(main.stream, queue);
    for (const { stream } of lanes) stream.synchronizeSync();
    const bytes = COPY_COUNT * byteLength;
    const speed = (seconds: number) => bytes / (seconds || Infinity) / 1e9;
    speeds.push(
      counts === "first"
        ? speed(main.end.secondsSince(main.start))
        : counts === "together"
        ? lanes.length * speed(done.secondsSince(main.start))
        : lanes.reduce((sum, { start, end }) => sum + speed(end.secondsSince(start)), 0),
    );
  }
  speeds.sort((a, b) => a - b);
  return {
    middle: speeds[sampleCount >> 1] ?? 0,
    slowest: speeds[0] ?? 0,
    fastest: speeds.at(-1) ?? 0,
    verified: lanes.every(({ to }) => hasPattern(to)),
  };
}

function laneOf(
  { from, to, on }: Copy,
  { memories, byteLength, resources }: {
    readonly memories: readonly BandwidthMemory[];
    readonly byteLength: number;
    readonly resources: DisposableStack;
  },
): Lane {
  const memory = memories[on];
  if (memory === undefined) throw new RangeError(`Cannot copy on device ${on}: there is none`);
  const { context } = memory.device;
  const stream = resources.use(createStream(context));
  const bufferOn = (place: number | "host"): GpuBuffer<"uint8"> => {
    const request = { dtype: "uint8", shape: byteLength, label: "bandwidth" } as const;
    if (place === "host") {
      const own = resources.use(createStream(context));
      return resources.use(
        allocatePinnedBuffer({ ...request, stream: own, resource: memory.pinned }),
      );
    }
    const resource = memories[place]?.device ?? memory.device;
    const own = resources.use(createStream(resource.context));
    return resources.use(allocateDeviceBuffer({ ...request, stream: own, resource }));
  };
  const lane = { stream, from: bufferOn(from), to: bufferOn(to) };
  setPattern(lane.from, byteLength);
  lane.to.fill(0);
  for (const { context } of [lane.from, lane.to]) context.waitForAll();
  const events = { start: createEvent(context), end: createEvent(context) };
  resources.use(events.start);
  resources.use(events.end);
  return { ...lane, ...events };
}

function row(run: (at: number, count: number) => Run): CasePlan {
  return { isSquare: false, run: (_, column, count) => run(column, count) };
}

function pairs(run: (own: number, peer: number) => Run): CasePlan {
  return { isSquare: true, run: (own, peer) => own === peer ? undefined : run(own, peer) };
}

function first(copy: Copy): Run {
  return { copies: [copy], counts: "first" };
}

function together(copies: readonly Copy[]): Run {
  return { copies, counts: "together" };
}

function others(at: number, count: number): number[] {
  return beginningWith(at, count).slice(1);
}

/** All places, the given one first. */
function beginningWith(at: number, count: number): number[] {
  return Array.from({ length: count }, (_, step) => (at + step) % count);
}
