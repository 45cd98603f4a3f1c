// A part of a segment: in use, or free and linked into the list of its size class.

import type { FreeBlocks } from "./free_blocks.ts";
import { type Segment, UNIT_BYTES } from "./segment.ts";

/** A run of units of one segment. */
export class Block {
  /** The segment it is part of. */
  readonly segment: Segment;
  /** Where it starts. */
  readonly address: bigint;
  /** The address as a number, which hashes faster; exact, since addresses are below 2^53. */
  readonly position: number;
  /** Its size in units. */
  unitCount: number;
  /** The neighbour at lower addresses. */
  previous: Block | undefined = undefined;
  /** The neighbour at higher addresses. */
  next: Block | undefined = undefined;
  /** The free blocks it is one of; undefined while it is in use. */
  home: FreeBlocks | undefined = undefined;
  /** The block before it in its list. */
  before: Block | undefined = undefined;
  /** The block after it in its list. */
  after: Block | undefined = undefined;

  /** Describes a block that is in use. */
  constructor(segment: Segment, fields: { address: bigint; unitCount: number }) {
    this.segment = segment;
    this.address = fields.address;
    this.position = Number(fields.address);
    this.unitCount = fields.unitCount;
  }

  /** Its size in bytes. */
  get byteLength(): number {
    return this.unitCount * UNIT_BYTES;
  }

  /** Cuts off what is beyond `unitCount` units, and returns it. */
  split(unitCount: number): Block {
    const rest = new Block(this.segment, {
      address: this.address + BigInt(unitCount * UNIT_BYTES),
      unitCount: this.unitCount - unitCount,
    });
    rest.previous = this;
    rest.next = this.next;
    if (this.next !== undefined) this.next.previous = rest;
    this.next = rest;
    this.unitCount = unitCount;
    return rest;
  }

  /** Takes in the neighbour at higher addresses, which nothing may refer to afterwards. */
  absorbNext(): void {
    const { next } = this;
    if (next === undefined) return;
    this.unitCount += next.unitCount;
    this.next = next.next;
    if (next.next !== undefined) next.next.previous = this;
  }
}
