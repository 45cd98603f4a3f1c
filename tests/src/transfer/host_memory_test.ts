// Checks which JavaScript memory a transfer accepts, before any address is taken.

import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { bytesOf, type HostMemory } from "../../../src/transfer/host_memory.ts";

Deno.test("bytesOf() shows a typed array's own bytes, offset included", () => {
  const buffer = new ArrayBuffer(64);
  const bytes = bytesOf(new Float32Array(buffer, 8, 4), "upload");
  assertStrictEquals(bytes.buffer, buffer);
  assertEquals([bytes.byteOffset, bytes.byteLength], [8, 16]);
});

const ACCEPTED: Record<string, HostMemory> = {
  "an ArrayBuffer": new ArrayBuffer(8),
  "a SharedArrayBuffer": new SharedArrayBuffer(8),
  "a view of shared memory": new Int16Array(new SharedArrayBuffer(8)),
  "a DataView": new DataView(new ArrayBuffer(16), 4, 8),
  "clamped bytes": new Uint8ClampedArray(8),
  "64-bit integers": new BigInt64Array(1),
};

for (const [name, memory] of Object.entries(ACCEPTED)) {
  Deno.test(`bytesOf() takes ${name}`, () => {
    assertEquals(bytesOf(memory, "upload").byteLength, 8);
  });
}

function detached(): Uint8Array<ArrayBuffer> {
  const array = new Uint8Array(8);
  array.buffer.transfer();
  return array;
}

const REFUSED: Record<string, [memory: () => unknown, message: string]> = {
  "a detached array": [detached, "Cannot upload: the array's memory was detached"],
  "a detached buffer": [() => detached().buffer, "was detached"],
  "a resizable buffer": [() => new ArrayBuffer(8, { maxByteLength: 16 }), "slice() it"],
  "a view of a resizable buffer": [
    () => new Uint8Array(new ArrayBuffer(8, { maxByteLength: 16 }), 0, 4),
    "slice() it",
  ],
  "growable shared memory": [
    () => new Uint8Array(new SharedArrayBuffer(8, { maxByteLength: 16 })),
    "slice() it",
  ],
  "an ordinary array": [() => [1, 2, 3], "expected a typed array or an ArrayBuffer"],
  "a string": [() => "bytes", "expected a typed array or an ArrayBuffer"],
  "null": [() => null, "expected a typed array or an ArrayBuffer"],
  "undefined": [() => undefined, "expected a typed array or an ArrayBuffer"],
};

for (const [name, [memory, message]] of Object.entries(REFUSED)) {
  Deno.test(`bytesOf() refuses ${name}`, () => {
    assertThrows(() => bytesOf(memory() as HostMemory, "upload"), TypeError, message);
  });
}
