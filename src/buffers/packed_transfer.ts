// Moves many arrays to the device or back: small ones packed, so that few copies move all of them,
// and large ones one by one.

import { findHost } from "../../ffi/host.ts";
import { areApart } from "../copies/address_ranges.ts";
import { checkApart, MEMORY, type MemorySpan } from "../copies/copy.ts";
import { MAX_KEPT_ARRAYS } from "../lanes/memory_keeper.ts";
import type { Allocation } from "../memory/allocation.ts";
import { isMixed, type OwnedHostSpan, ownedSpan } from "../memory/host_bytes.ts";
import type { MemoryUse } from "../memory/in_order.ts";
import type { CudaStream } from "../order/stream.ts";
import { type ArrayUse, usesOfArray } from "../transfer/array_uses.ts";
import {
  besideArray,
  type HostSide,
  isReadByHost,
  noteTransfer,
} from "../transfer/host_transfer.ts";
import type { MoveStep } from "../transfer/mover.ts";
import { PendingTransfer, type TransferOptions } from "../transfer/pending_transfer.ts";
import { inMemory, oneRow, paddingBetween } from "../transfer/pieces.ts";
import { movedAway, type RingRequest } from "../transfer/ring_transfer.ts";
import type { GpuBuffer } from "./gpu_buffer.ts";

/** Size from which a call for each array costs little beside the copy itself. */
const LARGE_FROM_BYTES = 512 * 2 ** 10;

/** One array and the buffer that it fills or is filled from. */
export interface PackItem {
  readonly buffer: GpuBuffer;
  /** The array, with as many elements as the buffer. */
  readonly host: HostSide;
}

/** An item that keeps its buffer's memory: the buffer may be disposed before it moves. */
interface PlacedItem extends Pick<PackItem, "host"> {
  readonly span: MemorySpan;
  /** The array's memory, when the GPU reaches it. */
  readonly owned: OwnedHostSpan | undefined;
}

/** Options for transferring many arrays. */
interface PackedTransfer extends TransferOptions {
  readonly direction: "upload" | "download";
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
  /** The padding between neighbouring buffers of one block holds no other data. */
  readonly ownsPadding?: boolean;
  /** The memory is new, and the arrays have their place in the order of calls. */
  readonly isPlaced?: boolean;
}

/** Moves all arrays; resolves when they are there. Where arrays overlap, the later one wins. */
export async function transferPacked(
  items: readonly PackItem[],
  options: PackedTransfer,
): Promise<void> {
  const { direction, stream, onProgress, signal, isPlaced } = options;
  signal?.throwIfAborted();
  const isUpload = direction === "upload";
  const arrayAccess = isUpload ? "read" : "write";
  const placed: PlacedItem[] = [];
  const arrays: ArrayUse[] = [];
  const ownedUses: MemoryUse[] = [];
  let byteLength = 0;
  for (const { buffer, host: given } of items) {
    const span = buffer[MEMORY]();
    if (span.byteLength === 0) continue;
    const owned = ownedSpan(given.memory);
    const host = isMixed(given.memory, owned) ? besideArray(given, direction) : given;
    if (owned !== undefined && host.convert === undefined) checkApart(span, owned);
    placed.push({ span, host, owned });
    const own = usesOfArray({ memory: host.memory, access: arrayAccess }, owned);
    arrays.push(...own.arrays);
    ownedUses.push(...own.uses);
    byteLength += span.byteLength;
  }
  if (byteLength === 0) return;
  await new PendingTransfer({
    stream,
    uses: [...usesOf(placed, isUpload ? "write" : "read"), ...ownedUses],
    arrays,
    byteLength,
    action: `${direction} ordinary memory`,
    onProgress,
    signal,
    isPlaced,
    steps: () => {
      for (const { span } of placed) noteTransfer({ direction, span, stream });
      return stepsOf(placed, options);
    },
  }).promise;
}

/** Returns the steps: small arrays, packed; then the others, each in the way for its size. */
function* stepsOf(
  items: readonly PlacedItem[],
  options: PackedTransfer,
): Generator<MoveStep, void> {
  const sections = findHost() === undefined ? [] : items.map(sectionOf);
  const canPack = areApartIn(options.direction, sections);
  const small: MemorySection[] = [];
  const others: PlacedItem[] = [];
  for (const [index, item] of items.entries()) {
    const section = sections[index];
    if (section === undefined || !canPack || !isPacked(item)) others.push(item);
    else small.push(section);
  }
  for (let from = 0; from < small.length; from += MAX_KEPT_ARRAYS) {
    yield { begin: () => pack(small.slice(from, from + MAX_KEPT_ARRAYS), options) };
  }
  for (const item of others) yield moveOne(item, options);
}

/** An array, with its address at the beginning of the transfer. */
type MemorySection = ReturnType<typeof sectionOf>;

function sectionOf({ span, host: { memory } }: PlacedItem) {
  return { span, host: inMemory(memory), rows: oneRow(span.byteLength) };
}

function areApartIn(
  direction: "upload" | "download",
  sections: readonly MemorySection[],
): boolean {
  if (direction === "upload") return areApart(sections.map(({ span }) => span));
  return areApart(sections.map(({ span: { byteLength }, host: { address } }) => {
    return { address, byteLength };
  }));
}

/** Returns whether an array is packed: a small one in ordinary memory, without conversion. */
function isPacked({ span, host, owned }: PlacedItem): boolean {
  return span.byteLength < LARGE_FROM_BYTES && host.convert === undefined && owned === undefined;
}

function moveOne({ span, host, owned }: PlacedItem, { direction }: PackedTransfer): MoveStep {
  let bytes = host.memory;
  return {
    isLate: isReadByHost({ direction, host }, owned),
    begin: () => {
      bytes = host.convert?.() ?? host.memory;
      const isPageLocked = host.convert === undefined && owned !== undefined;
      return { direction, span, bytes, isPageLocked };
    },
    complete: () => host.complete?.(bytes),
  };
}

/** Blocks that hold nothing but packed arrays and their padding. */
const padded = new WeakSet<Allocation>();

/**
 * Moves small arrays packed together.
 *
 * @throws TypeError when one was moved away since the call, while earlier calls or parts of this one ran.
 */
function pack(
  sections: readonly MemorySection[],
  { direction, ownsPadding = false }: PackedTransfer,
): RingRequest {
  const gone = sections.filter(({ span, host }) => host.bytes.byteLength !== span.byteLength);
  if (gone.length > 0) throw movedAway(gone.map(({ host }) => host.bytes));
  if (ownsPadding) { for (const { span: { allocation } } of sections) padded.add(allocation); }
  const takesPadding = sections.every(({ span: { allocation } }) => padded.has(allocation));
  return { direction, sections, takesPadding, canLend: false }; // lists of copies are not lent
}

/** Returns the memory of the items; neighbours in one block count as one, with their padding. */
function usesOf(items: readonly PlacedItem[], access: MemoryUse["access"]): MemoryUse[] {
  const uses: MemoryUse[] = [];
  let before: MemorySpan | undefined;
  for (const { span } of items) {
    const last = uses.at(-1);
    const padding = paddingBetween(before, span);
    if (last === undefined || padding === undefined) uses.push({ ...span, access });
    else {
      const byteLength = last.byteLength + padding + span.byteLength;
      uses[uses.length - 1] = { ...last, byteLength };
    }
    before = span;
  }
  return uses;
}
