// Arrays that transfers under way read or write, of all devices: later uses of the same bytes wait.

import { type OwnedHostSpan, ownedParts, ownedSpan } from "../memory/host_bytes.ts";
import { type BytePosition, type HostBytes, positionOf } from "../memory/host_memory.ts";
import { keepFor, type MemoryUse, pendingBeforeHost } from "../memory/in_order.ts";
import type { Access } from "../memory/stream_usage.ts";
import { PendingWork } from "../order/pending_work.ts";
import type { CudaStream } from "../order/stream.ts";

/** The use of an array by a transfer. */
export interface ArrayUse {
  /** Its bytes. */
  readonly memory: HostBytes;
  /** They are read or written. */
  readonly access: Access;
}

/** An array, and where its bytes lie. */
interface PlacedArray {
  readonly memory: HostBytes;
  readonly position: BytePosition;
}

/** A use of memory by a transfer that is not over. */
interface PendingUse extends PlacedArray {
  readonly work: PendingWork;
}

/** The uses of one memory by transfers that are not over. */
type MemoryUses = Readonly<Record<Access, Set<PendingUse>>>;

const UNUSED = noUses();

/** All uses by transfers that are not over, by the identity of the memory. */
const pending = new Map<unknown, MemoryUses>();

/** The number of memories that transfers under way use. */
export const arraysInUse: { readonly size: number } = pending;

/** Returns the transfers under way that a use of arrays comes after. */
export function arraysBefore(arrays: readonly ArrayUse[]): PendingWork[] {
  if (pending.size === 0) return [];
  const earlier = new Set<PendingWork>();
  for (const { memory, access } of arrays) {
    const use = { memory, position: positionOf(memory) };
    const { read, write } = pending.get(use.position.memory) ?? UNUSED;
    for (const other of write) if (overlap(use, other)) earlier.add(other.work);
    if (access === "read") continue; // thousands of calls may read one array
    for (const other of read) if (overlap(use, other)) earlier.add(other.work);
  }
  return [...earlier];
}

/** Registers the arrays of a transfer until it is over. */
export function noteArrayUses(work: PendingWork, arrays: readonly ArrayUse[]): void {
  for (const { memory, access } of arrays) {
    const position = positionOf(memory);
    const { memory: identity } = position;
    const uses = pending.getOrInsertComputed(identity, noUses);
    const use = { memory, position, work };
    uses[access].add(use);
    work.whenOver(() => {
      uses[access].delete(use);
      if (uses.read.size + uses.write.size === 0) pending.delete(identity);
    });
  }
}

/**
 * The place of a call in the order of arrays while the call waits for something else, such as
 * memory of the GPU's. Until it is disposed, later calls that use the same bytes come after it.
 */
export class ArrayPlace extends PendingWork implements Disposable {
  readonly #first = Promise.withResolvers<void>();
  /** Resolves when all that it comes after is over. */
  readonly isFirst: Promise<void> = this.#first.promise;
  #isGivenUp = false;

  /** Takes the place, which is the stream's, behind all that was called before. */
  constructor(given: readonly ArrayUse[], stream: CudaStream) {
    super();
    const all = given.map((use) => usesOfArray(use, ownedSpan(use.memory)));
    const [arrays, uses] = [all.flatMap(({ arrays }) => arrays), all.flatMap(({ uses }) => uses)];
    const earlier = [...arraysBefore(arrays), ...pendingBeforeHost(stream, uses)];
    noteArrayUses(this, arrays);
    keepFor(this, stream, uses);
    this.beginAfter(earlier);
  }

  protected override begin(): void {
    this.#first.resolve();
    if (this.#isGivenUp) this.finish();
  }

  /** Lets what comes after it begin, once all that comes before it is over. */
  [Symbol.dispose](): void {
    this.#isGivenUp = true;
    if (this.hasBegun) this.finish();
  }
}

/**
 * Returns the uses of an array. One that is registered counts in both orders, because it is ordinary
 * before and afterwards.
 */
export function usesOfArray(
  use: ArrayUse,
  owned: OwnedHostSpan | undefined,
): { uses: MemoryUse[]; arrays: ArrayUse[] } {
  const blocks = owned === undefined ? ownedParts(use.memory) : [owned];
  const isArray = owned === undefined || owned.allocation.kind === "registered";
  const uses = blocks.map((block) => ({ ...block, access: use.access }));
  return { uses, arrays: isArray ? [use] : [] };
}

function noUses(): MemoryUses {
  return { read: new Set(), write: new Set() };
}

/** Returns whether two arrays over one memory share a byte. */
function overlap(a: PlacedArray, b: PlacedArray): boolean {
  const [start, other] = [a.position.start, b.position.start];
  return start < other + b.memory.byteLength && other < start + a.memory.byteLength;
}
