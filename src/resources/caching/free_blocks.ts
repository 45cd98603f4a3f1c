// The free blocks of one stream by size: sixteen classes an octave, found through bit masks.
// Every step takes constant time, however many blocks there are (two-level segregated fit).

import type { CudaStream } from "../../order/stream.ts";
import { type Block, UNIT_BYTES } from "./block.ts";

/** Classes of an octave, as a power of two; a class is then at most 1/16 wide. */
const STEP_BITS = 4;
const STEP_COUNT = 2 ** STEP_BITS;

/** Octaves, so that the largest class starts at 2^31 units of 512 bytes. */
const OCTAVE_COUNT = 32 - STEP_BITS;

/** Blocks of the request's own class to look at: not all of them are large enough. */
const LOOK_COUNT = 16;

/** Free blocks that work of one stream used last. */
export class FreeBlocks {
  /** The stream in whose order they are free. */
  readonly stream: CudaStream;
  /** They are parts of segments for small requests. */
  readonly isSmall: boolean;
  #unitCount = 0;
  /** One bit for each octave that has blocks. */
  #octaves = 0;
  /** For each octave, one bit for each class that has blocks. */
  readonly #steps = new Int32Array(OCTAVE_COUNT);
  readonly #heads: (Block | undefined)[] = new Array(OCTAVE_COUNT * STEP_COUNT).fill(undefined);

  constructor(stream: CudaStream, options: { readonly isSmall: boolean }) {
    this.stream = stream;
    this.isSmall = options.isSmall;
  }

  get byteLength(): number {
    return this.#unitCount * UNIT_BYTES;
  }

  add(block: Block): void {
    const index = classOf(block.unitCount);
    const head = this.#heads[index];
    block.home = this;
    block.before = undefined;
    block.after = head;
    if (head === undefined) this.#mark(index);
    else head.before = block;
    this.#heads[index] = block;
    this.#unitCount += block.unitCount;
  }

  /** Adds a block that was in use, as one with the neighbours that are free here too. */
  merge(block: Block): void {
    const { previous, next } = block;
    if (next !== undefined && next.home === this) {
      this.remove(next);
      block.absorbNext();
    }
    if (previous === undefined || previous.home !== this) return this.add(block);
    this.remove(previous);
    previous.absorbNext();
    this.add(previous);
  }

  remove(block: Block): void {
    const { before, after } = block;
    if (after !== undefined) after.before = before;
    if (before !== undefined) before.after = after;
    else {
      const index = classOf(block.unitCount);
      this.#heads[index] = after;
      if (after === undefined) this.#unmark(index);
    }
    block.home = undefined;
    block.before = undefined;
    block.after = undefined;
    this.#unitCount -= block.unitCount;
  }

  /** Finds a block of at least `unitCount` units, in nearly the smallest class that has one. */
  find(unitCount: number): Block | undefined {
    const index = classOf(unitCount);
    return this.#findInClass(index, unitCount) ?? this.#heads[this.#classAbove(index)];
  }

  /** Lists the blocks, smaller classes first. */
  blocks(): Block[] {
    const found: Block[] = [];
    for (const head of this.#heads) {
      for (let block = head; block !== undefined; block = block.after) found.push(block);
    }
    return found;
  }

  /** Returns the best of a class's first blocks, some of which are too small. */
  #findInClass(index: number, unitCount: number): Block | undefined {
    let best: Block | undefined;
    let block = this.#heads[index];
    for (let looks = 0; looks < LOOK_COUNT && block !== undefined; looks++) {
      if (block.unitCount === unitCount) return block;
      const fits = block.unitCount > unitCount;
      if (fits && (best === undefined || block.unitCount < best.unitCount)) best = block;
      block = block.after;
    }
    return best;
  }

  /** Returns the lowest class above `index` that has blocks; -1 when there is none. */
  #classAbove(index: number): number {
    const octave = index >>> STEP_BITS;
    // Shifting by 32 would shift by 0, hence in two steps of at most 31.
    const steps = (this.#steps[octave] ?? 0) & (-2 << (index & (STEP_COUNT - 1)));
    if (steps !== 0) return (octave << STEP_BITS) + lowestBit(steps);
    const octaves = this.#octaves & (-2 << octave);
    if (octaves === 0) return -1;
    const next = lowestBit(octaves);
    return (next << STEP_BITS) + lowestBit(this.#steps[next] ?? 0);
  }

  #mark(index: number): void {
    const octave = index >>> STEP_BITS;
    this.#steps[octave] = (this.#steps[octave] ?? 0) | (1 << (index & (STEP_COUNT - 1)));
    this.#octaves |= 1 << octave;
  }

  #unmark(index: number): void {
    const octave = index >>> STEP_BITS;
    const steps = (this.#steps[octave] ?? 0) & ~(1 << (index & (STEP_COUNT - 1)));
    this.#steps[octave] = steps;
    if (steps === 0) this.#octaves &= ~(1 << octave);
  }
}

/** Returns the number of a size's class: below 16 units each size has its own. */
function classOf(unitCount: number): number {
  if (unitCount < STEP_COUNT) return unitCount;
  const shift = 31 - STEP_BITS - Math.clz32(unitCount);
  return ((shift + 1) << STEP_BITS) + (unitCount >>> shift) - STEP_COUNT;
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}
