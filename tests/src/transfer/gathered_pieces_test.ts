// Pieces of a file whose bytes lie in many places: every byte once, in the order of the file, and no
// more copies than there have to be.

import { assert, assertEquals } from "@std/assert";
import type { Allocation } from "../../../src/memory/allocation.ts";
import { cutGathered, type FilePart } from "../../../src/transfer/gathered_pieces.ts";
import type { Piece } from "../../../src/transfer/ring_transfer.ts";
import { Random } from "../../support/random.ts";

const TARGET = { descriptor: 7, path: "/file" };
const SLOT = 1n << 40n;

/** Stands for a block of memory; pieces only ask whether two are the same. */
const [first, second] = [{}, {}] as [Allocation, Allocation];

function part(
  [allocation, address, byteLength]: [Allocation, number, number],
  fileOffset: number,
): FilePart {
  return { span: { allocation, address: BigInt(address), byteLength }, fileOffset };
}

function cut(parts: readonly FilePart[], pieceBytes: number): Piece[] {
  return [...Iterator.from(cutGathered(parts, TARGET)(pieceBytes))];
}

Deno.test("cutGathered() fills a piece from many places, and writes it at once", () => {
  const pieces = cut([part([first, 100, 3], 8), part([second, 50, 2], 11)], 64);
  assertEquals(pieces.map(({ byteLength }) => byteLength), [5]);
  assertEquals(pieces[0]?.copies(SLOT), [
    { destination: SLOT, source: 100n, byteLength: 3 },
    { destination: SLOT + 3n, source: 50n, byteLength: 2 },
  ]);
  assertEquals(pieces[0]?.laneTask(SLOT), {
    operation: "write",
    destination: 7n,
    source: SLOT,
    byteLength: 5,
    fileOffset: 8,
  });
  assertEquals(
    pieces[0]?.laneError().message.startsWith("Cannot write 5 bytes at 8 of /file"),
    true,
  );
});

Deno.test("cutGathered() makes one copy of neighbours in one block, and never of two blocks", () => {
  const parts = [
    part([first, 100, 3], 0),
    part([first, 103, 3], 3),
    part([second, 106, 3], 6),
    part([second, 120, 3], 9),
  ];
  const [piece] = cut(parts, 64);
  assertEquals(piece?.copies(0n).map(({ source, byteLength }) => [source, byteLength]), [
    [100n, 6],
    [106n, 3],
    [120n, 3],
  ]);
});

Deno.test("cutGathered() begins a piece where one is full, where the file has a gap, and after 1,024 copies", () => {
  const full = cut([part([first, 0, 10], 0), part([second, 0, 3], 10)], 4);
  assertEquals(full.map(({ byteLength }) => byteLength), [4, 4, 4, 1]);
  const gap = cut([part([first, 0, 2], 0), part([second, 0, 2], 5)], 64);
  assertEquals(gap.map(({ byteLength }) => byteLength), [2, 2]);
  const many = Array.from({ length: 1500 }, (_, i) => part([first, 2 * i, 1], i));
  assertEquals(cut(many, 1 << 20).map(({ byteLength }) => byteLength), [1024, 476]);
});

Deno.test("cutGathered() carries every byte of random parts once, in the order of the file", () => {
  const random = new Random(0xf11e);
  for (let round = 0; round < 200; round++) {
    const parts = randomParts(random);
    const file: string[] = [];
    for (const piece of cut(parts, 1 + random.below(40))) carry(piece, file);
    const expected: string[] = [];
    for (const { span: { allocation, address, byteLength }, fileOffset } of parts) {
      for (let i = 0; i < byteLength; i++) {
        expected[fileOffset + i] = nameOf(allocation, Number(address) + i);
      }
    }
    assertEquals(file, expected);
  }

  function carry(piece: Piece, file: string[]): void {
    const slot: string[] = [];
    for (const { destination, source, byteLength } of piece.copies(0n)) {
      for (let i = 0; i < byteLength; i++) {
        slot[Number(destination) + i] = blockAt(Number(source) + i);
      }
    }
    assertEquals(slot.length, piece.byteLength);
    const task = piece.laneTask(0n);
    assert(task.operation === "write");
    for (const [i, byte] of slot.entries()) {
      assertEquals(file[task.fileOffset + i], undefined);
      file[task.fileOffset + i] = byte;
    }
  }
});

/** The second block begins where the first one ends, at 1,000. */
function randomParts(random: Random): FilePart[] {
  const parts: FilePart[] = [];
  let fileOffset = random.below(10);
  let address = random.below(100);
  for (let count = random.below(12); count > 0; count--) {
    const byteLength = random.below(30);
    const allocation = address < 1000 ? first : second;
    const end = address + byteLength;
    if (address < 1000 && end > 1000) break;
    parts.push(part([allocation, address, byteLength], fileOffset));
    fileOffset += byteLength + (random.below(4) === 0 ? random.below(9) : 0);
    address = random.below(2) === 0 ? end : random.below(1900);
  }
  return parts;
}

function nameOf(allocation: Allocation, address: number): string {
  return `${allocation === first ? "first" : "second"} ${address}`;
}

function blockAt(address: number): string {
  return nameOf(address < 1000 ? first : second, address);
}
