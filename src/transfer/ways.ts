// The way of a transfer, by its size: the one table to read and to change. Measured on one H200
// host with 16 cores; bench/transfer measures it again on any other.

/** Way of a transfer. */
export type Way =
  /** One call; the driver stages the bytes itself. */
  | "driver"
  /** Through page-locked slots, filled or drained by several lanes. */
  | "ring";

/** Nothing smaller goes through the ring: on an idle stream the driver needs a quarter millisecond. */
export const SMALLEST_RING_BYTES = 4 * 2 ** 20;

/** With fewer lanes the ring never beats the driver. */
export const FEWEST_LANES = 3;

/** So many lanes beat the driver at all sizes that the ring is for. */
export const MANY_LANES = 7;

/** From which size on lanes that run beat the driver's own staging, by how many there are. */
const RING_FROM_BYTES: readonly { readonly lanes: number; readonly bytes: number }[] = [
  { lanes: MANY_LANES, bytes: SMALLEST_RING_BYTES },
  { lanes: FEWEST_LANES, bytes: 32 * 2 ** 20 },
];

/** From this size on threads that the runtime lends beat the driver's own staging by way of the ring. */
export const LENT_RING_FROM_BYTES: number = 2 ** 24 + 1;

/** Nothing smaller waits for lanes that sleep: the driver is as fast until they are awake. */
export const WAKING_RING_BYTES = 8 * 2 ** 20;

/**
 * Sizes of transfers that lanes which are awake copy together with the caller. Fresh arrays have no pages
 * yet: for larger ones the ring has large pages made. Below 512 KiB a download is as fast by page-locked
 * memory alone. Lanes have made other arrays ahead; where they have not, V8 makes and clears one while the
 * copy engine works, and below 2 MiB a copy of page-locked memory is faster, into memory that is warm then.
 */
export const SHARED_BYTES = {
  upload: { smallest: 2 ** 19, largest: 8 * 2 ** 20 },
  download: { smallest: 2 ** 19, largest: 8 * 2 ** 20 },
  fresh: { smallest: 2 ** 18, largest: 4 * 2 ** 20 },
  made: { smallest: 2 ** 19, largest: 8 * 2 ** 20 },
  cleared: { smallest: 2 ** 21, largest: 8 * 2 ** 20 },
} as const;

/** Kind of a transfer that lanes and the caller share. */
export type SharedKind = keyof typeof SHARED_BYTES;

/** Returns whether lanes that are awake and the caller share a transfer of a size. */
export function isShared(byteLength: number, kind: SharedKind): boolean {
  const { smallest, largest } = SHARED_BYTES[kind];
  return byteLength >= smallest && byteLength <= largest;
}

/** Fewer bytes cost more to hand out than to copy. */
const SMALLEST_PIECE_BYTES = 2 ** 18;

/** More pieces start the copy engine earlier, fewer cost fewer calls. */
const PIECES_WANTED = 12;

/** Finds the way for a size; one or two lanes never beat the driver. */
export function wayFor(byteLength: number, laneCount: number, ringFromBytes?: number): Way {
  const row = RING_FROM_BYTES.find(({ lanes }) => laneCount >= lanes);
  return row !== undefined && byteLength >= (ringFromBytes ?? row.bytes) ? "ring" : "driver";
}

/** Finds the size of the pieces of a transfer: a power of two, at most a slot. */
export function pieceBytesFor(byteLength: number, slotBytes: number): number {
  const wanted = 2 ** Math.round(Math.log2(byteLength / PIECES_WANTED));
  return Math.min(slotBytes, Math.max(SMALLEST_PIECE_BYTES, wanted));
}

/** From this size on a file goes through the ring: the driver cannot read files. */
const FILE_RING_FROM_BYTES = 2 ** 20;

/** Bytes that must be requested before it pays to make the ring and to start threads. */
export const RING_DEMAND_BYTES = 128 * 2 ** 20;

/** Bytes the driver moves at a time in large transfers, while lanes are still starting. */
export const DRIVER_PIECE_BYTES = 32 * 2 ** 20;

/** Finds the way for a file; a small one is read whole and sent as one array. */
export function wayForFile(byteLength: number): Way {
  return byteLength < FILE_RING_FROM_BYTES ? "driver" : "ring";
}
