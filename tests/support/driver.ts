// The driver that the suite runs on: a fresh simulated one for each call, or NVIDIA's with
// VRAMKIT_TEST_DRIVER=cuda. Without a GPU the latter throws, so that tests fail and none is skipped.
// VRAMKIT_TEST_CUDA=11.4 gives the simulated one that age: it lacks what came later.

import type { DriverApi } from "../../ffi/cuda.ts";
import { simulateDriver } from "../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../src/device/device.ts";
import { Driver } from "../../src/driver/driver.ts";
import { testUnless } from "./test_unless.ts";

/** Whether the suite was asked to run on a real GPU. */
export const ON_GPU = readChoice() === "cuda";

/** Whether compute-sanitizer runs the suite, about ten times slower (`deno run -A tests/support/sanitizer/run.ts`). */
export const IN_SANITIZER = Deno.env.get("VRAMKIT_TEST_SANITIZER") === "1";

/** The CUDA version of the simulated driver. */
const DRIVER_VERSION = readVersion();

/** Making a context takes a tenth of a second on a GPU, so the suite keeps the driver's own alive. */
if (ON_GPU) Driver.open("cuda").call("cuDevicePrimaryCtxRetain", new BigUint64Array(1), 0);

/** Returns the driver's functions; spread them to make one call fail. */
export function testDriver(): DriverApi {
  return ON_GPU ? Driver.open("cuda").api : simulateDriver({ driverVersion: DRIVER_VERSION });
}

/** Opens a device of the suite's driver; on the simulated one nothing is shared between calls. */
export function openTestDevice(ordinal = 0): CudaDevice {
  return CudaDevice.open(ordinal, { driver: testDriver() });
}

/** Registers a test that needs two devices; on a machine with one, its name says why it is ignored. */
export function testOnTwoDevices(
  name: string,
  body: (first: CudaDevice, second: CudaDevice) => void | Promise<void>,
): void {
  const driver = testDriver();
  const found = CudaDevice.count({ driver });
  const reason = found < 2 ? `needs two devices, this machine has ${found}` : undefined;
  testUnless(name, reason, async () => {
    using first = CudaDevice.open(0, { driver });
    using second = CudaDevice.open(1, { driver });
    await body(first, second);
  });
}

function readChoice(): "cuda" | "simulated" {
  const choice = Deno.env.get("VRAMKIT_TEST_DRIVER") ?? "simulated";
  if (choice === "cuda" || choice === "simulated") return choice;
  throw new TypeError(
    `Cannot choose a driver: VRAMKIT_TEST_DRIVER is "${choice}", expected "cuda" or "simulated"`,
  );
}

function readVersion(): number {
  const version = Deno.env.get("VRAMKIT_TEST_CUDA") ?? "13.0";
  const [, major, minor] = /^(\d{2})\.(\d)$/.exec(version) ?? [];
  if (major !== undefined && minor !== undefined) return Number(major) * 1000 + Number(minor) * 10;
  throw new TypeError(
    `Cannot choose a driver: VRAMKIT_TEST_CUDA is "${version}", expected a version such as "12.8"`,
  );
}
