// An array of middle size, moved in one call: lanes that are awake and the caller copy its parts to or from
// page-locked memory, while the copy engine works on others. The driver does that with one thread.

import { roundUp } from "../../ffi/alignment.ts";
import { queueCopies } from "../copies/copy_many.ts";
import type { CopyLanes } from "../lanes/copy_lanes.ts";
import { addressOf, type HostBytes } from "../memory/host_memory.ts";
import type { StreamQueue } from "../order/stream_queue.ts";
import type { Direction } from "./pieces.ts";
import type { StagingBlock } from "./staging_memory.ts";
import {
  MAX_PART_BYTES,
  MAX_SHARED_COPIES,
  MIN_COPY_BYTES,
  MIN_PART_BYTES,
  PART_SLOTS,
} from "./ways.ts";

/** Parts begin at lines of the cache, as their array does. */
const LINE = 64;

/** An array and the device memory on its other side. */
export interface SharedMove {
  readonly direction: Direction;
  /** Lanes that are awake. */
  readonly lanes: CopyLanes;
  /** Page-locked memory, at least as large as the transfer. */
  readonly staged: StagingBlock;
  /** The stream that orders it. */
  readonly stream: StreamQueue;
  /** Address on the device. */
  readonly device: bigint;
  /** Number of bytes. */
  readonly byteLength: number;
  /** Returns the array's bytes, and keeps them; a new array is made while the copy engine fills the other memory. */
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
  parts.array = addressOf(bytes());
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
  { stream, device, staged: { address, fences }, bytes, lanes }: SharedMove,
): void {
  const copies = parts.copies();
  for (const [index, { offset, byteLength }] of copies.entries()) {
    const at = BigInt(offset);
    queueCopies([{ destination: address + at, source: device + at, byteLength }], stream);
    if (index + 1 < copies.length) fences[index]?.set(stream.handle);
  }
  parts.array = addressOf(bytes());
  for (const [index, { partCount }] of copies.entries()) {
    if (index + 1 === copies.length) stream.synchronizeSync();
    else while (fences[index]?.poll() === false) lanes.helpWithPart();
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
  readonly #operation: "load" | "store";
  readonly #staged: bigint;
  /** Address of the array, set before the first part is handed out. */
  array = 0n;
  readonly #byteLength: number;
  readonly #partBytes: number;
  #submittedCount = 0;
  #finishedCount = 0;

  constructor({ direction, lanes, staged: { address }, byteLength }: SharedMove) {
    this.#lanes = lanes;
    this.#operation = direction === "upload" ? "load" : "store";
    this.#staged = address;
    this.#byteLength = byteLength;
    const wanted = Math.max(MIN_PART_BYTES, byteLength / MAX_SHARED_COPIES);
    const fewest = byteLength / PART_SLOTS; // a slot carries one part
    this.#partBytes = roundUp(Math.max(Math.min(MAX_PART_BYTES, wanted), fewest), LINE);
  }

  /** Number of all parts. */
  get count(): number {
    return Math.ceil(this.#byteLength / this.#partBytes);
  }

  /** Cuts the bytes into copies of the copy engine: some more than half of the most, of enough bytes each. */
  copies(): SharedCopy[] {
    const wanted = Math.min(2 * MIN_COPY_BYTES, 2 * this.#byteLength / MAX_SHARED_COPIES);
    const fewest = Math.ceil(this.count / MAX_SHARED_COPIES);
    const fitting = Math.round(Math.max(MIN_COPY_BYTES, wanted) / this.#partBytes);
    const copyParts = Math.max(fewest, fitting);
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
      const offset = this.#submittedCount * this.#partBytes;
      const rowBytes = Math.min(this.#partBytes, this.#byteLength - offset);
      const [outside, inside] = [this.array + BigInt(offset), this.#staged + BigInt(offset)];
      const run = { outside, inside, rowBytes, rowCount: 1, pitch: rowBytes };
      const slot = this.#lanes.firstPart + this.#submittedCount;
      this.#lanes.submit(slot, { operation: this.#operation, runs: [run] });
    }
  }

  /** Waits for the first `partCount` parts, as far as they were handed out, and does some of them. */
  finish(partCount: number): void {
    const end = Math.min(partCount, this.#submittedCount);
    for (; this.#finishedCount < end; this.#finishedCount++) {
      const slot = this.#lanes.firstPart + this.#finishedCount;
      while (this.#lanes.poll(slot) === "pending") this.#lanes.helpWithPart();
      if (this.#lanes.poll(slot) === "failed") this.#lanes.tasks.run(slot);
    }
  }
}
