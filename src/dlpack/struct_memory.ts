// Memory for the structs that other libraries get. It lives as long as the process and is zero
// while unused, so that a stale pointer finds no array.

import { roundUp } from "../../ffi/alignment.ts";
import { addressOf } from "../memory/host_memory.ts";

/** Sizes are multiples of this, which holds a struct with up to 11 axes. */
const STEP_BYTES = 256;

/** Memory for one struct and the tables that it points to. */
export interface StructPlace {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Its first 8 bytes. */
  readonly firstWord: BigUint64Array<ArrayBuffer>;
  /** The address of its first byte. */
  readonly address: bigint;
}

/** Free places by size; the one that has been free longest comes first. */
const free = new Map<number, StructPlace[]>();

/** Takes a zeroed place for this many bytes. */
export function takePlace(byteLength: number): StructPlace {
  const size = roundUp(byteLength, STEP_BYTES);
  const known = free.get(size)?.shift();
  if (known !== undefined) return known;
  const bytes = new Uint8Array(size);
  return { bytes, firstWord: new BigUint64Array(bytes.buffer, 0, 1), address: addressOf(bytes) };
}

/** Clears a place and keeps it for a later struct. */
export function givePlace(place: StructPlace): void {
  place.bytes.fill(0);
  free.getOrInsertComputed(place.bytes.byteLength, () => []).push(place);
}
