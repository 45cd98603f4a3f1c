// A slot of packed arrays in the hands of lanes and the copy engine, address by address.

import { assertEquals, assertThrows } from "@std/assert";
import type { PackedArray } from "../../../src/transfer/pack.ts";
import { cutPacked, type PackedCut } from "../../../src/transfer/packed_pieces.ts";

const SLOT = 0x5000n;
const [FIRST, SECOND] = [{}, {}] as [never, never];

function array(allocation: never, address: bigint, byteLength: number): PackedArray {
  return { span: { allocation, address, byteLength }, hostAddress: address + 0x1000_0000n };
}

/** Two neighbours, and an array of another block. */
const ARRAYS = [array(FIRST, 0x7000n, 100), array(FIRST, 0x7064n, 60), array(SECOND, 0x9000n, 8)];

function cut(direction: PackedCut["direction"], slotBytes: number) {
  const pieces = cutPacked(ARRAYS, { direction, largestBytes: 100, takesPadding: false })(
    slotBytes,
  );
  return [...pieces].map((each) => ({
    byteLength: each.byteLength,
    laneTask: each.laneTask(SLOT),
    copies: [...each.copies(SLOT)],
  }));
}

const onHost = (index: number) => ARRAYS[index]?.hostAddress ?? 0n;

Deno.test("cutPacked() gathers the arrays of an upload in a slot, and copies neighbours at once", () => {
  assertEquals(cut("upload", 4096), [{
    byteLength: 168,
    laneTask: {
      operation: "copyEach",
      copies: [
        { destination: SLOT, source: onHost(0), byteLength: 100 },
        { destination: SLOT + 100n, source: onHost(1), byteLength: 60 },
        { destination: SLOT + 256n, source: onHost(2), byteLength: 8 },
      ],
    },
    copies: [
      { destination: 0x7000n, source: SLOT, byteLength: 160 },
      { destination: 0x9000n, source: SLOT + 256n, byteLength: 8 },
    ],
  }]);
});

Deno.test("cutPacked() brings the arrays of a download to a slot, and scatters them", () => {
  assertEquals(cut("download", 4096), [{
    byteLength: 168,
    laneTask: {
      operation: "copyEach",
      copies: [
        { destination: onHost(0), source: SLOT, byteLength: 100 },
        { destination: onHost(1), source: SLOT + 100n, byteLength: 60 },
        { destination: onHost(2), source: SLOT + 256n, byteLength: 8 },
      ],
    },
    copies: [
      { destination: SLOT, source: 0x7000n, byteLength: 160 },
      { destination: SLOT + 256n, source: 0x9000n, byteLength: 8 },
    ],
  }]);
});

Deno.test("cutPacked() has room for the largest array where pieces are smaller", () => {
  const sizes = cut("upload", 64).map(({ copies }) => copies.map(({ byteLength }) => byteLength));
  assertEquals(sizes, [[100], [60], [8]]);
});

Deno.test("cutPacked() says how many arrays a lane failed to copy", () => {
  const pieces = cutPacked(ARRAYS, { direction: "upload", largestBytes: 100, takesPadding: true });
  const { value } = pieces(4096).next();
  assertThrows(
    () => {
      throw value?.laneError();
    },
    Error,
    "Cannot copy 3 arrays",
  );
});
