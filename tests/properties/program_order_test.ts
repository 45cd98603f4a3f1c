// 2,000 random programs whose calls are awaited or not, against plain arrays that change in the order
// of the calls: on one device and two, several streams, small transfers and such in many pieces.

import { assertEquals } from "@std/assert";
import { CudaDevice } from "../../src/device/device.ts";
import { adoptEngine } from "../../src/transfer/context_engine.ts";
import { TransferEngine } from "../../src/transfer/engine.ts";
import { IN_SANITIZER, testDriver } from "../support/driver.ts";
import { Random, testSeed } from "../support/random.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { TINY_LIMITS } from "../support/tiny_engine.ts";
import { CaughtWarnings } from "../support/warnings.ts";
import { liveNames } from "../support/with_device.ts";
import { Program, type ProgramPlace } from "./program_order.ts";

const PROGRAM_COUNT = IN_SANITIZER ? 100 : 2000;
const CALL_COUNT = 30;

/** Transfers of 1000 bytes go through slots of 512 bytes, by threads that are lent and by lanes. */
const LIMITS = {
  ...TINY_LIMITS,
  slotBytes: 512,
  slotCount: 10,
  laneCount: 5,
  freshLaneCount: 5,
  ringFromBytes: 1000,
  briefBytes: 1000,
  driverPieceBytes: 400,
  demandBytes: 0,
};

/** Who moves the bytes, and who orders streams. */
const SETTINGS = [
  { name: "with lent threads", hasLanes: false, order: "automatic", deviceCount: 2 },
  { name: "with lanes", hasLanes: true, order: "automatic", deviceCount: 2 },
  { name: "in streams that the program orders", hasLanes: true, order: "manual", deviceCount: 1 },
] as const;

for (const { name, hasLanes, order, deviceCount } of SETTINGS) {
  Deno.test(`Effects come in the order of calls, awaited or not, ${name}`, async () => {
    const seed = testSeed();
    console.log(`seed ${seed}; run it again with VRAMKIT_TEST_SEED=${seed}`);
    const driver = testDriver();
    using stack = new DisposableStack();
    const count = Math.min(deviceCount, CudaDevice.count({ driver }));
    const places = Array.from({ length: count }, (_, ordinal): ProgramPlace => {
      const gpu = stack.use(CudaDevice.open(ordinal, { driver, order }));
      const engine = adoptEngine(gpu.context, new TransferEngine(gpu.context, LIMITS));
      if (hasLanes) engine.startLanes();
      const streams = [gpu.stream, stack.use(gpu.createStream()), stack.use(gpu.createStream())];
      return { gpu, streams };
    });
    const before = places.map(({ gpu }) => liveNames(gpu));
    using warnings = new CaughtWarnings();
    using folder = new TemporaryFolder();
    for (let index = 0; index < PROGRAM_COUNT / SETTINGS.length; index++) {
      const program = new Program(new Random(seed + index), places, folder);
      try {
        await program.run(CALL_COUNT);
        assertEquals(warnings.texts, [], "the program was warned");
      } catch (cause) {
        throw new Error(`program ${index} of seed ${seed} went wrong:\n${program.log}`, { cause });
      }
    }
    assertEquals(places.map(({ gpu }) => liveNames(gpu)), before);
  });
}
