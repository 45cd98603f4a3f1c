// Memory for the structs that other libraries get: it stays for the life of the process and is zero
// when it is not used, so that a pointer that came too late finds no array.

import { roundUp } from "../../ffi/alignment.ts";
import { addressOf } from "../memory/host_memory.ts";

/** Sizes are multiples of it: a struct with up to 11 axes. */
const STEP_BYTES = 256;

/** A place for one struct and what it points to. */
export interface StructPlace {
  /** The memory. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Its first 8 bytes. */
  readonly firstWord: BigUint64Array<ArrayBuffer>;
  /** The address of its first byte. */
  readonly address: bigint;
}

/** Places that are free, by their size; the one that was free for longest comes first. */
const free = new Map<number, StructPlace[]>();

/** Takes a place of zeros for so many bytes. */
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
  const places = free.get(place.bytes.byteLength);
  if (places === undefined) free.set(place.bytes.byteLength, [place]);
  else places.push(place);
}
