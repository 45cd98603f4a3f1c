// Checks the speeds that a PCI Express link cannot pass.

import { assertAlmostEquals, assertEquals } from "@std/assert";
import { pcieBus } from "../../../src/measure/bus.ts";

for (
  const [generation, lanes, speed] of [[1, 16, 4], [2, 16, 8], [3, 16, 15.75], [4, 16, 31.5], [
    5,
    16,
    63,
  ], [5, 8, 31.5]] as const
) {
  Deno.test(`pcieBus() knows generation ${generation} with ${lanes} lanes`, () => {
    const bus = pcieBus(generation, lanes);
    assertEquals(bus.name, `PCIe ${generation}.0 x${lanes}`);
    assertAlmostEquals(bus.theoreticalGigabytesPerSecond ?? 0, speed, 0.02);
  });
}

for (const [generation, lanes] of [[0, 16], [9, 16], [5, 0], [5, -1]] as const) {
  Deno.test(`pcieBus() does not guess at generation ${generation} with ${lanes} lanes`, () => {
    assertEquals(pcieBus(generation, lanes), {
      name: "unknown",
      theoreticalGigabytesPerSecond: null,
    });
  });
}
