// 60 random programs whose memory sleeps now and then, with transfers in many pieces and in one.

import { assertEquals } from "@std/assert";
import { runSeeds, share } from "../support/random.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { TINY_LIMITS, TinyEngine } from "../support/tiny_engine.ts";
import { checkNothingLeft, testOnDevice } from "../support/with_device.ts";
import { SleepProgram } from "./sleep_program.ts";

/** Transfers of a block take many slots. */
const LIMITS = { ...TINY_LIMITS, slotBytes: 512, minRingBytes: 1000, maxCallBytes: 400 };

for (const hasLanes of [true, false]) {
  const name = `memory that sleeps loses no byte, with ${hasLanes ? "lanes" : "lent threads"}`;
  testOnDevice(name, async (gpu) => {
    using folder = new TemporaryFolder();
    using _engine = new TinyEngine(gpu, LIMITS, { hasLanes });
    await runSeeds(share(30), async (run) => {
      await checkNothingLeft(gpu, () => new SleepProgram(gpu, run, folder).run(30));
      assertEquals(gpu.context.ledger.asleepBytes, 0);
    });
  });
}
