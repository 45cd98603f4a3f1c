// 1,500 random programs on buffers of every element type and kind, against plain bytes that change in
// the order of the calls.

import { assertEquals } from "@std/assert";
import { adoptEngine } from "../../src/transfer/context_engine.ts";
import { TransferEngine } from "../../src/transfer/engine.ts";
import { IN_SANITIZER } from "../support/driver.ts";
import { runSeeds, share } from "../support/random.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { TINY_LIMITS } from "../support/tiny_engine.ts";
import { CaughtWarnings } from "../support/warnings.ts";
import { liveNames, withDevice } from "../support/with_device.ts";
import { placeOn } from "./places.ts";
import { TypedProgram } from "./typed_program.ts";

const PROGRAM_COUNT = share(IN_SANITIZER ? 50 : 1500, { parts: 50 });
const CALL_COUNT = 24;

/** Transfers of 256 bytes go through slots of 512, by lanes, between turns of the event loop. */
const LIMITS = {
  ...TINY_LIMITS,
  slotBytes: 512,
  slotCount: 8,
  laneCount: 3,
  sharedLaneCount: 3,
  ringFromBytes: 256,
  minRingBytes: 256,
  maxCallBytes: 256,
};

for (const isTiny of [false, true]) {
  const way = isTiny ? "in pieces" : "at once";
  Deno.test(`Elements of every type, moved ${way}, are what plain bytes are`, () => run(isTiny));
}

function run(isTiny: boolean): Promise<void> {
  return withDevice(async (gpu) => {
    if (isTiny) {
      adoptEngine(gpu.context, new TransferEngine(gpu.context, LIMITS)).startLanes();
    }
    using stack = new DisposableStack();
    const place = placeOn(gpu, stack);
    const before = liveNames(gpu);
    using warnings = new CaughtWarnings();
    await runSeeds(PROGRAM_COUNT / 2, async (run) => {
      using folder = new TemporaryFolder();
      await new TypedProgram(run, place, folder).run(CALL_COUNT);
      assertEquals(warnings.texts, [], "the program was warned");
      assertEquals(liveNames(gpu), before, "the program left something live");
    });
  });
}
