// 2,000 random sequences of allocate, view, copy, fill and dispose against plain arrays.
// The simulated driver also throws when two streams touch the same bytes in no order.

import { assertEquals } from "@std/assert";
import { CudaDevice } from "../../src/device/device.ts";
import { IN_SANITIZER, testDriver } from "../support/driver.ts";
import { Random, testSeed } from "../support/random.ts";
import { CaughtWarnings } from "../support/warnings.ts";
import { liveNames } from "../support/with_device.ts";
import { BufferSequence, type Place } from "./buffer_sequence.ts";

const SEQUENCE_COUNT = IN_SANITIZER ? 200 : 2000;
const STEP_COUNT = 24;

Deno.test("GpuBuffer holds what plain arrays hold, in any sequence of operations", async () => {
  const seed = testSeed();
  console.log(`seed ${seed}; run it again with VRAMKIT_TEST_SEED=${seed}`);
  const driver = testDriver();
  using stack = new DisposableStack();
  const places = Array.from({ length: Math.min(2, CudaDevice.count({ driver })) }, (_, ordinal) => {
    const gpu = stack.use(CudaDevice.open(ordinal, { driver }));
    const streams = [gpu.stream, stack.use(gpu.createStream()), stack.use(gpu.createStream())];
    return { gpu, streams } satisfies Place;
  });
  const before = places.map(({ gpu }) => liveNames(gpu));
  using warnings = new CaughtWarnings();
  for (let index = 0; index < SEQUENCE_COUNT; index++) {
    const sequence = new BufferSequence(new Random(seed + index), places);
    try {
      await sequence.run(STEP_COUNT);
      assertEquals(warnings.texts, [], "memory could not be given back");
    } catch (cause) {
      throw new Error(`sequence ${index} of seed ${seed} went wrong`, { cause });
    }
  }
  assertEquals(places.map(({ gpu }) => liveNames(gpu)), before);
});
