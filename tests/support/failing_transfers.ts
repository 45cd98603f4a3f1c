// A program that fails, without anybody to catch it, while threads move its arrays. Its argument says
// how many milliseconds after its transfers have begun.

import { CudaDevice } from "../../src/device/device.ts";
import { testDriver } from "./driver.ts";

/** More lanes than cores, so that some are always in the middle of a copy. */
const LANE_COUNT = 6;

const gpu = CudaDevice.open(0, {
  driver: testDriver(),
  transfers: { laneCount: LANE_COUNT, ringFromSize: "4 MiB" },
});
const array = new Uint8Array(2 ** 26).fill(1);
const buffer = gpu.alloc("uint8", array.byteLength);
for (let round = 0; round < 3; round++) await buffer.upload(array);
setTimeout(() => {
  throw new Error("nobody catches this");
}, Number(Deno.args[0]));
for (;;) {
  await buffer.upload(array);
  await buffer.download();
}
