// Releases objects that the program forgot to dispose, when the garbage collector takes them. They
// are registered at the end of the turn they are created in; most die before that.

import { endTurn, lastReading } from "../accounting/clock.ts";
import { sleep } from "../words/timer.ts";

/** Time after which it is scheduled again: V8 drops it when a notebook's cell is interrupted. */
const MAX_DELAY_MILLISECONDS = 1000;

/** The record behind an object, which dispose and the garbage collector share. */
export interface Owner {
  readonly released: boolean;
  /** Releases what it holds; never throws. */
  release(): void;
  /** The same after its object was collected, where that is another thing. */
  lose?(): void;
}

/** Number of new objects that wait to be registered at most. */
const MAX_UNREGISTERED = 1024;

const collected = new FinalizationRegistry<Owner>((owner) => {
  if (owner.released) return;
  if (owner.lose === undefined) owner.release();
  else owner.lose();
});

/** V8 marks on other threads and calls back when it is done: a few milliseconds on a small heap. */
const COLLECTION_MILLISECONDS = 4;

/**
 * V8 starts a collection because of array buffers, whose memory it counts, but not because of device
 * memory. Four buffers of 64 MiB at a time are enough: buffers that die one by one are freed by a
 * collection of young objects, and in one of four programs nothing else is collected. They are never
 * written to, so they take no memory, and about 2 ms.
 */
const PRESSURE = { count: 4, byteLength: 64 * 2 ** 20 };

const targets: object[] = [];
const owners: Owner[] = [];
/** When the end of the turn was scheduled; no time while it is not. */
let scheduledAt = -Infinity;

/** Releases `owner` when `target` is collected. No collection comes before the turn ends. */
export function watch(target: object, owner: Owner): void {
  targets.push(target);
  owners.push(owner);
  if (owners.length >= MAX_UNREGISTERED) registerWaiting();
  const now = lastReading();
  if (now < scheduledAt + MAX_DELAY_MILLISECONDS) return;
  scheduledAt = now;
  queueMicrotask(atTurnEnd);
}

/** Ends the watch, because the owner was released. */
export function unwatch(owner: Owner): void {
  if (owners.at(-1) !== owner) {
    collected.unregister(owner);
    return;
  }
  owners.pop();
  targets.pop();
}

/** Makes the garbage collector look soon for objects that were not disposed. */
export function hurryCollector(): void {
  registerWaiting();
  try {
    // Kept until all are made: otherwise V8 collects only these, as young objects, and no old ones.
    const held: ArrayBuffer[] = [];
    for (let i = 0; i < PRESSURE.count; i++) held.push(new ArrayBuffer(PRESSURE.byteLength));
  } catch {
    // The host has no address space left, so V8 has collected already.
  }
}

/** Gives the garbage collector time to find objects that were not disposed, and to release them. */
export async function collectLost(): Promise<void> {
  hurryCollector();
  await sleep(COLLECTION_MILLISECONDS);
}

function atTurnEnd(): void {
  if (scheduledAt === -Infinity) return; // it was scheduled twice
  scheduledAt = -Infinity;
  registerWaiting();
}

/** Registers the objects that wait for the end of the turn. */
function registerWaiting(): void {
  endTurn();
  for (const [index, owner] of owners.entries()) {
    const target = targets[index];
    if (target !== undefined && !owner.released) collected.register(target, owner, owner);
  }
  targets.length = 0;
  owners.length = 0;
}
