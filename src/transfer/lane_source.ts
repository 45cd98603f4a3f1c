// What a copy lane runs: a small program of its own, given to a worker as text.
// A text works also when the kit was imported over HTTP, where a worker cannot be loaded from a URL.
// Lanes sleep in the system's own call: Atomics.notify() needs three times as long to wake them all.

import { FUTEX, SYS_FUTEX } from "../../ffi/host.ts";

/** Words of the control block that all lanes and the JavaScript thread share (Int32). */
export const CONTROL = {
  /** How many tasks were put into the queue so far. */
  head: 0,
  /** How many of them a lane has taken. */
  tail: 1,
  /** How many of them are over. */
  done: 2,
  /** How many lanes run. */
  alive: 3,
  /** Not 0 when the lanes are to end. */
  stop: 4,
  /** Changes when there is something new to see: a task, or the end. */
  signal: 5,
  /** How many lanes sleep and were not woken. */
  sleepers: 6,
  /** How many transfers fill fresh memory: while there are any, the extra lanes work too. */
  fresh: 7,
  /** First word of the queue of slots. */
  queue: 16,
} as const;

/** What a lane does with a slot of page-locked memory. */
export const OPERATION = {
  /** memcpy(destination, source, byteLength). */
  copy: 0n,
  /** Fills `destination` from file descriptor `source` at `fileOffset`. */
  read: 1n,
  /** Writes `source` to file descriptor `destination` at `fileOffset`. */
  write: 2n,
  /** As many copies as `byteLength` says, from the slot's list. */
  copyEach: 3n,
} as const;

/** How a task stands. */
export const STATUS = { pending: 0, done: 1, failed: 2 } as const;

/** 64-bit fields of a task: operation, destination, source, byteLength, fileOffset. */
export const TASK_FIELDS = 5;

/** Copies that a slot's list has room for. */
export const MOST_COPIES = 128;

/** 64-bit fields of a copy in a list: destination, source, byteLength. */
export const COPY_FIELDS = 3;

/**
 * How long a lane looks for the next task before it sleeps: one that falls asleep while it waits for
 * a slot, or between two transfers, costs them up to half of their speed.
 */
const PATIENCE_MILLISECONDS = 2;

/** Looks between two glances at the clock. */
const LOOKS = 64;

/** How long a lane sleeps at a stretch; between two of them it ends if its program has ended. */
const NAP_SECONDS = 2;

/** A lane makes little garbage; without limits ten of them let 30 MiB of it lie. */
export const LANE_LIMITS = { maxYoungGenerationSizeMb: 1 };

/** The lane's program; the first lane starts the others, so that nobody waits for them. */
export const LANE_SOURCE = `
import { Worker, workerData } from "node:worker_threads";
const { control, address, tasks, copies, slotCount, library, patience, lane, laneCount, totalCount, source } = workerData;
const resourceLimits = ${JSON.stringify(LANE_LIMITS)};
const words = new Int32Array(control);
const fields = new BigInt64Array(tasks);
const lists = new BigInt64Array(copies);
const { memcpy, pread, pwrite, syscall } = Deno.dlopen(library, {
  memcpy: { parameters: ["u64", "u64", "usize"], result: "u64" },
  pread: { parameters: ["i32", "u64", "usize", "i64"], result: "isize" },
  pwrite: { parameters: ["i32", "u64", "usize", "i64"], result: "isize" },
  syscall: { parameters: ["isize", "u64", "i32", "u32", "buffer"], result: "isize" },
}).symbols;

function whole(step, byteLength) {
  for (let moved = 0n; moved < byteLength;) {
    const count = step(moved, byteLength - moved);
    if (count <= 0n) return false;
    moved += count;
  }
  return true;
}

function run(slot) {
  const at = slot * ${TASK_FIELDS};
  const operation = fields[at], destination = fields[at + 1], source = fields[at + 2];
  const byteLength = fields[at + 3], offset = fields[at + 4];
  if (operation === ${OPERATION.copy}n) {
    memcpy(destination, source, byteLength);
    return true;
  }
  if (operation === ${OPERATION.copyEach}n) {
    let next = slot * ${MOST_COPIES * COPY_FIELDS};
    const end = next + Number(byteLength) * ${COPY_FIELDS};
    while (next < end) memcpy(lists[next++], lists[next++], lists[next++]);
    return true;
  }
  if (operation === ${OPERATION.read}n) {
    const file = Number(source);
    return whole((moved, left) => pread(file, destination + moved, left, offset + moved), byteLength);
  }
  const file = Number(destination);
  return whole((moved, left) => pwrite(file, source + moved, left, offset + moved), byteLength);
}

function isDone(slot) {
  try {
    return run(slot);
  } catch {
    return false; // the transfer fails, the lane goes on
  }
}

/** Sleeps for a while, unless the word is not what it was; whether somebody woke it. */
function sleep(word, seen) {
  const at = address + BigInt(4 * word);
  return syscall(${SYS_FUTEX}n, at, ${FUTEX.WAIT_PRIVATE}, seen, nap) === 0n;
}

/** Lets the lane end here when the thread that it works for is gone. */
function turn() {
  return new Promise((resolve) => setImmediate(resolve));
}

const nap = new BigInt64Array([${NAP_SECONDS}n, 0n]); // a timespec

const others = [];
try {
  for (let next = 1; lane === 0 && next < totalCount; next++) {
    others.push(new Worker(new URL(source), { workerData: { ...workerData, lane: next }, resourceLimits }));
    others.at(-1).unref();
  }
} catch {
  // fewer lanes do the same work
}

Atomics.add(words, ${CONTROL.alive}, 1);
for (let looks = 0, patient = 0;;) {
  const seen = Atomics.load(words, ${CONTROL.signal});
  if (Atomics.load(words, ${CONTROL.stop}) !== 0) break;
  if (lane >= laneCount && Atomics.load(words, ${CONTROL.fresh}) === 0) {
    if (!sleep(${CONTROL.fresh}, 0)) await turn();
    continue;
  }
  const tail = Atomics.load(words, ${CONTROL.tail});
  if (tail === Atomics.load(words, ${CONTROL.head})) {
    if (looks++ % ${LOOKS} !== 0) continue;
    const now = performance.now();
    if (looks === 1) patient = now + patience;
    if (now < patient) continue;
    looks = 0;
    Atomics.add(words, ${CONTROL.sleepers}, 1);
    if (sleep(${CONTROL.signal}, seen)) continue; // who woke it counted it
    Atomics.sub(words, ${CONTROL.sleepers}, 1);
    await turn();
    continue;
  }
  const slot = Atomics.load(words, ${CONTROL.queue} + tail % slotCount);
  if (Atomics.compareExchange(words, ${CONTROL.tail}, tail, tail + 1) !== tail) continue;
  looks = 0;
  const status = isDone(slot) ? ${STATUS.done} : ${STATUS.failed};
  Atomics.store(words, ${CONTROL.queue} + slotCount + slot, status);
  Atomics.add(words, ${CONTROL.done}, 1);
  Atomics.notify(words, ${CONTROL.done});
}
Atomics.sub(words, ${CONTROL.alive}, 1);
`;

/** How many milliseconds suit a machine: on few cores a lane that looks takes time from others. */
export function patienceFor(coreCount: number): number {
  return coreCount >= 8 ? PATIENCE_MILLISECONDS : 0;
}
