// An array of middle size, moved in one call: lanes that are awake and the caller copy its parts to or from
// page-locked memory, while the copy engine works on others. The driver does that with one thread.

import { roundUp } from "../../ffi/alignment.ts";
import { queueCopies } from "../copies/copy_many.ts";
import type { Context } from "../driver/context.ts";
import type { CopyLanes } from "../lanes/copy_lanes.ts";
import { addressOf, type HostBytes } from "../memory/host_memory.ts";
import type { StreamQueue } from "../order/stream_queue.ts";
import { type StagingBlock, StagingMemory } from "./staging_memory.ts";

/** Bytes of one copy of the copy engine: fewer cost more calls than they save time. */
const SMALLEST_COPY_BYTES = 2 ** 19;
const LARGEST_COPY_BYTES = 2 ** 20;

/** Copies after which threads have work for as long as the copy engine. */
const COPIES_WANTED = 4;

/** Parts of a small array: up to so many lanes help. As many slots must be free. */
const PARTS_WANTED = 8;

/** Fewer bytes cost more to hand out than to copy. */
const SMALLEST_PART_BYTES = 2 ** 16;
const LARGEST_PART_BYTES = 2 ** 17;

/** Parts begin at lines of the cache, as their array does. */
const LINE_BYTES = 64;

/** Lanes, and the memory that a transfer passes through. */
export interface Helpers {
  /** Lanes that are awake. */
  readonly lanes: CopyLanes;
  /** Their slots that have no task, at least {@link PARTS_WANTED}. */
  readonly slots: readonly number[];
  /** Page-locked memory, at least as large as the transfer. */
  readonly staged: StagingBlock;
}

/** Returns what a transfer of a size needs to be shared; undefined where slots or memory are missing. */
export function findHelpers(
  context: Context,
  { lanes, direction, byteLength }: Pick<SharedMove, "lanes" | "direction" | "byteLength">,
): Helpers | undefined {
  const slots = lanes.freeSlots;
  if (slots.length < PARTS_WANTED) return undefined;
  const staged = StagingMemory.of(context).take(direction, byteLength);
  return staged && { lanes, slots, staged };
}

/** An array and the device memory on its other side. */
export interface SharedMove extends Helpers {
  /** Direction of the transfer. */
  readonly direction: "upload" | "download";
  /** The stream that orders it. */
  readonly stream: StreamQueue;
  /** Address on the device. */
  readonly device: bigint;
  /** Number of bytes. */
  readonly byteLength: number;
  /** Returns the array's bytes; a new array is made while the copy engine fills the other memory. */
  readonly bytes: () => HostBytes;
}

/** Moves an array, and blocks until it has arrived. */
export function moveShared(move: SharedMove): void {
  const { direction, stream: { context, handle } } = move;
  const parts = new SharedParts(move);
  try {
    if (direction === "upload") upload(parts, move);
    else download(parts, move);
  } catch (error) {
    // Copies that are under way use the memory of the next transfer.
    context.driver.status("cuStreamSynchronize", handle);
    throw error;
  } finally {
    parts.finish(parts.count); // lanes use the array until then
  }
}

function upload(
  parts: SharedParts,
  { stream, device, staged: { address }, bytes }: SharedMove,
): void {
  const array = bytes();
  parts.connect({ source: addressOf(array), destination: address });
  parts.submit(parts.count);
  for (const { offset, byteLength, partCount } of parts.copies()) {
    parts.finish(partCount);
    const at = BigInt(offset);
    queueCopies([{ destination: device + at, source: address + at, byteLength }], stream);
  }
  stream.synchronizeSync();
}

function download(
  parts: SharedParts,
  { stream, device, staged: { address, fences }, bytes }: SharedMove,
): void {
  const copies = parts.copies();
  for (const [index, { offset, byteLength }] of copies.entries()) {
    const at = BigInt(offset);
    queueCopies([{ destination: address + at, source: device + at, byteLength }], stream);
    if (index + 1 < copies.length) fences[index]?.set(stream.handle);
  }
  const array = bytes();
  parts.connect({ source: address, destination: addressOf(array) });
  for (const [index, { partCount }] of copies.entries()) {
    if (index + 1 === copies.length) stream.synchronizeSync();
    else while (fences[index]?.poll() === false) parts.help();
    parts.submit(partCount);
  }
}

/** A copy of the copy engine. */
interface SharedCopy {
  /** Offset of its first byte. */
  readonly offset: number;
  /** Number of bytes. */
  readonly byteLength: number;
  /** Number of parts until its end. */
  readonly partCount: number;
}

/** The parts of an array, each of which one task copies to or from page-locked memory. */
class SharedParts {
  readonly #lanes: CopyLanes;
  readonly #slots: readonly number[];
  #source = 0n;
  #destination = 0n;
  readonly #byteLength: number;
  readonly #partBytes: number;
  /** Most copies: each but the last has a fence. */
  readonly #mostCopies: number;
  #submittedCount = 0;
  #finishedCount = 0;

  constructor({ lanes, slots, staged, byteLength }: SharedMove) {
    this.#lanes = lanes;
    this.#slots = slots;
    this.#mostCopies = staged.fences.length + 1;
    this.#byteLength = byteLength;
    const wanted = byteLength / PARTS_WANTED;
    const fitting = Math.min(LARGEST_PART_BYTES, Math.max(SMALLEST_PART_BYTES, wanted));
    const fewest = byteLength / slots.length; // a slot carries one part
    this.#partBytes = roundUp(Math.max(fitting, fewest), LINE_BYTES);
  }

  /** Tells from where to where the parts are copied, before the first is handed out. */
  connect(
    { source, destination }: { readonly source: bigint; readonly destination: bigint },
  ): void {
    [this.#source, this.#destination] = [source, destination];
  }

  /** Number of all parts. */
  get count(): number {
    return Math.ceil(this.#byteLength / this.#partBytes);
  }

  /** Cuts the bytes into copies of the copy engine. */
  copies(): SharedCopy[] {
    const fewest = Math.ceil(this.count / this.#mostCopies);
    const wanted = Math.max(SMALLEST_COPY_BYTES, this.#byteLength / COPIES_WANTED);
    const copyBytes = Math.min(LARGEST_COPY_BYTES, wanted);
    const copyParts = Math.max(fewest, Math.round(copyBytes / this.#partBytes));
    const copies: SharedCopy[] = [];
    for (let first = 0; first < this.count; first += copyParts) {
      const offset = first * this.#partBytes;
      const partCount = Math.min(this.count, first + copyParts);
      const end = Math.min(this.#byteLength, partCount * this.#partBytes);
      copies.push({ offset, byteLength: end - offset, partCount });
    }
    return copies;
  }

  /** Hands out parts until so many are handed out. */
  submit(partCount: number): void {
    for (; this.#submittedCount < partCount; this.#submittedCount++) {
      const slot = this.#slots[this.#submittedCount] ?? 0;
      const offset = this.#submittedCount * this.#partBytes;
      const byteLength = Math.min(this.#partBytes, this.#byteLength - offset);
      const destination = this.#destination + BigInt(offset);
      const source = this.#source + BigInt(offset);
      const copy = { destination, source, byteLength };
      this.#lanes.submit(slot, { operation: "copyEach", copies: [copy] });
    }
  }

  /** Waits for the first `partCount` parts, as far as they were handed out, and does some of them. */
  finish(partCount: number): void {
    const end = Math.min(partCount, this.#submittedCount);
    for (; this.#finishedCount < end; this.#finishedCount++) {
      const slot = this.#slots[this.#finishedCount] ?? 0;
      while (this.#lanes.status(slot) === "pending") this.help();
      if (this.#lanes.status(slot) === "failed") this.#lanes.repeat(slot);
    }
  }

  /** Does the oldest part that waits for a thread. */
  help(): void {
    this.#lanes.helpWith(this.#slots);
  }
}
