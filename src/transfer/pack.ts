// The places of many small arrays in a page-locked slot, and the few copies that then move all of
// them. Arithmetic only: nothing is copied here.

import { roundUp } from "../../ffi/alignment.ts";
import type { MemorySpan } from "../copies/copy.ts";

/** Alignment of arrays, the same as that of device memory: the GPU reads such places fastest. */
const PACK_ALIGNMENT_BYTES = 256;

/** One array, and the device memory on its other side. */
export interface PackedArray {
  /** The device's side. */
  readonly span: MemorySpan;
  /** Address of the host's side, of the same size. */
  readonly hostAddress: bigint;
}

/** An array's place in a slot. */
export interface SlotPlace {
  /** Address of the array. */
  readonly hostAddress: bigint;
  /** Number of bytes. */
  readonly byteLength: number;
  /** Offset in the slot, in bytes. */
  readonly slotOffset: number;
}

/** Bytes that one copy moves between a slot and the device. */
export interface PackedRun {
  /** The device's side. */
  readonly span: MemorySpan;
  /** Offset in the slot, in bytes. */
  readonly slotOffset: number;
}

/** The load of one slot. */
export interface SlotLoad {
  /** The arrays in it, by their places. */
  readonly places: readonly SlotPlace[];
  /** The copies, in the order of the arrays. */
  readonly runs: readonly PackedRun[];
  /** Number of bytes of all arrays. */
  readonly byteLength: number;
}

/** Options for packing. */
export interface PackOptions {
  /** Bytes of a slot; no array has more. */
  readonly slotBytes: number;
  /** Most arrays in a slot. */
  readonly arrayCount: number;
  /** Whether a copy may also move the padding between neighbours, which holds no other data. */
  readonly takesPadding: boolean;
}

/** Packs arrays into slots, in their order; neighbours on the device become one copy. */
export function packArrays(arrays: readonly PackedArray[], options: PackOptions): SlotLoad[] {
  const loads: OpenLoad[] = [];
  for (const array of arrays) {
    if (array.span.byteLength === 0) continue;
    if (loads.at(-1)?.take(array, options) === true) continue;
    const load = new OpenLoad();
    load.take(array, options);
    loads.push(load);
  }
  return loads;
}

/** Rounds up to the next place where an array may start. */
export function alignPacked(offset: number): number {
  return roundUp(offset, PACK_ALIGNMENT_BYTES);
}

/** A load that arrays are still added to. */
class OpenLoad implements SlotLoad {
  readonly places: SlotPlace[] = [];
  readonly runs: PackedRun[] = [];
  byteLength = 0;
  #last: MemorySpan | undefined;
  /** Offset in the slot at which the last array ends. */
  #end = 0;

  /** Adds an array behind the others; false when it does not fit. */
  take(
    { span, hostAddress }: PackedArray,
    { slotBytes, arrayCount, takesPadding }: PackOptions,
  ): boolean {
    const padding = paddingBetween(this.#last, span);
    const slotOffset = padding === undefined ? alignPacked(this.#end) : this.#end + padding;
    const { byteLength } = span;
    const end = slotOffset + byteLength;
    if (end > slotBytes || this.places.length === arrayCount) return false;
    this.places.push({ hostAddress, byteLength, slotOffset });
    this.byteLength += byteLength;
    this.#last = span;
    this.#end = end;
    const run = this.runs.at(-1);
    if (run === undefined || padding === undefined || (padding > 0 && !takesPadding)) {
      this.runs.push({ span, slotOffset });
    } else {
      const runSpan = { ...run.span, byteLength: end - run.slotOffset };
      this.runs[this.runs.length - 1] = { span: runSpan, slotOffset: run.slotOffset };
    }
    return true;
  }
}

/**
 * Bytes between neighbours on the device, which keep that distance in the slot, so that one copy
 * can take both; undefined when they are no neighbours.
 */
export function paddingBetween(
  first: MemorySpan | undefined,
  second: MemorySpan,
): number | undefined {
  if (first === undefined || first.allocation !== second.allocation) return undefined;
  const padding = Number(second.address - first.address) - first.byteLength;
  return padding >= 0 && padding < PACK_ALIGNMENT_BYTES ? padding : undefined;
}
