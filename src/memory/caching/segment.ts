// A piece of the upstream's memory, and how large it is: small and large requests never share one,
// so that a small block that lives long keeps no large segment from being given back.

/** Sizes and addresses inside a segment are multiples of this, as in the pools of CuPy and PyTorch. */
export const UNIT_BYTES = 512;

/** The driver maps device memory in pages of this size, so smaller steps would gain nothing. */
const PAGE_BYTES = 2 ** 21;

/** Up to this size a request is small. */
const SMALL_UNITS = 2 ** 20 / UNIT_BYTES;

/** The largest request: sizes in units must stay below 2^31. */
export const LARGEST_BYTES = 2 ** 39;

/** One allocation of the upstream, cut into blocks. */
export interface Segment {
  /** Where it starts. */
  readonly address: bigint;
  /** Its size, as the upstream was asked for it. */
  readonly byteLength: number;
  /** Whether blocks for small requests are cut from it, or those for large ones. */
  readonly isSmall: boolean;
}

/** Counts the units that a request takes. */
export function unitsOf(byteLength: number): number {
  return Math.ceil(byteLength / UNIT_BYTES);
}

/** Whether a request is served from the segments for small ones. */
export function isSmallRequest(unitCount: number): boolean {
  return unitCount <= SMALL_UNITS;
}

/** The size of a new segment for a request: whole pages. */
export function segmentBytesFor(unitCount: number): number {
  return Math.ceil(unitCount * UNIT_BYTES / PAGE_BYTES) * PAGE_BYTES;
}
