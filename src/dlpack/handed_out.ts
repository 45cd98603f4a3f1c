// The structs that other libraries hold, by address, and how they end. The deleter is a function of
// the C library that clears memory: any thread may call it, with any lock held, and nothing runs in
// JavaScript. The device notices the cleared struct when it next allocates, frees or waits.

import { roundUp } from "../../ffi/alignment.ts";
import { functionAddress } from "../../ffi/loader.ts";
import type { Context } from "../driver/context.ts";
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

/**
 * Free places by size; the one that has been free longest comes first. They live as long as the process and
 * are zero, so that a stale pointer finds no array.
 */
const free = new Map<number, StructPlace[]>();

/** Takes a zeroed place for this many bytes. */
export function takePlace(byteLength: number): StructPlace {
  const size = roundUp(byteLength, STEP_BYTES);
  const known = free.get(size)?.shift();
  if (known !== undefined) return known;
  const bytes = new Uint8Array(size);
  return { bytes, firstWord: new BigUint64Array(bytes.buffer, 0, 1), address: addressOf(bytes) };
}

/** A struct that is in use, and what to do at its end. */
interface HandedOut {
  /** Its memory, whose first 8 bytes are not all zero. */
  readonly place: StructPlace;
  readonly context: Context;
  readonly letGo: () => void;
}

const structs = new Map<bigint, HandedOut>();

/** Structs by context; a context is watched as long as it has some. */
const watched = new Map<Context, Set<HandedOut>>();

/** The number of structs to check at a time, so that a check takes less than a microsecond. */
const MAX_STRUCTS_CHECKED = 16;

/** Adds a struct, which {@link endStruct} ends. */
export function addStruct(struct: HandedOut): void {
  structs.set(struct.place.address, struct);
  const known = watched.get(struct.context);
  if (known !== undefined) {
    known.add(struct);
    return;
  }
  const own = new Set([struct]);
  watched.set(struct.context, own);
  watch(struct.context, own);
}

/** Returns the context of the array of a struct; undefined for another library's struct. */
export function handedOutBy(address: bigint): Context | undefined {
  return structs.get(address)?.context;
}

/** Ends a struct and releases its array. Returns false when none is in use at that address. */
export function endStruct(address: bigint): boolean {
  const struct = structs.get(address);
  if (struct === undefined) return false;
  structs.delete(address);
  watched.get(struct.context)?.delete(struct);
  const { bytes } = struct.place;
  bytes.fill(0);
  free.getOrInsertComputed(bytes.byteLength, () => []).push(struct.place);
  struct.letGo();
  return true;
}

let deleter: bigint | undefined;

/**
 * The address of the function that ends a struct: `int sigemptyset(sigset_t *set)`, which sets the
 * first 8 bytes at least, and 128 at most, to zero.
 *
 * @throws LibraryError on systems other than Linux.
 */
export function deleterAddress(): bigint {
  return deleter ??= functionAddress("sigemptyset");
}

/** Returns whether a library has called the deleter. */
function isCleared({ place }: HandedOut): boolean {
  return place.firstWord[0] === 0n;
}

/** Makes a device check its structs as long as it has some. */
function watch(context: Context, own: Set<HandedOut>): void {
  context.defer({
    isDue() {
      let looks = 0;
      for (const struct of own) {
        if (isCleared(struct)) return true;
        if (++looks > MAX_STRUCTS_CHECKED) return false;
        own.delete(struct); // others are looked at next time
        own.add(struct);
      }
      return own.size === 0;
    },
    wait() {},
    run() {
      for (const struct of [...own]) if (isCleared(struct)) endStruct(struct.place.address);
      if (own.size > 0) watch(context, own);
      else watched.delete(context);
    },
  });
}
