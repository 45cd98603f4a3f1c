// The cases of nvbandwidth: which are measured, that wrong bytes are noticed, and its output both ways.

import { assert, assertEquals, assertGreater, assertRejects, assertThrows } from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import type { BandwidthOptions } from "../../../src/measure/bandwidth.ts";
import { type BandwidthPoint, fitLines } from "../../../src/measure/bandwidth_result.ts";
import { COPY_CASES } from "../../../src/measure/copy_cases.ts";
import { LATENCY_CASES } from "../../../src/measure/latency_cases.ts";
import { nvbandwidthDocument, parseNvbandwidth } from "../../../src/measure/nvbandwidth.ts";
import { testDriver } from "../../support/driver.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const SMALL = { caseSize: 4097, sampleCount: 1 } as const;

Deno.test("CudaDevice.bandwidth() measures the cases alone, in the order given, and leaves nothing", () =>
  withDevice(async (gpu) => {
    const wanted = COPY_CASES.toReversed();
    const { cases, points } = await gpu.bandwidth({ ...SMALL, cases: wanted });
    assertEquals(cases.map(({ name }) => name), wanted);
    assertEquals(points, []);
    for (const { gigabytesPerSecond, verified, byteLength } of cases) {
      assert(verified);
      assertGreater(gigabytesPerSecond, 0);
      assertEquals(byteLength, 4097);
    }
    assertEquals(gpu.live().count, 0);
  }));

Deno.test("CudaDevice.bandwidth() measures cases beside points when both are asked for", () =>
  withDevice(async (gpu) => {
    const { cases, points } = await gpu.bandwidth({
      ...SMALL,
      cases: ["device_local_copy"],
      sizes: [4096],
      kinds: ["pinned"],
      directions: ["host-to-device"],
    });
    assertEquals([cases.length, points.length], [1, 1]);
  }));

testOnDevice("CudaDevice.bandwidth() measures the latency of host memory", async (gpu) => {
  const { cases, latencies } = await gpu.bandwidth({
    cases: [...LATENCY_CASES],
    sampleCount: 1,
  });
  assertEquals(cases, []);
  assertEquals(latencies.map(({ name, verified }) => [name, verified]), [
    ["host_device_latency_sm", true],
  ]);
  const [{ secondsPerAccess = 0 } = {}] = latencies;
  assert(secondsPerAccess > 1e-8 && secondsPerAccess < 1e-4, `${secondsPerAccess}`);
  assertEquals(gpu.live({ kind: "pinned" }).count, 0);
});

Deno.test("CudaDevice.bandwidth() tells a case by kernel whose bytes or address are wrong", () => {
  const driver = testDriver();
  const launch = driver.cuLaunchKernel;
  let isIdle = false;
  const idle = {
    ...driver,
    cuLaunchKernel: (...args: Parameters<typeof launch>) => isIdle ? 0 : launch(...args),
  };
  return withDevice(async (gpu) => {
    using x = gpu.iota("uint8", 4);
    await x.download();
    isIdle = true;
    const { cases, latencies } = await gpu.bandwidth({
      ...SMALL,
      cases: ["device_local_copy_sm", ...LATENCY_CASES],
    });
    assertEquals([...cases, ...latencies].map(({ verified }) => verified), [false, false]);
  }, { driver: idle });
});

Deno.test("CudaDevice.bandwidth() tells a case whose bytes are wrong", () => {
  const driver = simulateDriver();
  const lazy = { ...driver, cuMemcpyAsync: () => 0, cuMemcpyDtoDAsync_v2: () => 0 };
  return withDevice(async (gpu) => {
    const { cases } = await gpu.bandwidth({ ...SMALL, cases: ["device_local_copy"] });
    assertEquals(cases.map(({ verified }) => verified), [false]);
  }, { driver: lazy });
});

testOnDevice("CudaDevice.bandwidth() refuses cases of no bytes", async (gpu) => {
  await assertRejects(() => gpu.bandwidth({ cases: COPY_CASES, caseSize: 0 }), RangeError);
});

testOnDevice("CudaDevice.bandwidth() refuses options that would have no effect", async (gpu) => {
  const onProgress = () => {};
  const cases = ["device_local_copy"] as const;
  const wrong: [BandwidthOptions, typeof TypeError | typeof RangeError, string][] = [
    [{ caseSize: 4096 }, TypeError, 'option "caseSize" needs cases'],
    [{ ...SMALL, sizes: [4096] }, TypeError, 'option "caseSize" needs cases'],
    [{ cases, onProgress }, TypeError, 'option "onProgress" is for points by size'],
    [{ cases: [] }, RangeError, "cases must be one or more"],
    [{ directions: [] }, RangeError, "no copy is of these kinds and directions"],
    [{ kinds: [], directions: ["host-to-device"] }, RangeError, "no copy is of these kinds"],
  ];
  for (const [options, kind, words] of wrong) {
    await assertRejects(() => gpu.bandwidth(options), kind, words);
  }
  const { points } = await gpu.bandwidth({ sizes: [4096], kinds: [], cases: [] });
  assertEquals(points.map(({ kind }) => kind), ["device"]);
});

testOnDevice("parseNvbandwidth() reads what nvbandwidthDocument() writes", async (gpu) => {
  const result = await gpu.bandwidth({ ...SMALL, cases: [...COPY_CASES, ...LATENCY_CASES] });
  const speeds = parseNvbandwidth(JSON.stringify(nvbandwidthDocument(result)));
  assertEquals(
    speeds,
    new Map([
      ...result.cases.map(({ name, gigabytesPerSecond }) => [name, gigabytesPerSecond] as const),
      ...result.latencies.map(({ name, secondsPerAccess }) =>
        [name, secondsPerAccess * 1e9] as const
      ),
    ]),
  );
});

Deno.test("parseNvbandwidth() reads sums from its text, and leaves out cases that failed", () => {
  const text =
    "Running a.\nmemcpy\n 0\n 0   55.6\n\nSUM a 55.6\n\nRunning b.\nWAIVED\nSUM c 2091\r\n";
  assertEquals(parseNvbandwidth(text), new Map([["a", 55.6], ["c", 2091]]));
  const testcases = [
    { name: "a", status: "Passed", sum: 5 },
    { name: "b", status: "Error", sum: 5 },
    { name: "c", status: "Waived" },
    null,
  ];
  assertEquals(
    parseNvbandwidth(JSON.stringify({ nvbandwidth: { testcases } })),
    new Map([["a", 5]]),
  );
});

Deno.test("parseNvbandwidth() refuses a text without cases", () => {
  for (const text of ["", "SUM a", "{}", "{", '{"nvbandwidth":{"testcases":5}}', "SUM a 5 6"]) {
    assertThrows(() => parseNvbandwidth(text), TypeError, "Cannot read the output of nvbandwidth");
  }
});

Deno.test("fitLines() leaves out points that lie on no line", () => {
  const line = [4096, 65536, 2 ** 20, 2 ** 24].map((size) =>
    point("pinned", size, 5e-6 + size / 5e10)
  );
  const bent = line.map(({ byteLength, secondsPerCopy }, index) =>
    point("pageable", byteLength, secondsPerCopy * (index === 2 ? 4 : 1))
  );
  assertEquals(fitLines([...line, ...bent]).map(({ kind }) => kind), ["pinned"]);
});

function point(kind: "pinned" | "pageable", byteLength: number, seconds: number): BandwidthPoint {
  return {
    direction: "host-to-device",
    kind,
    byteLength,
    secondsPerCopy: seconds,
    gigabytesPerSecond: byteLength / seconds / 1e9,
    minGigabytesPerSecond: 0,
    maxGigabytesPerSecond: 0,
    sampleCount: 1,
    copiesPerSample: 1,
    verified: true,
  };
}
