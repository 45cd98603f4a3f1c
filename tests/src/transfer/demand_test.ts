// When page-locked memory and lanes pay off: by the number of transfers, and by their bytes.

import { assertEquals } from "@std/assert";
import { Demand } from "../../../src/transfer/demand.ts";

const GIB = 2 ** 30;

Deno.test("Demand.paysForRing comes with enough bytes, however many transfers they take", () => {
  const demand = new Demand(100);
  const seen = [60, 39, 1].map((byteLength) => {
    demand.add(byteLength);
    return demand.paysForRing;
  });
  assertEquals(seen, [false, false, true]);
});

Deno.test("Demand.paysForLanes() asks less of a caller that blocks than of one that lends threads", () => {
  const demand = new Demand(100);
  demand.add(100);
  assertEquals(demand.paysForLanes({ canLend: false, isShared: false }), true);
  assertEquals(demand.paysForLanes({ canLend: true, isShared: false }), false);
  for (let count = 1; count < 32; count++) demand.add(0);
  assertEquals(demand.paysForLanes({ canLend: true, isShared: false }), true);
});

for (
  const { isShared, bytes } of [{ isShared: false, bytes: 16 * GIB }, {
    isShared: true,
    bytes: 2 * GIB,
  }]
) {
  Deno.test(`Demand.paysForLanes() takes ${bytes / GIB} GiB for many transfers, ${isShared ? "several devices" : "one device"} at work`, () => {
    const demand = new Demand(100);
    demand.add(bytes - 1);
    assertEquals(demand.paysForLanes({ canLend: true, isShared }), false);
    demand.add(1);
    assertEquals(demand.paysForLanes({ canLend: true, isShared }), true);
  });
}
