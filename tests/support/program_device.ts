// The device of a program in a process of its own, by entries alone: built files have them.

import { CudaDevice } from "../../mod.ts";

/** Opens the first device of the driver that the suite runs on. */
export function openDevice(): CudaDevice {
  const isOnGpu = Deno.env.get("VRAMKIT_TEST_DRIVER") === "cuda";
  return CudaDevice.open(0, { driver: isOnGpu ? "cuda" : "simulated" });
}
