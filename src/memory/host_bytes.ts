// A block of host memory as the CPU sees it: the memory itself, and empty once it is given back.

import type { Allocation } from "./allocation.ts";

/** Blocks by the array buffer that shows them, and where in it they start. */
const blocks = new WeakMap<ArrayBufferLike, { allocation: Allocation; byteOffset: number }>();

/** A part of a block of host memory. */
export interface OwnedHostSpan {
  /** The block. */
  readonly allocation: Allocation;
  /** Where the part starts, as the GPU sees it. */
  readonly address: bigint;
  /** Its size in bytes. */
  readonly byteLength: number;
}

/** Memory that the kit owns, as the CPU sees it. */
export interface OwnedHostBytes {
  /** The whole block. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What every typed array over the block refers to. */
  readonly memory: ArrayBuffer;
}

/**
 * Shows a block to the CPU without a copy, once for a block: the memory is emptied, and with it every
 * typed array over it, when the block is released.
 */
export function showToHost(
  allocation: Allocation,
  hostAddress = allocation.address,
): OwnedHostBytes {
  const pointer = Deno.UnsafePointer.create(hostAddress);
  const memory = pointer === null
    ? new ArrayBuffer(0)
    : Deno.UnsafePointerView.getArrayBuffer(pointer, allocation.byteLength);
  allocation.emptyOnRelease(memory);
  const bytes = new Uint8Array(memory);
  noteOwner(allocation, bytes);
  return { bytes, memory };
}

/** Notes that a block is the memory that an array shows. */
export function noteOwner(allocation: Allocation, bytes: Uint8Array<ArrayBufferLike>): void {
  blocks.set(bytes.buffer, { allocation, byteOffset: bytes.byteOffset });
}

/** Finds the live block that the bytes of an array belong to; undefined for ordinary memory. */
export function ownedSpan(bytes: Uint8Array<ArrayBufferLike>): OwnedHostSpan | undefined {
  const block = blocks.get(bytes.buffer);
  if (block === undefined || block.allocation.released) return undefined;
  const { allocation } = block;
  const { byteLength } = bytes;
  const offset = bytes.byteOffset - block.byteOffset;
  if (offset < 0 || offset + byteLength > allocation.byteLength) return undefined;
  return { allocation, address: allocation.address + BigInt(offset), byteLength };
}
