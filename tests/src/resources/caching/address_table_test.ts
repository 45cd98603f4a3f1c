// The table of blocks does what a Map would, through growth, collisions and removals in any order.

import { assertEquals } from "@std/assert";
import { AddressTable } from "../../../../src/resources/caching/address_table.ts";
import { Block } from "../../../../src/resources/caching/block.ts";

const SEGMENT = { address: 0n, byteLength: 2 ** 21, isSmall: true };

function blockAt(address: bigint): Block {
  return new Block(SEGMENT, { address, unitCount: 1 });
}

Deno.test("AddressTable.take() finds what add() put in, once", () => {
  const table = new AddressTable();
  const block = blockAt(0x7f00_0000_0200n);
  table.add(block);
  assertEquals([table.take(0x7f00_0000_0300), table.count], [undefined, 1]);
  assertEquals([table.take(block.position), table.count], [block, 0]);
  assertEquals(table.take(block.position), undefined);
});

Deno.test("AddressTable.take() agrees with a Map over 100,000 random steps", () => {
  const table = new AddressTable();
  const map = new Map<number, Block>();
  let state = 12345;
  const draw = () => {
    state = Math.imul(state, 1103515245) + 12345 & 0x7fffffff;
    return state >> 8;
  };
  for (let step = 0; step < 100_000; step++) {
    // Few distinct addresses, far apart and next to each other, so that they meet often.
    const address = BigInt(draw() % 3) * 2n ** 45n + BigInt(draw() % 700) * 256n;
    const position = Number(address);
    if (map.has(position)) {
      assertEquals(table.take(position), map.get(position));
      map.delete(position);
    } else {
      const block = blockAt(address);
      table.add(block);
      map.set(position, block);
    }
    assertEquals(table.count, map.size);
  }
  for (const [position, block] of map) assertEquals(table.take(position), block);
  assertEquals(table.count, 0);
});
