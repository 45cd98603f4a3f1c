// The program of a copy lane. A worker gets the functions of this file as text, which also works
// when the kit was imported over HTTP, so they use nothing but their parameters.

import type { MessagePort } from "node:worker_threads";
import { FUTEX, HOST_GROUPS, type HostApi, MADV, SYS_FUTEX } from "../../ffi/host.ts";
import {
  HUGE_PAGE_BYTES,
  LANE_NAP_SECONDS,
  MAX_ARRAYS_ASKED,
  MAX_IDLE_LOOKS,
  MAX_RETRIES,
  MAX_RUNS,
  PATIENCE_MILLISECONDS,
} from "../transfer/ways.ts";
import { builtin } from "../words/builtin.ts";

/** Words of the control block that all lanes and the JavaScript thread share (Int32). */
export const CONTROL = {
  /** Number of tasks that were put into the queue so far; like the others it starts again after 2^32. */
  head: 0,
  /** Number of them that a lane has taken. */
  tail: 1,
  /** Number of them that are over. */
  done: 2,
  /** Number of lanes that run. */
  alive: 3,
  /** Not 0 when the lanes are to end. */
  stop: 4,
  /** Changes when there is something new to see: a task, or the end. */
  signal: 5,
  /** Number of lanes that sleep and were not woken. */
  sleepers: 6,
  /** Not 0 while the extra lanes are to work, too. */
  extra: 7,
  /** Number of new arrays that were asked for so far. */
  arraysAsked: 8,
  /** Number of them that a lane has begun. */
  arraysBegun: 9,
  /** Number of them that were sent, or could not be made. */
  arraysSent: 10,
  /** First word of the sizes that arrays were asked for of, in turn. */
  arraySizes: 16,
  /** First word of the queue of slots. */
  queue: 16 + MAX_ARRAYS_ASKED,
} as const;

/** Work of a lane between a slot and the host's side of each run of a task. */
export const OPERATION = {
  /** Copies an array's bytes into the slot. */
  load: 0n,
  /** Copies the slot's bytes into an array. */
  store: 1n,
  /** Reads a file into the slot. */
  read: 2n,
  /** Writes the slot into a file. */
  write: 3n,
} as const;

/** Status of a task. */
export const STATUS = { pending: 0, done: 1, failed: 2 } as const;

/**
 * The 64-bit fields of a slot's task: operation, descriptor of a file, number of runs; and for each run its
 * address or offset in the file, its place in the slot, bytes of a row, number of rows, distance of rows.
 */
export const LAYOUT = { runFields: 5, slotFields: 3 + 5 * MAX_RUNS } as const;

/** The constants that the functions below have as a parameter. */
export const LANE_CODES = {
  CONTROL,
  OPERATION,
  STATUS,
  LAYOUT,
  SYS_FUTEX,
  FUTEX_WAIT: FUTEX.WAIT_PRIVATE,
  MAX_IDLE_LOOKS,
  MAX_ARRAYS_ASKED,
  MAX_RETRIES,
  LANE_NAP_SECONDS,
  PATIENCE_MILLISECONDS,
  HUGE_PAGE_BYTES,
  HUGEPAGE: MADV.HUGEPAGE,
  POPULATE_WRITE: MADV.POPULATE_WRITE,
} as const;

/** The tools with which a task is done. */
export interface TaskTools {
  /** The constants. */
  readonly codes: typeof LANE_CODES;
  /** The C library. */
  readonly host: Pick<HostApi, "memcpy" | "pread" | "pwrite">;
}

/** The job of one lane. */
export interface LaneJob {
  /** The fields of each slot's task. */
  readonly fields: BigInt64Array<SharedArrayBuffer>;
  /** The control block, and its address for the system's calls. */
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly address: bigint;
  /** Number of slots, and of places in the queue: a power of two. */
  readonly slotCount: number;
  readonly codes: typeof LANE_CODES;
  /** The C library's path and functions. */
  readonly library: string;
  readonly symbols: typeof LANE_SYMBOLS;
  /** Bytes of a page. */
  readonly pageBytes: number;
  /** Processors that it keeps to; all that the program may use when left out. */
  readonly cores?: Uint8Array<ArrayBuffer> | undefined;
  /** Its number. */
  readonly lane: number;
  /** Number of lanes that work for one device; the others are for several. */
  readonly laneCount: number;
  readonly totalCount: number;
}

/** The parts of the system that a lane uses. */
export interface LaneSystem extends TaskTools {
  readonly host:
    & TaskTools["host"]
    & Pick<HostApi, "futex" | "madvise" | "sched_setaffinity" | "addressOf">;
  /** Takes new arrays; undefined for lanes that make none. */
  readonly port?: Pick<MessagePort, "postMessage"> | undefined;
  /** {@link doTask}. */
  readonly doTask: typeof doTask;
  /** Starts a lane of another number; throws when there can be none. */
  readonly startLane: (lane: number) => void;
  /** Gives the event loop a turn, in which a lane ends when the thread that it works for is gone. */
  readonly turn: () => Promise<void>;
}

/** The functions of the C library that lanes bind. */
export const LANE_SYMBOLS = { ...HOST_GROUPS[1], addressOf: HOST_GROUPS[0].addressOf };

/** Does the task of a slot; false when it failed, as only files do. */
export function doTask(slot: number, fields: LaneJob["fields"], tools: TaskTools): boolean {
  const { codes, host } = tools;
  const { OPERATION, LAYOUT } = codes;
  let at = slot * LAYOUT.slotFields;
  const operation = fields[at++];
  const file = Number(fields[at++]);
  const runCount = Number(fields[at++]);

  /**
   * Moves bytes between the slot and the file; one call may move fewer than it was asked for, and threads
   * hear no reason: what a signal has interrupted succeeds when it is tried again.
   */
  function moveInFile(place: bigint, offset: bigint, byteLength: bigint): boolean {
    let failedCount = 0;
    for (let moved = 0n; moved < byteLength;) {
      const [address, left, at] = [place + moved, byteLength - moved, offset + moved];
      const count = operation === OPERATION.read
        ? host.pread(file, address, left, at)
        : host.pwrite(file, address, left, at);
      if (count === 0n || (count < 0n && ++failedCount > codes.MAX_RETRIES)) return false;
      if (count < 0n) continue;
      moved += count;
      failedCount = 0;
    }
    return true;
  }

  for (const end = at + runCount * LAYOUT.runFields; at < end; at += LAYOUT.runFields) {
    let outside = fields[at] ?? 0n;
    let inside = fields[at + 1] ?? 0n;
    const rowBytes = fields[at + 2] ?? 0n;
    const rowCount = Number(fields[at + 3]);
    const pitch = fields[at + 4] ?? 0n;
    for (let row = 0; row < rowCount; row++) {
      if (operation === OPERATION.load) host.memcpy(inside, outside, rowBytes);
      else if (operation === OPERATION.store) host.memcpy(outside, inside, rowBytes);
      else if (!moveInFile(inside, outside, rowBytes)) return false;
      outside += pitch;
      inside += rowBytes;
    }
  }
  return true;
}

/**
 * Works until the lanes are to end. The first lane starts the others, so that no caller waits for
 * them. A lane sleeps in the system's own call: Atomics.notify() needs three times as long to wake
 * them all.
 */
export async function runLane(job: LaneJob, system: LaneSystem): Promise<void> {
  const { words, address, slotCount, pageBytes, cores, lane, laneCount, totalCount } = job;
  const { host, codes, doTask, startLane, turn, port } = system;
  const { CONTROL, STATUS, SYS_FUTEX, FUTEX_WAIT } = codes;
  // In between it ends if its program has ended.
  const nap = BigInt64Array.of(BigInt(codes.LANE_NAP_SECONDS), 0n); // a timespec
  const nothing = new Uint8Array(1);

  /** Sleeps for a while if the word is unchanged; returns whether the lane was woken. */
  function sleep(word: number, seen: number): boolean {
    const at = address + BigInt(4 * word);
    return host.futex(SYS_FUTEX, at, FUTEX_WAIT, seen, nap) === 0n;
  }

  function isDone(slot: number): boolean {
    try {
      return doTask(slot, job.fields, system);
    } catch {
      return false; // the transfer fails, the lane goes on
    }
  }

  /** Makes an array with its pages: one after the other, by whoever fills it, they take longer. */
  function arrayWithPages(byteLength: number): ArrayBuffer {
    const array = new ArrayBuffer(byteLength);
    const start = host.addressOf(new Uint8Array(array), nothing, 0n);
    const firstPage = start - start % BigInt(pageBytes);
    const size = start + BigInt(byteLength) - firstPage;
    // Smaller arrays share large pages, which one of them would have to clear.
    if (byteLength >= 2 * codes.HUGE_PAGE_BYTES) host.madvise(firstPage, size, codes.HUGEPAGE);
    host.madvise(firstPage, size, codes.POPULATE_WRITE);
    return array;
  }

  /** Makes an array that was asked for and sends it, or its size; returns false when there is none to make. */
  function makeArray(): boolean {
    const begun = Atomics.load(words, CONTROL.arraysBegun);
    if (port === undefined || begun === Atomics.load(words, CONTROL.arraysAsked)) return false;
    const at = CONTROL.arraySizes + (begun & (codes.MAX_ARRAYS_ASKED - 1));
    const byteLength = Atomics.load(words, at);
    const { arraysBegun } = CONTROL;
    if (Atomics.compareExchange(words, arraysBegun, begun, begun + 1) !== begun) return true;
    try {
      const array = arrayWithPages(byteLength);
      port.postMessage(array, [array]);
    } catch {
      port.postMessage(byteLength);
    }
    Atomics.add(words, CONTROL.arraysSent, 1);
    return true;
  }

  // Where the system refuses it, as containers may, lanes work on all cores.
  if (cores !== undefined) host.sched_setaffinity(0, BigInt(cores.byteLength), cores);
  try {
    for (let other = 1; lane === 0 && other < totalCount; other++) startLane(other);
  } catch {
    // fewer lanes do the same work
  }
  Atomics.add(words, CONTROL.alive, 1);
  let looks = 0;
  let patientUntil = 0;
  for (;;) {
    const seen = Atomics.load(words, CONTROL.signal);
    if (Atomics.load(words, CONTROL.stop) !== 0) break;
    if (lane >= laneCount && Atomics.load(words, CONTROL.extra) === 0) {
      if (!sleep(CONTROL.extra, 0)) await turn();
      continue;
    }
    const tail = Atomics.load(words, CONTROL.tail);
    if (tail === Atomics.load(words, CONTROL.head)) {
      if (makeArray()) {
        looks = 0;
        continue;
      }
      if (looks++ % codes.MAX_IDLE_LOOKS !== 0) continue;
      const now = performance.now();
      if (looks === 1) patientUntil = now + codes.PATIENCE_MILLISECONDS;
      if (now < patientUntil) continue;
      looks = 0;
      Atomics.add(words, CONTROL.sleepers, 1);
      if (sleep(CONTROL.signal, seen)) continue; // who woke it counted it
      Atomics.sub(words, CONTROL.sleepers, 1);
      await turn();
      continue;
    }
    const slot = Atomics.load(words, CONTROL.queue + (tail & (slotCount - 1)));
    if (Atomics.compareExchange(words, CONTROL.tail, tail, tail + 1) !== tail) continue;
    looks = 0;
    const status = isDone(slot) ? STATUS.done : STATUS.failed;
    Atomics.store(words, CONTROL.queue + slotCount + slot, status);
    Atomics.add(words, CONTROL.done, 1);
    Atomics.notify(words, CONTROL.done);
  }
  Atomics.sub(words, CONTROL.alive, 1);
}

/** Without limits ten lanes let 30 MiB of garbage lie. */
const OPTIONS = { resourceLimits: { maxYoungGenerationSizeMb: 1 } };

const PROGRAM = `
import { setImmediate } from "node:timers";
import { Worker, workerData } from "node:worker_threads";
const doTask = ${doTask};
const runLane = ${runLane};
const { codes, library, symbols, url, ports: [port, ...others] } = workerData;
function startLane(lane) {
  const options = ${JSON.stringify(OPTIONS)};
  const transferList = others.slice(lane - 1, lane);
  const job = { ...workerData, lane, ports: transferList };
  new Worker(new URL(url), { ...options, workerData: job, transferList }).unref();
}
const turn = () => new Promise((resolve) => setImmediate(resolve));
const host = Deno.dlopen(library, symbols).symbols;
runLane(workerData, { codes, host, doTask, startLane, turn, port });
`;

/**
 * Starts the first lane of a job, with ports for it and those next to it to send new arrays through; throws
 * when there can be none.
 */
export function startFirstLane(job: LaneJob, ports: readonly MessagePort[]): void {
  const { Worker } = builtin("node:worker_threads");
  const url = `data:text/javascript,${encodeURIComponent(PROGRAM)}`;
  const workerData = { ...job, url, ports };
  const first = new Worker(new URL(url), { ...OPTIONS, workerData, transferList: [...ports] });
  first.unref();
  first.on("error", () => {}); // others do its work
}
