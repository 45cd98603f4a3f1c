// Segments of the upstream's memory, and the blocks that they are cut into. Small and large requests
// never share a segment, so that a small block that lives long keeps no large segment.

import { roundUp } from "../../../ffi/alignment.ts";
import type { CudaStream } from "../../order/stream.ts";

/** Sizes and addresses inside a segment are multiples of this, as in the pools of CuPy and PyTorch. */
export const UNIT_BYTES = 512;

/** The driver maps device memory in pages of this size, so smaller steps would gain nothing. */
const DEVICE_PAGE_BYTES = 2 ** 21;

/** Requests of up to this size are small. */
const SMALL_UNITS = 2 ** 20 / UNIT_BYTES;

/** The largest request: sizes in units must stay below 2^31. */
export const MAX_REQUEST_BYTES = 2 ** 39;

/** One allocation of the upstream, cut into blocks. */
export interface Segment {
  readonly address: bigint;
  /** Its size, as the upstream was asked for it. */
  readonly byteLength: number;
  /** It is cut into blocks for small requests, instead of large ones. */
  readonly isSmall: boolean;
}

/** Counts the units that a request takes. */
export function unitsOf(byteLength: number): number {
  return Math.ceil(byteLength / UNIT_BYTES);
}

/** Returns whether a request is served from the segments for small ones. */
export function isSmallRequest(unitCount: number): boolean {
  return unitCount <= SMALL_UNITS;
}

/** The size of a new segment for a request: whole pages. */
export function segmentBytesFor(unitCount: number): number {
  return roundUp(unitCount * UNIT_BYTES, DEVICE_PAGE_BYTES);
}

/** A set of free blocks, from which one can be removed. */
interface BlockHome {
  /** The stream in whose order they are free. */
  readonly stream: CudaStream;
  remove(block: Block): void;
}

/** A run of units of one segment. */
export class Block {
  readonly segment: Segment;
  readonly address: bigint;
  /** The address as a number, which hashes faster; exact, since addresses are below 2^53. */
  readonly position: number;
  unitCount: number;
  /** The neighbour at lower addresses. */
  previous: Block | undefined = undefined;
  /** The neighbour at higher addresses. */
  next: Block | undefined = undefined;
  /** The set of free blocks that it belongs to; undefined while it is in use. */
  home: BlockHome | undefined = undefined;
  before: Block | undefined = undefined;
  after: Block | undefined = undefined;

  /** Describes a block that is in use. */
  constructor(segment: Segment, fields: { address: bigint; unitCount: number }) {
    this.segment = segment;
    this.address = fields.address;
    this.position = Number(fields.address);
    this.unitCount = fields.unitCount;
  }

  get byteLength(): number {
    return this.unitCount * UNIT_BYTES;
  }

  /** Cuts the block after `unitCount` units, and returns the rest. */
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

  /** Merges with the neighbour at higher addresses, which nothing may refer to afterwards. */
  absorbNext(): void {
    const { next } = this;
    if (next === undefined) return;
    this.unitCount += next.unitCount;
    this.next = next.next;
    if (next.next !== undefined) next.next.previous = this;
  }
}
