// Arrays that transfers under way read or write, of all devices: what uses the same bytes comes after.

import type { PendingWork } from "../pending_work.ts";
import type { Access } from "../memory/stream_usage.ts";
import type { HostBytes } from "./host_memory.ts";

/** What a transfer does with an array. */
export interface ArrayUse {
  /** Its bytes. */
  readonly memory: HostBytes;
  /** Whether they are read or written. */
  readonly access: Access;
}

/** A use by a transfer that is not over, in bytes from the start of the buffer. */
interface PendingArrayUse {
  readonly work: PendingWork;
  readonly access: Access;
  readonly buffer: ArrayBufferLike;
  readonly start: number;
  readonly end: number;
}

const pending = new Set<PendingArrayUse>();

/** Whether no transfer under way uses any array. */
export function noArrayIsPending(): boolean {
  return pending.size === 0;
}

/** The transfers under way that a use of an array comes after. */
export function arraysBefore({ memory, access }: ArrayUse): PendingWork[] {
  const { buffer, byteOffset: start, byteLength } = memory;
  const earlier: PendingWork[] = [];
  for (const use of pending) {
    if (access === "read" && use.access === "read") continue;
    if (use.start >= start + byteLength || use.end <= start) continue;
    if (isSameMemory(use.buffer, buffer)) earlier.push(use.work);
  }
  return earlier;
}

/** Notes that a transfer uses an array until it is over. */
export function noteArrayUse(work: PendingWork, { memory, access }: ArrayUse): void {
  const { buffer, byteOffset: start, byteLength } = memory;
  const use = { work, access, buffer, start, end: start + byteLength };
  pending.add(use);
  work.whenOver(() => pending.delete(use));
}

/** Two objects can stand for the same shared memory, and nothing but the size tells. */
function isSameMemory(one: ArrayBufferLike, other: ArrayBufferLike): boolean {
  if (one === other) return true;
  return one instanceof SharedArrayBuffer && other instanceof SharedArrayBuffer &&
    one.byteLength === other.byteLength;
}
