// 2,000 random programs whose calls are awaited or not, against plain arrays that change in the order
// of the calls: on one device and two, several streams, small transfers and such in many pieces.

import { assertEquals } from "@std/assert";
import { adoptEngine } from "../../src/transfer/context_engine.ts";
import { TransferEngine } from "../../src/transfer/engine.ts";
import { IN_SANITIZER } from "../support/driver.ts";
import { runSeeds, share } from "../support/random.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { TINY_LIMITS } from "../support/tiny_engine.ts";
import { CaughtWarnings } from "../support/warnings.ts";
import { liveNames } from "../support/with_device.ts";
import { openPlaces } from "./places.ts";
import { Program } from "./program_order.ts";

const PROGRAM_COUNT = share(IN_SANITIZER ? 100 : 2000, { parts: 50 });
const CALL_COUNT = 30;

/** Transfers of 1000 bytes go through slots of 512 bytes, by threads that are lent and by lanes. */
const LIMITS = {
  ...TINY_LIMITS,
  slotBytes: 512,
  slotCount: 10,
  laneCount: 7,
  sharedLaneCount: 7,
  ringFromBytes: 999,
  minRingBytes: 1000,
  maxCallBytes: 400,
};

/** Who moves the bytes, and who orders streams. */
const SETTINGS = [
  { name: "with lent threads", laneCount: 0, order: "automatic", deviceCount: 2 },
  { name: "with lanes", laneCount: 7, order: "automatic", deviceCount: 2 },
  { name: "in streams that the program orders", laneCount: 3, order: "manual", deviceCount: 1 },
] as const;

for (const { name, laneCount, order, deviceCount } of SETTINGS) {
  Deno.test(`Effects come in the order of calls, awaited or not, ${name}`, async () => {
    using stack = new DisposableStack();
    const places = openPlaces(deviceCount, stack, { order });
    for (const { gpu: { context } } of places) {
      const counts = laneCount === 0 ? {} : { laneCount, sharedLaneCount: laneCount };
      const engine = adoptEngine(context, new TransferEngine(context, { ...LIMITS, ...counts }));
      if (laneCount > 0) engine.startLanes();
    }
    const before = places.map(({ gpu }) => liveNames(gpu));
    using warnings = new CaughtWarnings();
    using folder = new TemporaryFolder();
    await runSeeds(PROGRAM_COUNT / SETTINGS.length, async (run) => {
      await new Program(run, places, folder).run(CALL_COUNT);
      assertEquals(warnings.texts, [], "the program was warned");
    });
    assertEquals(places.map(({ gpu }) => liveNames(gpu)), before);
  });
}
