// Typed arrays over blocks of host memory: they show the memory itself, and become empty once it is
// given back.

import { describeValue } from "../words/format.ts";
import type { Allocation } from "./allocation.ts";
import { positionOf } from "./host_memory.ts";
import { type MemoryResource, requireResource } from "./memory_resource.ts";

/** A block that arrays show, and its start in their memory. */
interface ShownBlock {
  readonly allocation: Allocation;
  readonly start: number;
}

/** Blocks by the memory of the arrays that show them: several where parts of it are registered. */
const blocks = new WeakMap<object, readonly ShownBlock[]>();

/** A part of a block of host memory. */
export interface OwnedHostSpan {
  readonly allocation: Allocation;
  /** The GPU's address of its first byte. */
  readonly address: bigint;
  readonly byteLength: number;
}

/** The tokens that typed arrays over blocks keep alive; a collected token releases its block. */
const tokens = new WeakMap<object, object>();

/** Lets a typed array over a block keep the block, as its buffers do. */
export function keepWith(array: object, token: object): void {
  tokens.set(array, token);
}

/**
 * Checks that the CPU can use the memory of a resource, before showing any of it.
 *
 * @throws TypeError when it cannot, or when this is not a memory resource.
 */
export function requireHostMemory(resource: MemoryResource, action: string): void {
  requireResource(resource, `${action} from`);
  if (resource.isHostAccessible) return;
  throw new TypeError(
    `Cannot ${action} from ${describeValue(resource)}: the CPU cannot use its memory; expected a ` +
      `resource of host memory, such as new PinnedHostMemoryResource(gpu)`,
  );
}

/**
 * Shows a block to the CPU without a copy. Call it once for a block: releasing the block detaches the
 * memory, which empties every typed array over it.
 */
export function showToHost(
  allocation: Allocation,
  hostAddress = allocation.address,
): Uint8Array<ArrayBuffer> {
  const memory = memoryOf(allocation, hostAddress);
  allocation.emptyOnRelease(memory);
  const bytes = new Uint8Array(memory);
  noteOwner(allocation, bytes);
  return bytes;
}

/** Returns the memory of a block; frees the block when Deno does not let the program see it. */
function memoryOf(allocation: Allocation, address: bigint): ArrayBuffer {
  try {
    return memoryAt(address, allocation.byteLength);
  } catch (error) {
    allocation.release();
    throw error;
  }
}

/** Shows memory to the CPU without a copy; empty at address 0, where blocks of 0 bytes are. */
export function memoryAt(address: bigint, byteLength: number): ArrayBuffer {
  const pointer = Deno.UnsafePointer.create(address);
  if (pointer === null) return new ArrayBuffer(0);
  return Deno.UnsafePointerView.getArrayBuffer(pointer, byteLength);
}

/** Notes that a block is the memory that an array shows. */
export function noteOwner(allocation: Allocation, bytes: Uint8Array<ArrayBufferLike>): void {
  const { memory, start } = positionOf(bytes);
  const others = blocks.get(memory)?.filter(({ allocation }) => allocation.canBeKept) ?? [];
  blocks.set(memory, [...others, { allocation, start }]);
}

/** Finds the block, live or not, that the bytes of an array belong to; undefined for ordinary memory. */
export function ownerOf(bytes: Uint8Array<ArrayBufferLike>): Allocation | undefined {
  return blocks.get(bytes.buffer)?.at(-1)?.allocation;
}

/** Returns whether there may be a block in the memory of an array: most are ordinary memory. */
export function mayBeOwned({ buffer }: Uint8Array<ArrayBufferLike>): boolean {
  return blocks.has(buffer) || blocks.has(SharedArrayBuffer); // which stands for all shared memory
}

/** Finds the block that the bytes of an array belong to now; undefined for ordinary memory. */
export function ownedSpan(bytes: Uint8Array<ArrayBufferLike>): OwnedHostSpan | undefined {
  return ownedParts(bytes).find(({ byteLength }) => byteLength === bytes.byteLength);
}

/** Finds the parts of an array that lie in blocks: all of it, or what is registered. */
export function ownedParts(bytes: Uint8Array<ArrayBufferLike>): OwnedHostSpan[] {
  const { memory, start: from } = positionOf(bytes);
  const parts: OwnedHostSpan[] = [];
  for (const { allocation, start: first } of blocks.get(memory) ?? []) {
    const start = Math.max(from, first);
    const end = Math.min(from + bytes.byteLength, first + allocation.byteLength);
    if (start >= end || !allocation.canBeKept) continue;
    const address = allocation.address + BigInt(start - first);
    parts.push({ allocation, address, byteLength: end - start });
  }
  return parts;
}

/** Returns whether only parts of an array are registered; `owned` is the block that it lies in as a whole. */
export function isMixed(
  bytes: Uint8Array<ArrayBufferLike>,
  owned: OwnedHostSpan | undefined,
): boolean {
  return owned === undefined && ownedParts(bytes).length > 0;
}
