// The program of a copy lane. A worker gets the functions of this file as text, which also works
// when the kit was imported over HTTP, so they use nothing but their parameters.

import type { MessagePort } from "node:worker_threads";
import { FUTEX, HOST_GROUPS, type HostApi, MADV, SYS_FUTEX } from "../../ffi/host.ts";
import { builtin } from "../words/builtin.ts";
import { PAGE_BYTES } from "./fresh_pages.ts";

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
  /** Number of transfers that fill fresh memory: while there are any, the extra lanes work too. */
  fresh: 7,
  /** Number of new arrays that were asked for so far. */
  arraysAsked: 8,
  /** Number of them that a lane has begun. */
  arraysBegun: 9,
  /** Number of them that were sent, or could not be made. */
  arraysSent: 10,
  /** First word of the sizes that arrays were asked for of, in turn. */
  arraySizes: 16,
  /** First word of the queue of slots. */
  queue: 48,
} as const;

/** Operations of a lane on a slot of page-locked memory. */
export const OPERATION = {
  /** memcpy(destination, source, byteLength). */
  copy: 0n,
  /** Fills `destination` from file descriptor `source` at `fileOffset`. */
  read: 1n,
  /** Writes `source` to file descriptor `destination` at `fileOffset`. */
  write: 2n,
  /** As many copies as `byteLength` says, from the slot's list. */
  copyEach: 3n,
  /** memcpy() of each row, between places whose rows lie as far apart as the pitches say. */
  copyRows: 4n,
  /** Fills `destination`, packed, with rows of file descriptor `source` from `fileOffset` on. */
  readRows: 5n,
  /** madvise(destination, byteLength, source): makes the pages of memory, whoever uses it. */
  makePages: 6n,
} as const;

/** Status of a task; a lent thread that reports says that it has begun. */
export const STATUS = { pending: 0, done: 1, failed: 2, begun: 3 } as const;

/**
 * 64-bit fields of a task: operation, destination, source, byteLength, fileOffset; and for rows the
 * bytes of one, and the bytes from the start of one to the next in the source and the destination.
 */
export const TASK_FIELDS = 8;

/** Copies that a slot's list has room for. */
export const MOST_COPIES = 128;

/** 64-bit fields of a copy in a list: destination, source, byteLength. */
export const COPY_FIELDS = 3;

/** Lanes that make new arrays while there is nothing to move, at most half: one clears 4 to 8 GB/s. */
export const ARRAY_LANES = 5;

/** Arrays that are asked for and were not sent, at most. */
export const MOST_ARRAYS_ASKED = 32;

/** The constants that the functions below have as a parameter. */
export const LANE_CODES = {
  CONTROL,
  OPERATION,
  STATUS,
  TASK_FIELDS,
  MOST_COPIES,
  COPY_FIELDS,
  SYS_FUTEX,
  FUTEX_WAIT: FUTEX.WAIT_PRIVATE,
  /** Looks between two glances at the clock. */
  LOOKS: 64,
  MOST_ARRAYS_ASKED,
  /**
   * Bytes of a lane's heap whose pages are made at a time: one page after the other takes longer than to
   * clear them, and twice as long as the program needs for a transfer.
   */
  HEAP_BYTES: 8n * 2n ** 20n,
  PAGE_BYTES: BigInt(PAGE_BYTES),
  HUGEPAGE: MADV.HUGEPAGE,
  POPULATE_WRITE: MADV.POPULATE_WRITE,
  /** Time for which a lane sleeps at a stretch; in between it ends if its program has ended. */
  NAP_SECONDS: 2n,
} as const;

/** Tasks of all slots, in memory that all threads share. */
export interface TaskMemory {
  /** {@link TASK_FIELDS} for each slot. */
  readonly fields: BigInt64Array<SharedArrayBuffer>;
  /** The copies of each slot's list. */
  readonly lists: BigInt64Array<SharedArrayBuffer>;
}

/** The tools with which a task is done. */
export interface TaskTools {
  /** The constants. */
  readonly codes: typeof LANE_CODES;
  /** The C library. */
  readonly host: Pick<HostApi, "memcpy" | "pread" | "pwrite" | "madvise">;
  /** {@link fileSteps}. */
  readonly fileSteps: typeof fileSteps;
}

/** The job of one lane. */
export interface LaneJob extends TaskMemory {
  /** The control block, and its address for the system's calls. */
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly address: bigint;
  /** Number of slots, and of places in the queue: a power of two. */
  readonly slotCount: number;
  readonly codes: typeof LANE_CODES;
  /** The C library's path and functions. */
  readonly library: string;
  readonly symbols: typeof LANE_SYMBOLS;
  /** Milliseconds for which it looks for the next task before it sleeps. */
  readonly patience: number;
  /** Processors that it keeps to; all that the program may use when left out. */
  readonly cores?: Uint8Array<ArrayBuffer> | undefined;
  /** Its number. */
  readonly lane: number;
  /** Number of lanes that do ordinary work; the others are for fresh memory. */
  readonly laneCount: number;
  readonly totalCount: number;
}

/** The parts of the system that a lane uses. */
export interface LaneSystem extends TaskTools {
  readonly host:
    & TaskTools["host"]
    & Pick<HostApi, "futex" | "sched_setaffinity" | "malloc" | "free" | "mincore">;
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
export const LANE_SYMBOLS = { ...HOST_GROUPS[1], mincore: HOST_GROUPS[0].mincore };

/**
 * The steps of moving bytes between memory and a file. Each yields the number moved so far and
 * takes the number that one more call has moved; the end tells whether all are there.
 */
export function* fileSteps(byteLength: bigint): Generator<bigint, boolean, bigint> {
  let failedCount = 0;
  for (let moved = 0n; moved < byteLength;) {
    const count = yield moved;
    // Other threads hear no reason: what a signal has interrupted succeeds when it is tried again.
    if (count === 0n || (count < 0n && ++failedCount > 3)) return false;
    if (count < 0n) continue;
    moved += count;
    failedCount = 0;
  }
  return true;
}

/** Does the task of a slot; false when it failed. */
export function doTask(slot: number, { fields, lists }: TaskMemory, tools: TaskTools): boolean {
  const { codes: { OPERATION, TASK_FIELDS, MOST_COPIES, COPY_FIELDS }, host } = tools;
  const field = (index: number) => fields[slot * TASK_FIELDS + index] ?? 0n;
  const [operation, destination, source, byteLength] = [field(0), field(1), field(2), field(3)];
  if (operation === OPERATION.copy) {
    host.memcpy(destination, source, byteLength);
    return true;
  }
  if (operation === OPERATION.makePages) {
    return host.madvise(destination, byteLength, Number(source)) === 0;
  }
  if (operation === OPERATION.copyEach) {
    const start = slot * MOST_COPIES * COPY_FIELDS;
    const end = start + Number(byteLength) * COPY_FIELDS;
    for (let at = start; at < end; at += COPY_FIELDS) {
      host.memcpy(lists[at] ?? 0n, lists[at + 1] ?? 0n, lists[at + 2] ?? 0n);
    }
    return true;
  }
  const offset = field(4);
  const [rowBytes, sourcePitch, destinationPitch] = [field(5), field(6), field(7)];
  if (operation === OPERATION.copyRows) {
    let [from, to] = [source, destination];
    for (let done = 0n; done < byteLength; done += rowBytes) {
      host.memcpy(to, from, rowBytes);
      from += sourcePitch;
      to += destinationPitch;
    }
    return true;
  }
  function moveRun(address: bigint, byteLength: bigint, offset: bigint): boolean {
    const steps = tools.fileSteps(byteLength);
    let step = steps.next();
    while (step.done !== true) {
      const moved = step.value;
      const left = byteLength - moved;
      step = steps.next(
        operation === OPERATION.write
          ? host.pwrite(Number(destination), address + moved, left, offset + moved)
          : host.pread(Number(source), address + moved, left, offset + moved),
      );
    }
    return step.value;
  }
  if (operation !== OPERATION.readRows) {
    return moveRun(operation === OPERATION.write ? source : destination, byteLength, offset);
  }
  const file = Number(source);
  let at = offset;
  for (let done = 0n; done < byteLength; done += rowBytes) {
    // Nearly always one call reads a row; steps cost more than the row does.
    const count = host.pread(file, destination + done, rowBytes, at);
    if (count !== rowBytes && !moveRun(destination + done, rowBytes, at)) return false;
    at += sourcePitch;
  }
  return true;
}

/**
 * Works until the lanes are to end. The first lane starts the others, so that no caller waits for
 * them. A lane sleeps in the system's own call: Atomics.notify() needs three times as long to wake
 * them all.
 */
export async function runLane(job: LaneJob, system: LaneSystem): Promise<void> {
  const { words, address, slotCount, patience, cores, lane, laneCount, totalCount } = job;
  const { host, codes, doTask, startLane, turn, port } = system;
  const { CONTROL, STATUS, SYS_FUTEX, FUTEX_WAIT, LOOKS, NAP_SECONDS } = codes;
  const nap = BigInt64Array.of(NAP_SECONDS, 0n); // a timespec
  const pageState = new Uint8Array(1);

  /** Sleeps for a while if the word is unchanged; returns whether the lane was woken. */
  function sleep(word: number, seen: number): boolean {
    const at = address + BigInt(4 * word);
    return host.futex(SYS_FUTEX, at, FUTEX_WAIT, seen, nap) === 0n;
  }

  function isDone(slot: number): boolean {
    try {
      return doTask(slot, job, system);
    } catch {
      return false; // the transfer fails, the lane goes on
    }
  }

  /** Makes pages in the heap of this thread, where the next array would have none. */
  function prepareHeap(byteLength: number): void {
    const { HEAP_BYTES, PAGE_BYTES, HUGEPAGE, POPULATE_WRITE } = codes;
    const size = BigInt(byteLength);
    const place = host.malloc(size);
    const lastPage = (place + size - 1n) / PAGE_BYTES * PAGE_BYTES;
    const isKnown = host.mincore(lastPage, PAGE_BYTES, pageState) === 0;
    host.free(place);
    if (!isKnown || (pageState[0] ?? 0) % 2 === 1) return;
    const block = host.malloc(HEAP_BYTES);
    const start = (block + PAGE_BYTES - 1n) / PAGE_BYTES * PAGE_BYTES;
    host.madvise(start, HEAP_BYTES - PAGE_BYTES, HUGEPAGE);
    host.madvise(start, HEAP_BYTES - PAGE_BYTES, POPULATE_WRITE);
    host.free(block);
  }

  /** Makes an array that was asked for and sends it, or its size; returns false when there is none to make. */
  function makeArray(): boolean {
    const begun = Atomics.load(words, CONTROL.arraysBegun);
    if (port === undefined || begun === Atomics.load(words, CONTROL.arraysAsked)) return false;
    const at = CONTROL.arraySizes + (begun & (codes.MOST_ARRAYS_ASKED - 1));
    const byteLength = Atomics.load(words, at);
    const { arraysBegun } = CONTROL;
    if (Atomics.compareExchange(words, arraysBegun, begun, begun + 1) !== begun) return true;
    prepareHeap(byteLength);
    try {
      const array = new ArrayBuffer(byteLength);
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
    if (lane >= laneCount && Atomics.load(words, CONTROL.fresh) === 0) {
      if (!sleep(CONTROL.fresh, 0)) await turn();
      continue;
    }
    const tail = Atomics.load(words, CONTROL.tail);
    if (tail === Atomics.load(words, CONTROL.head)) {
      if (makeArray()) {
        looks = 0;
        continue;
      }
      if (looks++ % LOOKS !== 0) continue;
      const now = performance.now();
      if (looks === 1) patientUntil = now + patience;
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
const fileSteps = ${fileSteps};
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
runLane(workerData, { codes, host, doTask, fileSteps, startLane, turn, port });
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
