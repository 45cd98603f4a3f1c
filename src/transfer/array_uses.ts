// Arrays that transfers under way read or write, of all devices: later uses of the same bytes wait.

import type { HostBytes } from "../memory/host_memory.ts";
import type { Access } from "../memory/stream_usage.ts";
import { PendingWork } from "../order/pending_work.ts";

/** The use of an array by a transfer. */
export interface ArrayUse {
  /** Its bytes. */
  readonly memory: HostBytes;
  /** Whether they are read or written. */
  readonly access: Access;
}

/** The uses of a transfer that is not over. */
class PendingArrays {
  readonly work: PendingWork;
  readonly #arrays: readonly ArrayUse[];
  #byMemory: Map<unknown, ArrayUse[]> | undefined;

  /** Registers the uses of a transfer. */
  constructor(work: PendingWork, arrays: readonly ArrayUse[]) {
    this.work = work;
    this.#arrays = arrays;
  }

  /** Returns whether any of these uses must come after one of the transfer's. */
  collidesWith(arrays: readonly ArrayUse[]): boolean {
    this.#byMemory ??= Map.groupBy(this.#arrays, ({ memory }) => identityOf(memory));
    return arrays.some((use) => {
      const others = this.#byMemory?.get(identityOf(use.memory)) ?? [];
      return others.some((other) => collide(use, other));
    });
  }
}

const pending = new Set<PendingArrays>();

/** Returns whether no transfer under way uses any array. */
export function noArrayIsPending(): boolean {
  return pending.size === 0;
}

/** Returns the transfers under way that a use of arrays comes after. */
export function arraysBefore(arrays: readonly ArrayUse[]): PendingWork[] {
  const earlier: PendingWork[] = [];
  for (const uses of pending) if (uses.collidesWith(arrays)) earlier.push(uses.work);
  return earlier;
}

/** Registers the arrays of a transfer until it is over. */
export function noteArrayUses(work: PendingWork, arrays: readonly ArrayUse[]): void {
  const uses = new PendingArrays(work, arrays);
  pending.add(uses);
  work.whenOver(() => pending.delete(uses));
}

/**
 * The place of a call in the order of arrays while the call waits for something else, such as
 * memory of the GPU's. Until it is disposed, later calls that use the same bytes come after it.
 */
export class ArrayPlace extends PendingWork implements Disposable {
  /** Resolves when all that it comes after is over. */
  readonly isFirst: Promise<void>;
  readonly #resolve: () => void;
  #isGivenUp = false;

  /** Takes the place behind all that was called before. */
  constructor(arrays: readonly ArrayUse[]) {
    super();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.isFirst = promise;
    this.#resolve = resolve;
    const earlier = arraysBefore(arrays);
    noteArrayUses(this, arrays);
    this.beginAfter(earlier);
  }

  protected override begin(): void {
    this.#resolve();
    if (this.#isGivenUp) this.finish();
  }

  /** Lets what comes after it begin, once all that comes before it is over. */
  [Symbol.dispose](): void {
    this.#isGivenUp = true;
    if (this.hasBegun) this.finish();
  }
}

/** Whether two uses of one memory share a byte, one of them a write. */
function collide(one: ArrayUse, other: ArrayUse): boolean {
  if (one.access === "read" && other.access === "read") return false;
  const [a, b] = [one.memory, other.memory];
  return a.byteOffset < b.byteOffset + b.byteLength && b.byteOffset < a.byteOffset + a.byteLength;
}

/**
 * Returns the identity of memory: two objects can be the same shared memory, and only the size
 * tells.
 */
function identityOf({ buffer }: HostBytes): unknown {
  return buffer instanceof SharedArrayBuffer ? buffer.byteLength : buffer;
}
