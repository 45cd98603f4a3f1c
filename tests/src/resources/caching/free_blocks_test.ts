// Free blocks are found by size: one that fits when there is one, and nearly the smallest of them.

import { assert, assertEquals } from "@std/assert";
import { Block, UNIT_BYTES } from "../../../../src/resources/caching/block.ts";
import { FreeBlocks } from "../../../../src/resources/caching/free_blocks.ts";
import { testOnDevice } from "../../../support/with_device.ts";

const SEGMENT = { address: 0n, byteLength: 2 ** 40, isSmall: false };
const MAX_UNITS = 2 ** 30;

function blocksOf(unitCounts: readonly number[]): Block[] {
  return unitCounts.map((unitCount, index) =>
    new Block(SEGMENT, { address: BigInt(index) * 2n ** 40n, unitCount })
  );
}

testOnDevice("FreeBlocks.find() gives a block at most 1/16 larger than the best", (gpu) => {
  const free = new FreeBlocks(gpu.stream, { isSmall: false });
  const sizes = [
    1,
    2,
    15,
    16,
    17,
    31,
    32,
    33,
    1000,
    1023,
    1024,
    1100,
    2 ** 20 + 1,
    MAX_UNITS,
  ];
  for (const block of blocksOf(sizes)) free.add(block);
  for (const size of sizes) {
    for (const request of [size - 1, size, size + 1]) {
      const best = sizes.filter((each) => each >= request).at(0);
      const found = free.find(Math.max(request, 1))?.unitCount;
      if (best === undefined) assertEquals(found, undefined);
      else assert(found !== undefined && found >= request && found <= best * 17 / 16);
    }
  }
});

testOnDevice("FreeBlocks.merge() joins the neighbours that are free in the same place", (gpu) => {
  const free = new FreeBlocks(gpu.stream, { isSmall: false });
  const other = new FreeBlocks(gpu.stream, { isSmall: false });
  const [first] = blocksOf([100]);
  if (first === undefined) throw new TypeError("Cannot happen");
  const second = first.split(10);
  const third = second.split(20);
  const fourth = third.split(30);
  free.add(first);
  free.add(third);
  other.add(fourth);
  free.merge(second);
  assertEquals(free.blocks().map(({ unitCount }) => unitCount), [60]);
  assertEquals([free.byteLength, other.byteLength], [60 * UNIT_BYTES, 40 * UNIT_BYTES]);
  assertEquals([first.next, fourth.previous], [fourth, first]);
});

testOnDevice("FreeBlocks.remove() leaves the classes around it alone", (gpu) => {
  const free = new FreeBlocks(gpu.stream, { isSmall: false });
  const blocks = blocksOf([40, 40, 40, 44, 5000]);
  for (const block of blocks) free.add(block);
  const [, middle] = blocks;
  if (middle !== undefined) free.remove(middle);
  assertEquals(free.blocks().map(({ unitCount }) => unitCount), [40, 40, 44, 5000]);
  for (const block of free.blocks()) free.remove(block);
  assertEquals([free.find(1), free.byteLength], [undefined, 0]);
});
