// A worker that moves large arrays both ways until it is terminated, and says after each round
// that lanes are at work.

import { CudaDevice } from "../../src/device/device.ts";
import { engineOf } from "../../src/transfer/context_engine.ts";
import { testDriver } from "./driver.ts";

/** More lanes than cores, so that some are always in the middle of a copy. */
const LANE_COUNT = 7;

/** So many that lanes are at work from the size on that is given below. */
const BYTES = 16 * 2 ** 20;

const worker = globalThis as unknown as { postMessage(message: string): void };
const transfers = { laneCount: LANE_COUNT, ringFromSize: "4 MiB" };
const gpu = CudaDevice.open(0, { driver: testDriver(), transfers });
const array = new Uint8Array(BYTES).fill(7);
const buffer = gpu.alloc("uint8", BYTES);
const engine = engineOf(gpu.context);
moveForever();

/** Not awaited by the module: Deno ends a worker for sure only once its module has been evaluated. */
async function moveForever(): Promise<void> {
  await engine.runLanes(); // they would start once two GiB have moved
  for (;;) {
    await buffer.upload(array);
    await buffer.download(array);
    worker.postMessage(engine.hasRingFor(BYTES, { canLend: false }) ? "ring" : "driver");
  }
}
