// Blocks by address: an open-addressed table. V8's Map hashes large numbers badly: with 50,000 of them
// a step takes ten microseconds, and in this table 0.1.

import type { Block } from "./block.ts";

/** Odd and near 2^32 divided by the golden ratio: neighbouring addresses spread over the table. */
const SPREAD = 0x9e3779b1;

const MIN_SLOTS = 64;

/** Blocks in use, found by their address. */
export class AddressTable {
  #slots: (Block | undefined)[] = new Array(MIN_SLOTS).fill(undefined);
  #shift = 32 - Math.log2(MIN_SLOTS);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(block: Block): void {
    if (this.#count * 2 >= this.#slots.length) this.#grow();
    this.#place(block);
    this.#count++;
  }

  /** Finds a block and takes it out; undefined when there is none at this position. */
  take(position: number): Block | undefined {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = this.#slotOf(position);
    for (let block = slots[slot]; block !== undefined; block = slots[slot]) {
      if (block.position === position) {
        this.#clear(slot);
        this.#count--;
        return block;
      }
      slot = (slot + 1) & mask;
    }
    return undefined;
  }

  #slotOf(position: number): number {
    // Positions are multiples of 256 at least, so the division loses nothing that tells them apart.
    return Math.imul((position / 256) | 0, SPREAD) >>> this.#shift;
  }

  #place(block: Block): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = this.#slotOf(block.position);
    while (slots[slot] !== undefined) slot = (slot + 1) & mask;
    slots[slot] = block;
  }

  /** Empties a slot, and moves later blocks up that would not be found past the gap. */
  #clear(start: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let gap = start;
    let slot = start;
    for (;;) {
      slot = (slot + 1) & mask;
      const block = slots[slot];
      if (block === undefined) break;
      const distance = (slot - this.#slotOf(block.position)) & mask;
      if (distance < ((slot - gap) & mask)) continue;
      slots[gap] = block;
      gap = slot;
    }
    slots[gap] = undefined;
  }

  #grow(): void {
    const blocks = this.#slots;
    this.#slots = new Array(blocks.length * 2).fill(undefined);
    this.#shift--;
    for (const block of blocks) if (block !== undefined) this.#place(block);
  }
}
