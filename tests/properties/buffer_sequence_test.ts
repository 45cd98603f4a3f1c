// 2,000 random sequences of allocate, view, copy, fill and dispose against plain arrays.
// The simulated driver also throws when two streams touch the same bytes in no order.

import { assertEquals } from "@std/assert";
import { IN_SANITIZER } from "../support/driver.ts";
import { runSeeds, share } from "../support/random.ts";
import { CaughtWarnings } from "../support/warnings.ts";
import { liveNames } from "../support/with_device.ts";
import { BufferSequence } from "./buffer_sequence.ts";
import { openPlaces } from "./places.ts";

const SEQUENCE_COUNT = share(IN_SANITIZER ? 200 : 2000);
const STEP_COUNT = 24;

Deno.test("GpuBuffer holds what plain arrays hold, in any sequence of operations", async () => {
  using stack = new DisposableStack();
  const places = openPlaces(2, stack);
  const before = places.map(({ gpu }) => liveNames(gpu));
  using warnings = new CaughtWarnings();
  await runSeeds(SEQUENCE_COUNT, async ({ random }) => {
    await new BufferSequence(random, places).run(STEP_COUNT);
    assertEquals(warnings.texts, [], "memory could not be given back");
  });
  assertEquals(places.map(({ gpu }) => liveNames(gpu)), before);
});
