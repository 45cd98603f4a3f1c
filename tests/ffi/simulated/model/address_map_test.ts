// The map from addresses to blocks, compared with a plain list over many random steps.
// Host addresses come back after a free, so old and new blocks overlap in any way.

import { assertEquals } from "@std/assert";
import { AddressMap, type Ranged } from "../../../../ffi/simulated/model/address_map.ts";
import { Random } from "../../../support/random.ts";

Deno.test("AddressMap.at() agrees with a search through all blocks", () => {
  const random = new Random(1);
  const map = new AddressMap<Ranged>();
  let live: Ranged[] = [];
  const holds = (block: Ranged, address: number) =>
    block.address <= address && address < block.address + block.byteLength;
  for (let step = 0; step < 20_000; step++) {
    const block = { address: random.below(2000), byteLength: 1 + random.below(20) };
    const isFree = !live.some((other) =>
      other.address < block.address + block.byteLength &&
      block.address < other.address + other.byteLength
    );
    assertEquals(map.overlaps(block.address, block.byteLength), !isFree);
    if (isFree) {
      map.add(block);
      live.push(block);
    } else {
      const doomed = live[random.below(live.length)];
      if (doomed === undefined) continue;
      map.delete(doomed);
      live = live.filter((other) => other !== doomed);
    }
    const address = random.below(2000);
    assertEquals(map.at(address), live.find((other) => holds(other, address)));
  }
  assertEquals(map.size, live.length);
});

Deno.test("AddressMap iterates in ascending order", () => {
  const map = new AddressMap<Ranged>();
  for (const address of [30, 10, 20]) map.add({ address, byteLength: 5 });
  assertEquals([...map].map((block) => block.address), [10, 20, 30]);
});
