// Checks which driver is opened, how a missing or old one is explained, and how a status becomes an error.

import {
  assert,
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertNotStrictEquals,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { CUresult } from "../../../ffi/constants.ts";
import { CUDA_GROUPS, type DriverApi } from "../../../ffi/cuda.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { Driver, type DriverChoice } from "../../../src/driver/driver.ts";
import { CudaError, CudaUnavailableError } from "../../../src/words/errors.ts";
import { runWith } from "../../support/child_deno.ts";
import { testDriver } from "../../support/driver.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { takingTurns, testUnless } from "../../support/test_unless.ts";

function reasonOf(api: DriverApi): { reason: string; message: string } {
  const { reason, message } = assertThrows(() => Driver.open(api), CudaUnavailableError);
  return { reason, message };
}

Deno.test("Driver.open() returns one driver for the same functions", () => {
  const api = testDriver();
  assertStrictEquals(Driver.open(api), Driver.open(api));
  assertNotStrictEquals(Driver.open(api), Driver.open({ ...api }));
});

Deno.test("Driver.open() shares one simulated driver in a process", () => {
  assertStrictEquals(Driver.open("simulated"), Driver.open("simulated"));
});

Deno.test("Driver.open() reads the version and the number of devices", () => {
  const driver = Driver.open(simulateDriver({ devices: 3, driverVersion: 12040 }));
  assertEquals([driver.version, driver.deviceCount], ["12.4", 3]);
});

Deno.test("Driver names itself on a console without listing its functions", () => {
  const one = Driver.open(simulateDriver({ devices: 1, driverVersion: 12040 }));
  const two = Driver.open(simulateDriver({ devices: 2 }));
  assertEquals([Deno.inspect(one), `${one}`], Array(2).fill("Driver(CUDA 12.4, 1 device)"));
  assertEquals(Deno.inspect(two), "Driver(CUDA 13.0, 2 devices)");
});

Deno.test("Driver.open() refuses a choice that it does not know", () => {
  assertThrows(
    () => Driver.open("gpu" as DriverChoice),
    TypeError,
    'Cannot open driver "gpu": expected "auto", "cuda", "simulated" or driver functions',
  );
});

Deno.test("Driver.open() refuses null with the same words", () => {
  assertThrows(() => Driver.open(null as unknown as DriverChoice), TypeError, "Cannot open driver");
});

Deno.test("Driver.open() says that a driver is too old, and what to do", () => {
  const { reason, message } = reasonOf(simulateDriver({ driverVersion: 11030 }));
  assertEquals(reason, "driver-too-old");
  assertStringIncludes(message, "supports CUDA 11.3, needs 11.4 or newer; update");
});

Deno.test("Driver.open() takes the oldest driver that it says it needs", () => {
  assertEquals(Driver.open(simulateDriver({ driverVersion: 11040 })).version, "11.4");
});

Deno.test("Driver.open() says that there is no device when cuInit does", () => {
  const { reason, message } = reasonOf({
    ...simulateDriver(),
    cuInit: () => CUresult.CUDA_ERROR_NO_DEVICE,
  });
  assertEquals(reason, "no-device");
  assertStringIncludes(message, "check nvidia-smi, CUDA_VISIBLE_DEVICES");
});

Deno.test("Driver.open() says that there is no device when the driver counts none", () => {
  assertEquals(reasonOf(simulateDriver({ devices: 0 })).reason, "no-device");
});

Deno.test("Driver.open() tells parts of a driver that do not match", () => {
  const { reason, message } = reasonOf({
    ...simulateDriver(),
    cuInit: () => CUresult.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
  });
  assertEquals(reason, "driver-too-old");
  assertStringIncludes(message, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803); the kernel's module");
});

Deno.test("Driver.open() names the status when the driver does not start", () => {
  const { message } = reasonOf({
    ...simulateDriver(),
    cuInit: () => CUresult.CUDA_ERROR_UNKNOWN,
  });
  assertStringIncludes(message, "cuInit returned CUDA_ERROR_UNKNOWN (999); the driver's modules");
});

Deno.test("Driver.open() tries again after a driver that could not be used", () => {
  let status: number = CUresult.CUDA_ERROR_NO_DEVICE;
  const sound = simulateDriver();
  const api: DriverApi = { ...sound, cuInit: (flags) => status || sound.cuInit(flags) };
  reasonOf(api);
  status = CUresult.CUDA_SUCCESS;
  assertEquals(Driver.open(api).deviceCount, 2);
});

Deno.test("Driver.call() names the call, the status and the driver's own words", () => {
  const driver = Driver.open(testDriver());
  const error = assertThrows(() => driver.call("cuDeviceGet", new Int32Array(1), 999), CudaError);
  assertEquals([error.call, error.code, error.codeName], [
    "cuDeviceGet",
    101,
    "CUDA_ERROR_INVALID_DEVICE",
  ]);
  assertStringIncludes(
    error.message,
    "Cannot complete cuDeviceGet: CUDA_ERROR_INVALID_DEVICE (101), ",
  );
  assertFalse(error.message.endsWith("."));
});

Deno.test("Driver.error() describes a status that the driver does not know", () => {
  const error = Driver.open(testDriver()).error(123456, "cuInit");
  assertStringIncludes(error.message, "CUDA_ERROR_UNLISTED (123456), unknown status");
});

Deno.test("Driver.error() attaches the first error that broke the context to later ones", () => {
  const driver = Driver.open({ ...testDriver() });
  const first = driver.error(CUresult.CUDA_ERROR_ILLEGAL_ADDRESS, "cuLaunchKernel");
  const later = driver.error(CUresult.CUDA_ERROR_LAUNCH_FAILED, "cuMemFree_v2");
  assertEquals(first.cause, undefined);
  assertStrictEquals(later.cause, first);
  assertStringIncludes(
    later.message,
    "the GPU failed earlier in cuLaunchKernel with CUDA_ERROR_ILLEGAL_ADDRESS, restart",
  );
});

Deno.test("Driver.error() forgets an error that breaks nothing", () => {
  const driver = Driver.open({ ...testDriver() });
  driver.error(CUresult.CUDA_ERROR_INVALID_VALUE, "cuMemAlloc_v2");
  assertEquals(driver.error(CUresult.CUDA_ERROR_INVALID_VALUE, "cuMemAlloc_v2").cause, undefined);
});

Deno.test("Driver.call() names the version that a missing function needs", () => {
  const driver = Driver.open(simulateDriver({ driverVersion: 11040 }));
  assertFalse(driver.has("cuStreamWaitValue32_v2"));
  const error = assertThrows(
    () => driver.call("cuStreamWaitValue32_v2", 0n, 4n, 1, 0),
    CudaUnavailableError,
    "Cannot call cuStreamWaitValue32_v2: needs a driver for CUDA 11.7 or newer, this one is for 11.4",
  );
  assertEquals(error.reason, "driver-too-old");
});

/** The output of a program in a process of its own. */
async function printed(flags: readonly string[], choice: string): Promise<string> {
  const mod = import.meta.resolve("../../../mod.ts");
  const { stdout, stderr } = await runWith(
    flags,
    `import { CudaDevice } from ${JSON.stringify(mod)};
     try {
       using gpu = CudaDevice.open(0, { driver: ${JSON.stringify(choice)} });
       using x = await gpu.upload(new Float32Array([1, 2]));
       console.log(gpu.name, (await x.download()).join());
     } catch (error) {
       console.log(error.name, error.reason);
     }`,
    { VRAMKIT_CUDA: "/nowhere/libcuda.so.1" },
  );
  return stdout.trim() + stderr.trim();
}

Deno.test("Driver.open() with auto uses the simulated driver where there is no library", async () => {
  assertEquals(await printed(["-A"], "auto"), "Simulated 1,2");
});

Deno.test("Driver.open() with cuda says that there is no library", async () => {
  assertEquals(await printed(["-A"], "cuda"), "CudaUnavailableError no-library");
});

Deno.test("Driver.open() with cuda says that a permission is missing", async () => {
  assertEquals(await printed(["--allow-env"], "cuda"), "CudaUnavailableError permission");
});

Deno.test("Driver.open() with auto asks for a missing permission instead of simulating", async () => {
  assertEquals(await printed([], "auto"), "CudaUnavailableError permission");
});

Deno.test("CudaUnavailableError keeps what the library search found as its cause", () => {
  const error = assertThrows(
    () => Driver.open("cuda", { libraryPath: "/nowhere/libcuda.so.1" }),
    CudaUnavailableError,
    "/nowhere/libcuda.so.1",
  );
  assertInstanceOf(error.cause, Error);
});

const STARTS: readonly (readonly [number, string, string])[] = [
  [34, "bad-library", "is a stub of the CUDA toolkit"],
  [100, "no-device", "the CUDA driver sees no device"],
  [802, "not-ready", "Fabric Manager"],
  [803, "driver-too-old", "of different drivers"],
  [804, "driver-too-old", "cuda-compat"],
  [805, "not-ready", "MPS server"],
  [999, "not-ready", "nvidia-modprobe"],
  [46, "not-ready", "the kernel's log"],
];

Deno.test("Driver.open() has words of its own for each reason that a driver does not start", () => {
  for (const [status, reason, words] of STARTS) {
    const api = { ...simulateDriver(), cuInit: () => status };
    const error = assertThrows(() => Driver.open(api), CudaUnavailableError, words);
    assertEquals([status, error.reason], [status, reason]);
  }
});

const hasCompiler = await new Deno.Command("gcc", { args: ["--version"], stdout: "null" }).output()
  .then(({ success }) => success, () => false);
const testCompiled = (name: string, body: () => Promise<void>) =>
  testUnless(name, hasCompiler ? undefined : "there is no gcc, for a library that fails", body);

/** Makes a driver library all of whose functions return a status. */
async function makeDriver(folder: TemporaryFolder, name: string, status: number): Promise<string> {
  const functions = CUDA_GROUPS.flatMap((group) => Object.keys(group));
  const source = functions.map((name) => `int ${name}(){return ${status};}`).join("\n");
  const path = folder.pathOf(name);
  const args = ["-shared", "-fPIC", "-w", "-o", path, folder.write(`${name}.c`, source)];
  const { success } = await new Deno.Command("gcc", { args }).output();
  assert(success);
  return path;
}

takingTurns(testCompiled)(
  "Driver.open() with auto says once that a GPU is there and cannot be used",
  async () => {
    using folder = new TemporaryFolder();
    const mod = import.meta.resolve("../../../mod.ts");
    for (const [status, isSilent] of [[802, false], [34, false], [100, true]] as const) {
      const path = await makeDriver(folder, `libcuda${status}.so.1`, status);
      const { stdout, stderr } = await runWith(
        ["-A"],
        `import { CudaDevice } from ${JSON.stringify(mod)};
       using gpu = CudaDevice.open(0, { driver: "auto" });
       using again = CudaDevice.open(0, { driver: "auto" });
       using asked = CudaDevice.open(0, { driver: "simulated" });
       console.log(gpu.isSimulated, gpu.info.whySimulated, asked.info.whySimulated);`,
        { VRAMKIT_CUDA: path },
      );
      const words = STARTS.find(([known]) => known === status)?.[2] ?? "";
      assertStringIncludes(stdout, words);
      assertEquals([stdout.startsWith("true "), stdout.trim().endsWith(" undefined")], [
        true,
        true,
      ]);
      const warned = stderr.split("\n").filter((line) => line.includes("uses the simulated GPU"));
      assertEquals(warned.length, isSilent ? 0 : 1, stderr);
    }
  },
);

testCompiled("CudaDevice.open() goes on behind a stub", async () => {
  using folder = new TemporaryFolder();
  const stub = await makeDriver(folder, "libcuda.so.1", 34);
  const other = await makeDriver(folder, "libcuda.so", 802);
  const mod = import.meta.resolve("../../../mod.ts");
  const { stdout } = await runWith(
    ["-A"],
    `import { CudaDevice } from ${JSON.stringify(mod)};
     for (const time of [1, 2]) try { CudaDevice.open() } catch (error) { console.log(error.message); }`,
    { LD_LIBRARY_PATH: other.slice(0, other.lastIndexOf("/")) },
  );
  const messages = stdout.trim().split("\n");
  assertEquals(messages.map((message) => message.includes("(802)")), [true, true], stub);
});
