// Checks the entry of the simulated driver: each option, faults, and what it rejects.

import { assert, assertEquals, assertInstanceOf, assertRejects, assertThrows } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { CudaDevice } from "../../../src/device/device.ts";
import {
  type SimulatedDriverOptions,
  simulateDriver,
  SimulationError,
} from "../../../src/entries/simulated.ts";
import { CudaError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { f32 } from "../../../src/entries/kernels.ts";
import { testDriver } from "../../support/driver.ts";

Deno.test("simulateDriver() has as many devices and as much memory as it is told", () => {
  const driver = simulateDriver({ deviceCount: 3, memorySize: "64 MiB" });
  assertEquals(CudaDevice.count({ driver }), 3);
  using gpu = CudaDevice.open(2, { driver });
  assertEquals(gpu.memory.totalBytes, 64 * 2 ** 20);
  assertThrows(() => gpu.alloc("uint8", 65 * 2 ** 20), OutOfMemoryError);
});

Deno.test("simulateDriver() connects its devices, or does not", () => {
  for (const [peers, route] of [[true, "peer"], [false, "staged"]] as const) {
    const driver = simulateDriver({ peers });
    using one = CudaDevice.open(0, { driver });
    using other = CudaDevice.open(1, { driver });
    assertEquals(one.routeTo(other), route);
  }
});

Deno.test("simulateDriver() without pools runs what runs with them", () => {
  using gpu = CudaDevice.open(0, { driver: simulateDriver({ pools: false }) });
  using x = gpu.uploadSync(new Float32Array([1, 2]));
  assertEquals([gpu.memoryResource.constructor.name, [...x.downloadSync()]], [
    "CudaMemoryResource",
    [1, 2],
  ]);
});

Deno.test("simulateDriver() has devices that take the host's memory where it is told to", () => {
  for (const integrated of [true, false]) {
    using gpu = CudaDevice.open(0, { driver: simulateDriver({ integrated }) });
    assertEquals(gpu.memory.isSystemMemory, integrated);
  }
});

Deno.test("simulateDriver() is as old as it is told, and lacks what came later", () => {
  const driver = simulateDriver({ cudaVersion: "12.4" });
  using gpu = CudaDevice.open(0, { driver });
  assertEquals(gpu.context.driver.version, "12.4");
  assertEquals(driver.cuMemcpyBatchAsync, null);
  assertThrows(() => CudaDevice.open(0, { driver: simulateDriver({ cudaVersion: "11.2" }) }));
});

Deno.test("simulateDriver() asks fault before each call, and fails the call by its answer", () => {
  let broken: string | undefined;
  const driver = simulateDriver({
    fault: (call) => call === broken ? "CUDA_ERROR_LAUNCH_FAILED" : undefined,
  });
  using gpu = CudaDevice.open(0, { driver });
  using x = gpu.zeros("uint8", 8);
  broken = "cuMemsetD8Async";
  const error = assertThrows(() => x.fill(1), CudaError);
  assertEquals([error.codeName, error.call], ["CUDA_ERROR_LAUNCH_FAILED", "cuMemsetD8Async"]);
  broken = undefined;
});

Deno.test("simulateDriver() rejects machines that there are not", () => {
  const wrong: readonly [SimulatedDriverOptions, string][] = [
    [{ deviceCount: 0 }, "Cannot simulate 0 devices: expected 1 to 31"],
    [{ deviceCount: 1.5 }, "Cannot simulate 1.5 devices: expected 1 to 31"],
    [{ deviceCount: 32 }, "Cannot simulate 32 devices: expected 1 to 31"],
    [{ cudaVersion: "new" }, 'Cannot simulate CUDA "new": expected a version'],
    [{ memorySize: "much" }, "memorySize"],
  ];
  for (const [options, words] of wrong) {
    assertThrows(() => simulateDriver(options), RangeError, words);
  }
});

Deno.test("simulateDriver() rejects a fault that names no error", () => {
  const driver = simulateDriver({ fault: () => "CUDA_ERROR_MADE_UP" });
  assertThrows(
    () => CudaDevice.count({ driver }),
    TypeError,
    'Cannot fail a call with "CUDA_ERROR_MADE_UP"',
  );
});

Deno.test("simulateDriver() refuses an async fault, whose own failure ends nothing", async () => {
  const fault = async () => {
    await undefined;
    throw new Error("nobody waits for this");
  };
  const driver = simulateDriver({ fault: fault as never });
  assertThrows(() => CudaDevice.count({ driver }), TypeError, "Cannot fail a call with a promise");
  const other = simulateDriver({ fault: () => Object.create(null) });
  assertThrows(() => CudaDevice.count({ driver: other }), TypeError, "Cannot fail a call with an ");
  await delay(0); // the test would fail here
});

Deno.test("simulateDriver() refuses an async kernel, whose own failure ends nothing", async () => {
  const run = async () => {
    await undefined;
    throw new Error("nobody waits for this");
  };
  const kernels = { late: { run } };
  using gpu = CudaDevice.open(0, { driver: simulateDriver({ kernels: kernels as never }) });
  using late = await gpu.compile(`extern "C" __global__ void late(float *x) {}`);
  using x = gpu.zeros("float32", 1);
  const launch = () => {
    late.launch({ grid: 1, block: 1, args: [x] });
    gpu.synchronizeSync();
  };
  assertThrows(launch, TypeError, 'Cannot run kernel "late": its function returned a promise');
  await delay(0); // the test would fail here
});

Deno.test("simulateDriver() asks for the sizes of parameters that no PTX tells", async () => {
  const kernels = { set: { run() {} }, sized: { parameterBytes: [8, 4], run() {} } };
  using gpu = CudaDevice.open(0, { driver: simulateDriver({ kernels }) });
  const cubin = new Uint8Array(64);
  cubin.set([0x7f, 0x45, 0x4c, 0x46]);
  cubin[18] = 190;
  using module = await gpu.loadModule(cubin);
  assertThrows(
    () => module.kernel("set"),
    TypeError,
    'Cannot use kernel "set": only PTX tells the sizes of its parameters',
  );
  assertEquals(module.kernel("sized").parameterBytes, [8, 4]);
});

for (const fault of ["late", { seconds: 1 }, { lateSeconds: -1 }, Promise.resolve("dead")]) {
  Deno.test(`simulateDriver() refuses ${Deno.inspect(fault)} as the fault of a rank`, async () => {
    using gpus = CudaDevice.all({ driver: simulateDriver({ ranks: () => fault as never }) });
    using group = await gpus.group();
    const parts = gpus.map((gpu) => gpu.zeros("float32", 4));
    const call = async () => await group.allReduce(parts);
    await assertRejects(call, TypeError, "Cannot fail rank 0 by");
    for (const part of parts) part.dispose();
  });
}

Deno.test("SimulationError names the call and the rule", () => {
  using gpu = CudaDevice.open(0, { driver: simulateDriver() });
  using x = gpu.alloc("uint8", 8);
  let caught: unknown;
  try {
    x.downloadSync();
  } catch (error) {
    caught = error;
  }
  assertInstanceOf(caught, SimulationError);
  assertEquals(caught.rule, "unwritten");
});

Deno.test("CudaDevice.isSimulated tells a simulated device from a real one", () => {
  const driver = simulateDriver({ deviceCount: 1, fault: () => undefined });
  const gpu = CudaDevice.open(0, { driver });
  assert(gpu.isSimulated);
  gpu.dispose();
  assert(gpu.isSimulated);
  using tested = CudaDevice.open(0, { driver: testDriver() });
  assertEquals(tested.isSimulated, tested.name === "Simulated");
});

Deno.test("SimulatedLaunch reads parameters by type, and the elements that they point to", async () => {
  let seen: unknown[] = [];
  const driver = simulateDriver({
    kernels: {
      mix: {
        run(launch) {
          seen = [launch.value(1, "float32"), launch.value(2, "int64"), launch.value(3, "bool")];
          const values = launch.elements(0, "float32", 3);
          launch.setElements(0, values.map((value) => 2 * value));
          for (const wrong of [() => launch.value(4, "int32"), () => launch.value(0, "int32")]) {
            assertThrows(wrong, RangeError, "Cannot read parameter");
          }
        },
      },
    },
  });
  using gpu = CudaDevice.open(0, { driver });
  const source = 'extern "C" __global__ void mix(float *x, float a, long long b, bool c) {}';
  using mix = await gpu.compile(source);
  using x = await gpu.upload(new Float32Array([1, 2, 3]));
  mix.launch({ grid: 1, block: 1, args: [x, f32(0.5), 7n, new Uint8Array([1])] });
  assertEquals([...await x.download()], [2, 4, 6]);
  assertEquals(seen, [0.5, 7n, true]);
});
