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

/** The uses of a transfer that is not over. */
interface PendingArrays {
  readonly work: PendingWork;
  readonly arrays: readonly ArrayUse[];
}

const pending = new Set<PendingArrays>();

/** Whether no transfer under way uses any array. */
export function noArrayIsPending(): boolean {
  return pending.size === 0;
}

/** The transfers under way that a use of arrays comes after. */
export function arraysBefore(arrays: readonly ArrayUse[]): PendingWork[] {
  const earlier: PendingWork[] = [];
  for (const { work, arrays: others } of pending) {
    if (others.some((other) => arrays.some((use) => collide(use, other)))) earlier.push(work);
  }
  return earlier;
}

/** Notes that a transfer uses arrays until it is over. */
export function noteArrayUses(work: PendingWork, arrays: readonly ArrayUse[]): void {
  const uses = { work, arrays };
  pending.add(uses);
  work.whenOver(() => pending.delete(uses));
}

/** Whether two uses share a byte, one of them a write. */
function collide(one: ArrayUse, other: ArrayUse): boolean {
  if (one.access === "read" && other.access === "read") return false;
  const [a, b] = [one.memory, other.memory];
  if (a.byteOffset >= b.byteOffset + b.byteLength) return false;
  if (b.byteOffset >= a.byteOffset + a.byteLength) return false;
  return isSameMemory(a.buffer, b.buffer);
}

/** Two objects can stand for the same shared memory, and nothing but the size tells. */
function isSameMemory(one: ArrayBufferLike, other: ArrayBufferLike): boolean {
  if (one === other) return true;
  return one instanceof SharedArrayBuffer && other instanceof SharedArrayBuffer &&
    one.byteLength === other.byteLength;
}
