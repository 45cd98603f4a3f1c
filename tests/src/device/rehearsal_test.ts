// The calls that opening a device makes ahead: they leave nothing behind, whatever the driver does.

import { assert, assertEquals, assertGreater, assertThrows } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { CUresult } from "../../../ffi/constants.ts";
import type { DriverApi, DriverFunction } from "../../../ffi/cuda.ts";
import { findHost } from "../../../ffi/host.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { nextId } from "../../../src/accounting/ids.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { rehearse } from "../../../src/device/rehearsal.ts";
import { engineOf } from "../../../src/transfer/context_engine.ts";
import { forgetDownloads } from "../../../src/transfer/staging_memory.ts";
import { CudaError } from "../../../src/words/errors.ts";
import { ON_GPU, testDriver } from "../../support/driver.ts";
import { faultyDriver, watchedDriver } from "../../support/faulty_driver.ts";
import { captureWarnings, CaughtWarnings } from "../../support/warnings.ts";
import { freeBytes } from "../../support/with_device.ts";

/** All that a program can read of what was done, but the report's time and transfers' memory. */
function traceOf(gpu: CudaDevice): unknown {
  engineOf(gpu.context).trim();
  forgetDownloads(gpu.context);
  const { provenance: { date: _, ...provenance }, ...data } = gpu.report().data;
  return {
    data: { ...data, provenance },
    live: gpu.live().objects,
    copiedBytes: gpu.context.copiedBytes,
  };
}

// A real driver takes memory for itself at first calls; the last test is the one for it.
const simulated = { ignore: ON_GPU };

Deno.test("rehearse() leaves nothing that a program could see", simulated, () => {
  using gpu = CudaDevice.open(0, { driver: testDriver() });
  const before = traceOf(gpu);
  const number = nextId();
  const warnings = captureWarnings(() => rehearse(gpu));
  assertEquals(warnings, []);
  assertEquals(traceOf(gpu), before);
  assertEquals(nextId(), number + 1);
});

Deno.test(
  "rehearse() leaves no turn of the event loop under way, however many devices are opened",
  simulated,
  () => {
    const api = testDriver();
    const busy = { ...api, cuStreamQuery: () => CUresult.CUDA_ERROR_NOT_READY };
    const { setImmediate } = globalThis;
    const host = findHost() ?? {};
    const givers = { ...host };
    let turnCount = 0;
    const note = () => Promise.resolve(turnCount++);
    Object.assign(globalThis, { setImmediate: note });
    Object.assign(host, { yieldNonblocking: note });
    try {
      for (let count = 0; count < 40; count++) {
        using gpu = CudaDevice.open(0, { driver: count % 2 === 0 ? api : busy });
        rehearse(gpu);
      }
    } finally {
      Object.assign(globalThis, { setImmediate });
      Object.assign(host, givers);
    }
    assertEquals(turnCount, 0);
  },
);

Deno.test("rehearse() moves nothing where something is live or was", () => {
  const { driver, calls } = watchedDriver();
  using gpu = CudaDevice.open(0, { driver });
  gpu.alloc("uint8", 1).dispose();
  calls.length = 0;
  rehearse(gpu);
  assertEquals(calls, []);
  assertEquals(gpu.report().data.device.totalCount, 1);
});

Deno.test("rehearse() of a second device in the same turn counts nothing either", () => {
  const driver = simulateDriver({ devices: 2 });
  using first = CudaDevice.open(0, { driver });
  using second = CudaDevice.open(1, { driver });
  rehearse(first);
  using buffer = first.uploadSync(Uint8Array.of(1, 2));
  rehearse(second);
  assertEquals(first.live().objects.map(({ byteLength }) => byteLength), [2]);
  assertEquals(second.report().data.device.totalCount, 0);
  assertEquals([...buffer.downloadSync()], [1, 2]);
});

Deno.test(
  "rehearse() that fails at any driver call is silent, leaves nothing and breaks nothing",
  simulated,
  async (t) => {
    for (const name of callsOfRehearsal()) {
      for (const after of [0, 1, 2, 5]) {
        await t.step(`${name} after ${after}`, () => {
          const { driver, setFault } = faultyDriver();
          using gpu = CudaDevice.open(0, { driver });
          setFault({ name, after, status: CUresult.CUDA_ERROR_UNKNOWN });
          const warnings = captureWarnings(() => rehearse(gpu));
          setFault(undefined);
          // Memory that the driver does not take back is lost, which it says as anywhere else.
          if (name !== "cuMemFreeAsync") assertEquals(warnings, []);
          assertEquals(gpu.live().count, 0);
          const { device } = gpu.report().data;
          assertEquals([device.currentBytes, device.totalCount, device.peakCount], [0, 0, 0]);
          using buffer = gpu.uploadSync(Uint8Array.of(7));
          assertEquals([...buffer.downloadSync()], [7]);
        });
      }
    }
  },
);

/** The driver's functions that a rehearsal calls. */
function callsOfRehearsal(): DriverFunction[] {
  const { driver, calls } = watchedDriver();
  using gpu = CudaDevice.open(0, { driver });
  calls.length = 0;
  rehearse(gpu);
  const names = [...new Set(calls)];
  assertGreater(names.length, 4);
  return names;
}

Deno.test("rehearse() leaves nothing while the GPU is at work", simulated, async () => {
  const api = testDriver();
  let busyCount = 500;
  const driver: DriverApi = {
    ...api,
    cuStreamQuery: (stream) =>
      busyCount-- > 0 ? CUresult.CUDA_ERROR_NOT_READY : api.cuStreamQuery(stream),
  };
  using gpu = CudaDevice.open(0, { driver });
  const before = traceOf(gpu);
  const warnings = captureWarnings(() => rehearse(gpu));
  assertEquals(warnings, []);
  assert(busyCount < 500);
  assertEquals(traceOf(gpu), before);
  const free = freeBytes(gpu);
  using buffer = await gpu.upload(Uint8Array.of(1, 2, 3));
  assertEquals([...await buffer.download()], [1, 2, 3]);
  buffer.dispose();
  assertEquals(freeBytes(gpu), free);
  // What looked for the GPU between turns comes back, too.
  await delay(20);
});

Deno.test("rehearse() that breaks the context is told by the program's own call", simulated, () => {
  const { driver, setFault } = faultyDriver();
  using _warnings = new CaughtWarnings();
  const gpu = CudaDevice.open(0, { driver });
  setFault({ name: "cuMemcpyHtoDAsync_v2", status: CUresult.CUDA_ERROR_ILLEGAL_ADDRESS });
  rehearse(gpu);
  const error = assertThrows(() => gpu.uploadSync(Uint8Array.of(1)), CudaError);
  assertEquals(error.code, CUresult.CUDA_ERROR_ILLEGAL_ADDRESS);
  setFault(undefined);
  gpu.dispose();
});

Deno.test("CudaDevice.open() moves nothing with functions or a resource of the program's", () => {
  const api = testDriver();
  const moved: string[] = [];
  const driver: DriverApi = {
    ...api,
    cuMemcpyHtoDAsync_v2: (...args) => {
      moved.push("up");
      return api.cuMemcpyHtoDAsync_v2(...args);
    },
  };
  using gpu = CudaDevice.open(0, { driver });
  assertEquals(moved, []);
  assertEquals(gpu.live().count, 0);
});

Deno.test("CudaDevice.open() of NVIDIA's driver leaves nothing of its rehearsal", {
  ignore: !ON_GPU,
}, async () => {
  using gpu = CudaDevice.open(0, { driver: "cuda" });
  const { device, memory } = gpu.report().data;
  assertEquals([device.totalCount, memory.liveBytes], [0, 0]);
  assertEquals(gpu.context.copiedBytes, 0);
  assertEquals(gpu.live().count, 0);
  using buffer = await gpu.upload(Uint8Array.of(3));
  assertEquals([...await buffer.download()], [3]);
  assert(!buffer.disposed);
});
