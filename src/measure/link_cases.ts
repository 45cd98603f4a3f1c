// The copy-engine cases of nvbandwidth for several GPUs, by its names and its method: each pair of
// devices, all with one, one with all, and the host with all at once.

import type { GpuBuffer } from "../buffers/gpu_buffer.ts";
import { peerRoute } from "../copies/copy.ts";
import { createEvent, type CudaEvent } from "../order/event.ts";
import { createStream, type CudaStream } from "../order/stream.ts";
import { nextTurn } from "../order/waiting.ts";
import { parseBytes } from "../words/format.ts";
import { CALLBACK, listOf, NUMBER, oneOf, OptionSet, SIGNAL, SIZE } from "../words/options.ts";
import { reportProgress } from "../words/progress.ts";
import type { BandwidthOptions } from "./bandwidth.ts";
import {
  type BandwidthMemory,
  bufferAt,
  CASE_BYTES,
  COPY_COUNT,
  hasPattern,
  setPattern,
  WARM_UP_COUNT,
} from "./copy_cases.ts";
import { Latch } from "./latch.ts";
import type { LinkCase, LinkSpeed } from "./link_bandwidth_result.ts";
import { checkSampleCount, speedOf, type Spread, spreadOf } from "./samples.ts";

/** One copy among those of a measurement. */
interface Copy {
  /** The ends of the copy: the place of a device in the list, or the host. */
  readonly from: number | "host";
  readonly to: number | "host";
  /** Place of the device on whose stream it runs. */
  readonly on: number;
}

/** Copies that run at the same time, and those of them that count. */
interface Run {
  readonly copies: readonly Copy[];
  /**
   * The copies that count: the first copy, which the others only load; all, over the time until the last is
   * done; or each over its own time.
   */
  readonly counts: "first" | "together" | "each";
}

/** A case: its matrix's number of rows, and the run of each field; undefined for empty ones. */
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
export interface LinkBandwidthOptions
  extends Pick<BandwidthOptions, "caseSize" | "sampleCount" | "signal"> {
  /** Copy-engine cases of nvbandwidth; all by default. */
  readonly cases?: readonly LinkCase[] | undefined;
  /** Called after each case. */
  readonly onProgress?:
    | ((doneCount: number, totalCount: number, found: LinkSpeed) => void)
    | undefined;
}

/** Checks the options above. */
export const LINK_BANDWIDTH_OPTIONS: OptionSet<LinkBandwidthOptions> = new OptionSet({
  cases: listOf(oneOf(...LINK_CASES)),
  caseSize: SIZE,
  sampleCount: NUMBER,
  onProgress: CALLBACK,
  signal: SIGNAL,
});

/** A measured field: the spread of its samples in GB/s, and whether all bytes were right. */
interface Field extends Spread {
  /** GB/s of each copy, where each counts by itself. */
  readonly each: readonly number[];
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
  if (cases.length === 0) {
    throw new RangeError("Cannot measure bandwidth: cases must be one or more");
  }
  checkSampleCount(sampleCount);
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
          isPossible ? await measureRun(wanted, { memories, byteLength, sampleCount }) : undefined,
        );
      }
      fields.push(line);
    }
    const found = linkSpeedOf(name, fields, { byteLength, sampleCount });
    speeds.push(found);
    reportProgress(options.onProgress, speeds.length, cases.length, found);
  }
  return speeds;
}

function linkSpeedOf(
  name: LinkCase,
  fields: readonly (readonly (Field | undefined)[])[],
  plan: { readonly byteLength: number; readonly sampleCount: number },
): LinkSpeed {
  const found = fields.flat().filter((field) => field !== undefined);
  const sum = (of: (field: Field) => number) =>
    found.reduce((total, field) => total + of(field), 0);
  const matrix = (of: (field: Field) => number | undefined) =>
    fields.map((line) => line.map((field) => (field === undefined ? null : of(field) ?? null)));
  const isOfBoth = found.some(({ each }) => each.length === 2);
  return {
    name,
    ...plan,
    matrix: matrix(({ middle }) => middle),
    ...(isOfBoth
      ? { directions: [matrix(({ each }) => each[0]), matrix(({ each }) => each[1])] }
      : {}),
    gigabytesPerSecond: sum(({ middle }) => middle),
    minGigabytesPerSecond: sum(({ least }) => least),
    maxGigabytesPerSecond: sum(({ most }) => most),
    copiesPerSample: COPY_COUNT,
    verified: found.every(({ verified }) => verified),
  };
}

/** Returns whether the devices of all copies can access each other's memory directly. */
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
interface PreparedCopy {
  readonly stream: CudaStream;
  readonly from: GpuBuffer<"uint8">;
  readonly to: GpuBuffer<"uint8">;
  readonly start: CudaEvent;
  readonly end: CudaEvent;
}

/** Copies that are set up to run at the same time; the main one begins. */
interface PreparedRun {
  readonly main: PreparedCopy;
  readonly others: readonly PreparedCopy[];
  readonly counts: Run["counts"];
  /** Recorded behind all copies, when they count together. */
  readonly done: CudaEvent;
}

async function measureRun(
  { copies, counts }: Run,
  { memories, byteLength, sampleCount }: {
    readonly memories: readonly BandwidthMemory[];
    readonly byteLength: number;
    readonly sampleCount: number;
  },
): Promise<Field> {
  using resources = new DisposableStack();
  const prepared = copies.map((copy) => prepare(copy, { memories, byteLength, resources }));
  const [main, ...others] = prepared;
  const memory = memories[copies[0]?.on ?? 0];
  if (main === undefined || memory === undefined) throw new RangeError("Cannot measure no copies");
  const done = resources.use(createEvent(main.stream.context));
  const latch = Latch.onStream(memory.pinned, { stream: main.stream, resources });
  const ready: PreparedRun = { main, others, counts, done };
  const samples = Array.from({ length: sampleCount }, () => {
    latch.hold(main.stream, () => queueCopies(ready));
    for (const { stream } of prepared) stream.synchronizeSync();
    return speedsOfCopies(ready, COPY_COUNT * byteLength);
  });
  let verified = true;
  for (const { to } of prepared) verified &&= await hasPattern(to);
  const sums = spreadOf(samples.map((speeds) => speeds.reduce((sum, speed) => sum + speed, 0)));
  if (counts !== "each") return { ...sums, each: [], verified };
  const each = prepared.map((_, at) => spreadOf(samples.map((speeds) => speeds[at] ?? 0)).middle);
  return { ...sums, middle: each.reduce((sum, speed) => sum + speed, 0), each, verified };
}

/** Queues a sample: the main copy to warm up, then each copy between its events. */
function queueCopies({ main, others, counts, done }: PreparedRun): void {
  for (let i = 0; i < WARM_UP_COUNT; i++) main.to.copyFrom(main.from, { stream: main.stream });
  main.stream.record(main.start);
  repeatCopy(main, COPY_COUNT);
  for (const other of others) {
    other.stream.wait(main.start);
    other.stream.record(other.start);
    repeatCopy(other, counts === "first" ? 2 * COPY_COUNT : COPY_COUNT); // a load lasts longer
  }
  if (counts !== "together") return;
  for (const { end } of others) main.stream.wait(end);
  main.stream.record(done);
}

function repeatCopy({ stream, from, to, end }: PreparedCopy, count: number): void {
  for (let i = 0; i < count; i++) to.copyFrom(from, { stream });
  stream.record(end);
}

/** Returns the speeds of a sample in which each copy has moved this many bytes; one where all count together. */
function speedsOfCopies({ main, others, counts, done }: PreparedRun, bytes: number): number[] {
  const speed = ({ start, end }: PreparedCopy) => speedOf(bytes, end.secondsSince(start));
  if (counts === "first") return [speed(main)];
  const all = [main, ...others];
  if (counts === "each") return all.map(speed);
  return [all.length * speedOf(bytes, done.secondsSince(main.start))];
}

function prepare(
  { from, to, on }: Copy,
  { memories, byteLength, resources }: {
    readonly memories: readonly BandwidthMemory[];
    readonly byteLength: number;
    readonly resources: DisposableStack;
  },
): PreparedCopy {
  const memory = memories[on];
  if (memory === undefined) throw new RangeError(`Cannot copy on device ${on}: there is none`);
  const { context } = memory.device;
  const stream = resources.use(createStream(context));
  const bufferOn = (place: number | "host"): GpuBuffer<"uint8"> => {
    const owner = place === "host" ? memory : memories[place] ?? memory;
    const own = resources.use(createStream(owner.device.context));
    const fields = { memory: owner, byteLength, resources };
    return bufferAt(place === "host" ? "host" : "device", fields, own);
  };
  const ends = { from: bufferOn(from), to: bufferOn(to) };
  setPattern(ends.from);
  ends.to.fill(0);
  for (const { context } of [ends.from, ends.to]) context.waitForAll();
  const start = resources.use(createEvent(context));
  const end = resources.use(createEvent(context));
  return { stream, ...ends, start, end };
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
