// Tests for where packed arrays lie in slots, and for how few copies are left.

import { assertEquals } from "@std/assert";
import { Allocation } from "../../../src/memory/allocation.ts";
import { packArrays, type PackedArray } from "../../../src/transfer/pack.ts";
import { openTestDevice } from "../../support/driver.ts";

const SLAB = { slotBytes: 4096, arrayCount: 8, takesPadding: true };

/** Arrays of one block, as [offset, byteLength]; they are never read. */
function arraysOf(places: readonly (readonly [number, number])[]): PackedArray[] {
  using gpu = openTestDevice();
  const { memoryResource: resource, stream } = gpu;
  const request = { kind: "device", byteLength: 65536, resource, stream } as const;
  const allocation = Allocation.create(request);
  const arrays = places.map(([offset, byteLength]) => {
    const span = { allocation, address: allocation.address + BigInt(offset), byteLength };
    return { span, hostAddress: 0n };
  });
  allocation.release();
  return arrays;
}

/** The number of bytes that each copy of each slot moves. */
function runBytes(arrays: readonly PackedArray[], options: typeof SLAB): number[][] {
  return packArrays(arrays, options).map(({ runs }) => runs.map(({ span }) => span.byteLength));
}

Deno.test("packArrays() joins neighbours and the padding between them to one copy", () => {
  assertEquals(runBytes(arraysOf([[0, 100], [256, 300], [768, 8]]), SLAB), [[776]]);
});

Deno.test("packArrays() leaves padding alone that may belong to somebody", () => {
  const arrays = arraysOf([[0, 100], [100, 28], [256, 300]]);
  assertEquals(runBytes(arrays, { ...SLAB, takesPadding: false }), [[128, 300]]);
});

Deno.test("packArrays() keeps what lies further apart in copies of its own", () => {
  assertEquals(runBytes(arraysOf([[0, 100], [1024, 100]]), SLAB), [[100, 100]]);
});

Deno.test("packArrays() keeps the order, also of what lies in reverse", () => {
  const [load] = packArrays(arraysOf([[512, 10], [0, 20]]), SLAB);
  assertEquals(load?.places.map(({ byteLength }) => byteLength), [10, 20]);
  assertEquals(load?.runs.length, 2);
});

Deno.test("packArrays() starts what is no neighbour at a multiple of 256 bytes", () => {
  const [load] = packArrays(arraysOf([[0, 100], [4096, 100], [8192, 100]]), SLAB);
  assertEquals(load?.places.map(({ slotOffset }) => slotOffset), [0, 256, 512]);
});

Deno.test("packArrays() opens a new slot for what does not fit", () => {
  const arrays = arraysOf([[0, 2048], [2048, 2048], [4096, 1]]);
  assertEquals(runBytes(arrays, SLAB), [[4096], [1]]);
});

Deno.test("packArrays() opens a new slot for more arrays than one takes", () => {
  const arrays = arraysOf([[0, 8], [8, 8], [16, 8]]);
  assertEquals(runBytes(arrays, { ...SLAB, arrayCount: 2 }), [[16], [8]]);
});

Deno.test("packArrays() passes over empty arrays", () => {
  assertEquals(runBytes(arraysOf([[0, 0], [0, 5], [256, 0]]), SLAB), [[5]]);
  assertEquals(packArrays([], SLAB), []);
});
