// Tests for where packed arrays lie in slots, and for how few copies are left.

import { assertEquals } from "@std/assert";
import { Allocation } from "../../../src/memory/allocation.ts";
import { type PackPiece, packPieces } from "../../../src/transfer/pack.ts";
import { openTestDevice } from "../../support/driver.ts";

const SLAB = { slotBytes: 4096, pieceCount: 8, takesPadding: true };

/** Pieces of one block, as [offset, byteLength]; they are never read. */
function piecesOf(places: readonly (readonly [number, number])[]): PackPiece[] {
  using gpu = openTestDevice();
  const { memoryResource: resource, stream } = gpu;
  const request = { kind: "device", byteLength: 65536, resource, stream } as const;
  const allocation = Allocation.create(request);
  const pieces = places.map(([offset, byteLength]) => {
    const span = { allocation, address: allocation.address + BigInt(offset), byteLength };
    return { span, hostAddress: 0n };
  });
  allocation.release();
  return pieces;
}

/** How many bytes each copy of each slot moves. */
function runBytes(pieces: readonly PackPiece[], options: typeof SLAB): number[][] {
  return packPieces(pieces, options).map(({ runs }) => runs.map(({ span }) => span.byteLength));
}

Deno.test("packPieces() joins neighbours and the padding between them to one copy", () => {
  assertEquals(runBytes(piecesOf([[0, 100], [256, 300], [768, 8]]), SLAB), [[776]]);
});

Deno.test("packPieces() leaves padding alone that may belong to somebody", () => {
  const pieces = piecesOf([[0, 100], [100, 28], [256, 300]]);
  assertEquals(runBytes(pieces, { ...SLAB, takesPadding: false }), [[128, 300]]);
});

Deno.test("packPieces() keeps what lies further apart in copies of its own", () => {
  assertEquals(runBytes(piecesOf([[0, 100], [1024, 100]]), SLAB), [[100, 100]]);
});

Deno.test("packPieces() keeps the order, also of what lies in reverse", () => {
  const [load] = packPieces(piecesOf([[512, 10], [0, 20]]), SLAB);
  assertEquals(load?.pieces.map(({ byteLength }) => byteLength), [10, 20]);
  assertEquals(load?.runs.length, 2);
});

Deno.test("packPieces() starts what is no neighbour at a multiple of 256 bytes", () => {
  const [load] = packPieces(piecesOf([[0, 100], [4096, 100], [8192, 100]]), SLAB);
  assertEquals(load?.pieces.map(({ slotOffset }) => slotOffset), [0, 256, 512]);
});

Deno.test("packPieces() opens a new slot for what does not fit", () => {
  const pieces = piecesOf([[0, 2048], [2048, 2048], [4096, 1]]);
  assertEquals(runBytes(pieces, SLAB), [[4096], [1]]);
});

Deno.test("packPieces() opens a new slot for more pieces than one takes", () => {
  const pieces = piecesOf([[0, 8], [8, 8], [16, 8]]);
  assertEquals(runBytes(pieces, { ...SLAB, pieceCount: 2 }), [[16], [8]]);
});

Deno.test("packPieces() passes over empty arrays", () => {
  assertEquals(runBytes(piecesOf([[0, 0], [0, 5], [256, 0]]), SLAB), [[5]]);
  assertEquals(packPieces([], SLAB), []);
});
