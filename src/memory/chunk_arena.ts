// Blocks of any size cut out of chunks of virtual memory, so that thousands of small ones share few
// physical allocations, each of which a descriptor or a mapping costs.

import { roundUp } from "../../ffi/alignment.ts";
import type { Context } from "../driver/context.ts";
import { isOutOfMemory } from "../words/errors.ts";
import { VirtualRange } from "./virtual_range.ts";

/** The size of chunks that small blocks share; smaller only where the device has no more. */
const MIN_CHUNK_BYTES = 64 * 2 ** 20;

/** From this size on a block has a chunk of its own, which leaves with it. */
const MIN_OWN_CHUNK_BYTES = 32 * 2 ** 20;

const ALIGNMENT_BYTES = 256;

/** Free bytes of a chunk. */
interface Gap {
  readonly start: number;
  readonly end: number;
}

/** A block's place. */
interface PlacedBlock {
  readonly chunk: VirtualRange;
  readonly offset: number;
  readonly byteLength: number;
}

/** A chunk and the gaps between its blocks, in the order of their offsets. */
class SharedChunk {
  readonly chunk: VirtualRange;
  readonly isOwn: boolean;
  gaps: Gap[];
  blockCount = 0;

  constructor(chunk: VirtualRange, { isOwn = false, isFull = false } = {}) {
    this.chunk = chunk;
    this.isOwn = isOwn;
    this.gaps = isFull ? [] : [{ start: 0, end: chunk.reservedBytes }];
  }

  /** Takes the first gap that is large enough; undefined when none is. */
  take(byteLength: number): number | undefined {
    const at = this.gaps.findIndex(({ start, end }) => end - start >= byteLength);
    const gap = this.gaps[at];
    if (gap === undefined) return undefined;
    const rest = { start: gap.start + byteLength, end: gap.end };
    this.gaps.splice(at, 1, ...(rest.start < rest.end ? [rest] : []));
    this.blockCount++;
    return gap.start;
  }

  /** Takes bytes back, and joins them with the gaps beside them. */
  give(start: number, end: number): void {
    const next = this.gaps.findIndex((gap) => gap.start >= end);
    const at = next === -1 ? this.gaps.length : next;
    const [before, after] = [this.gaps[at - 1], this.gaps[at]];
    const joinsBefore = before?.end === start;
    const joinsAfter = after?.start === end;
    const first = joinsBefore ? at - 1 : at;
    const joined = {
      start: joinsBefore ? before.start : start,
      end: joinsAfter ? after.end : end,
    };
    this.gaps.splice(first, Number(joinsBefore) + Number(joinsAfter), joined);
    this.blockCount--;
  }
}

/** Cuts blocks out of the chunks of one device. */
export class ChunkArena {
  readonly context: Context;
  readonly #chunks = new Map<VirtualRange, SharedChunk>();
  readonly #blocks = new Map<bigint, PlacedBlock>();
  #isSealed = false;
  /** Called when its last chunk has gone. */
  whenEmpty: (() => void) | undefined;

  /** Starts without memory. */
  constructor(context: Context) {
    this.context = context;
  }

  get chunks(): VirtualRange[] {
    return [...this.#chunks.keys()];
  }

  /** Returns the place of the block at an address; undefined when it gave none out there. */
  placeOf(address: bigint): PlacedBlock | undefined {
    return this.#blocks.get(address);
  }

  /** The addresses of the blocks of a chunk that are in use. */
  addressesIn(chunk: VirtualRange): bigint[] {
    return [...this.#blocks].filter(([, block]) => block.chunk === chunk)
      .map(([address]) => address);
  }

  /** Hands out bytes, aligned to 256. */
  take(byteLength: number): bigint {
    if (this.#isSealed) {
      throw new TypeError("Cannot allocate from persisted memory: it is complete");
    }
    const bytes = roundUp(byteLength, ALIGNMENT_BYTES);
    const sharing = bytes < MIN_OWN_CHUNK_BYTES ? this.#chunks.values() : [];
    for (const shared of sharing) {
      if (shared.isOwn || shared.chunk.sleeperCount > 0) continue;
      const offset = shared.take(bytes);
      if (offset !== undefined) return this.#place(shared.chunk, offset, byteLength);
    }
    const shared = this.#grow(bytes);
    return this.#place(shared.chunk, shared.take(bytes) ?? 0, byteLength);
  }

  /** Takes a block back; an empty chunk goes back to the device. */
  give(address: bigint): void {
    const block = this.#blocks.get(address);
    if (block === undefined) return;
    this.#blocks.delete(address);
    const { chunk, offset, byteLength } = block;
    const shared = this.#chunks.get(chunk);
    shared?.give(offset, offset + roundUp(byteLength, ALIGNMENT_BYTES));
    if (shared?.blockCount === 0) this.#release(chunk);
  }

  seal(): void {
    this.#isSealed = true;
  }

  /** Adopts a chunk; its blocks are named by {@link ChunkArena.adoptBlock}. */
  adopt(chunk: VirtualRange): void {
    this.#chunks.set(chunk, new SharedChunk(chunk, { isFull: true }));
  }

  /** Names a block of an adopted chunk, and returns its address. */
  adoptBlock({ chunk, offset, byteLength }: PlacedBlock): bigint {
    const shared = this.#chunks.get(chunk);
    if (shared !== undefined) shared.blockCount++;
    return this.#place(chunk, offset, byteLength);
  }

  /** Gives back the chunks in which no block was named. */
  releaseUnused(): void {
    for (const { chunk, blockCount } of [...this.#chunks.values()]) {
      if (blockCount === 0) this.#release(chunk);
    }
  }

  #place(chunk: VirtualRange, offset: number, byteLength: number): bigint {
    const address = chunk.address + BigInt(offset);
    this.#blocks.set(address, { chunk, offset, byteLength });
    return address;
  }

  /** Makes a chunk for a block: with room for others, unless the device has too little for that. */
  #grow(bytes: number): SharedChunk {
    const isOwn = bytes >= MIN_OWN_CHUNK_BYTES;
    let chunk: VirtualRange;
    try {
      chunk = VirtualRange.whole(this.context, isOwn ? bytes : MIN_CHUNK_BYTES);
    } catch (error) {
      if (isOwn || !isOutOfMemory(error)) throw error;
      chunk = VirtualRange.whole(this.context, bytes);
    }
    const shared = new SharedChunk(chunk, { isOwn });
    this.#chunks.set(chunk, shared);
    return shared;
  }

  #release(chunk: VirtualRange): void {
    this.#chunks.delete(chunk);
    chunk.free();
    if (this.#chunks.size === 0) this.whenEmpty?.();
  }
}
