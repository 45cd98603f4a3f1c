// Writes and reads what any buffer holds, by queued copies to and from page-locked memory:
// the one way that every kind of buffer has.

import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import type { GpuBuffer } from "../../src/buffers/gpu_buffer.ts";
import { allocatePinnedBuffer, type PinnedBuffer } from "../../src/buffers/pinned_buffer.ts";
import type { DType } from "../../src/dtype.ts";
import { PinnedHostMemoryResource } from "../../src/memory/pinned_host_memory_resource.ts";
import { defaultStreamOf } from "../../src/order/stream.ts";

/** Writes bytes over a buffer's contents and waits. */
export function writeBytes<D extends DType>(buffer: GpuBuffer<D>, bytes: ArrayLike<number>): void {
  using host = hostFor(buffer);
  new Uint8Array(host.array.buffer).set(bytes);
  buffer.copyFrom(host);
  defaultStreamOf(buffer.context).synchronizeSync();
}

/** Reads a buffer's bytes once what is queued on the default stream is done. */
export function readBytes<D extends DType>(buffer: GpuBuffer<D>): Uint8Array<ArrayBuffer> {
  using host = hostFor(buffer);
  buffer.copyTo(host);
  defaultStreamOf(buffer.context).synchronizeSync();
  return new Uint8Array(new Uint8Array(host.array.buffer));
}

/** Bytes that differ from place to place and from seed to seed. */
export function patternBytes(byteLength: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(byteLength);
  const period = 2 ** 16;
  const end = Math.min(byteLength, period);
  for (let i = 0; i < end; i++) bytes[i] = i * 7 + (i >> 8) + seed;
  for (let made = period; made < byteLength; made *= 2) bytes.copyWithin(made, 0, made);
  return bytes;
}

/** Passes when all elements have one value; millions of them are compared in no time. */
export function assertHoldsOnly(
  array: Uint8Array<ArrayBufferLike> | Float32Array | Int32Array | Uint32Array,
  value: number,
): void {
  const { buffer, byteOffset, byteLength, BYTES_PER_ELEMENT } = array;
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  // Shifted by an element, they are the same bytes.
  const isEven = Buffer.compare(
    bytes.subarray(BYTES_PER_ELEMENT),
    bytes.subarray(0, Math.max(0, byteLength - BYTES_PER_ELEMENT)),
  ) === 0;
  if (array.length === 0 || (array[0] === value && isEven)) return;
  const at = array.findIndex((element) => element !== value);
  throw new Error(`Cannot find ${value} alone: ${array[at]} at ${at} of ${array.length}`);
}

/** Passes when the bytes are the same; millions of them are compared in no time. */
export function assertSameBytes(
  actual: Uint8Array<ArrayBufferLike>,
  expected: Uint8Array<ArrayBufferLike>,
): void {
  if (Buffer.compare(actual, expected) === 0) return;
  assertEquals(actual.byteLength, expected.byteLength);
  const at = actual.findIndex((byte, index) => byte !== expected[index]);
  throw new Error(`Cannot find the same bytes: ${actual[at]} at ${at}, expected ${expected[at]}`);
}

function hostFor<D extends DType>(buffer: GpuBuffer<D>): PinnedBuffer<D> {
  const { context, dtype, shape } = buffer;
  const resource = new PinnedHostMemoryResource({ context });
  return allocatePinnedBuffer({ dtype, shape, resource, stream: defaultStreamOf(context) });
}
