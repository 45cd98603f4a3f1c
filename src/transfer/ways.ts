// Which way a transfer takes, by its size: the one table to look at and to change.

/** How a transfer can go. */
export type Way =
  /** One call; the driver stages the bytes itself. */
  | "driver"
  /** Through page-locked slots, filled or drained by several lanes. */
  | "ring";

/** From which sizes a direction goes through the ring, in bytes. */
export const RING_FROM_BYTES = { upload: 8 * 2 ** 20, download: 8 * 2 ** 20 };

/** Pieces of a transfer: small enough to keep all lanes busy, large enough to be few. */
const SMALLEST_PIECE_BYTES = 2 ** 18;
const PIECES_WANTED = 32;

/** Finds the way for a size. */
export function wayFor(direction: "upload" | "download", byteLength: number): Way {
  return byteLength < RING_FROM_BYTES[direction] ? "driver" : "ring";
}

/** Finds the size of the pieces of a transfer, at most a slot. */
export function pieceBytesFor(byteLength: number, slotBytes: number): number {
  const wanted = 2 ** Math.ceil(Math.log2(byteLength / PIECES_WANTED));
  return Math.min(slotBytes, Math.max(SMALLEST_PIECE_BYTES, wanted));
}
