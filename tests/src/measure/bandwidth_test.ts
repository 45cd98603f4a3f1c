// Checks a sweep's shape and its honesty: every point there, wrong bytes noticed, nothing left.

import { assert, assertEquals, assertFalse, assertGreater, assertRejects } from "@std/assert";
import type { DriverApi } from "../../../ffi/cuda.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { formatBandwidth } from "../../../src/cards/bandwidth_card.ts";
import "../../../src/cards/shown.ts";
import { sizesUpTo } from "../../../src/measure/bandwidth.ts";
import { BandwidthResult } from "../../../src/measure/bandwidth_result.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { openTestDevice } from "../../support/driver.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const SMALL = { sizes: [4096, "16 KiB"], sampleCount: 1 } as const;

testOnDevice("CudaDevice.bandwidth() measures every direction, kind and size", async (gpu) => {
  const { points, fits } = await gpu.bandwidth(SMALL);
  assertEquals(points.map((point) => `${point.direction} ${point.kind} ${point.byteLength}`), [
    "host-to-device pinned 4096",
    "host-to-device pinned 16384",
    "device-to-host pinned 4096",
    "device-to-host pinned 16384",
    "device-to-device device 4096",
    "device-to-device device 16384",
    "host-to-device pageable 4096",
    "host-to-device pageable 16384",
    "device-to-host pageable 4096",
    "device-to-host pageable 16384",
  ]);
  for (const point of points) {
    assert(point.verified);
    assertGreater(point.secondsPerCopy, 0);
    assertGreater(point.gigabytesPerSecond, 0);
    assert(point.minGigabytesPerSecond <= point.gigabytesPerSecond);
    assert(point.gigabytesPerSecond <= point.maxGigabytesPerSecond);
    assertEquals(point.sampleCount, 1);
  }
  assert(fits.length <= 5);
});

testOnDevice("CudaDevice.bandwidth() says what it measured with, as plain data", async (gpu) => {
  const result = await gpu.bandwidth({ ...SMALL, directions: ["device-to-device"] });
  assertEquals(result.provenance.device, gpu.name);
  assertEquals(result.provenance.deno, Deno.version.deno);
  assert(!Number.isNaN(Date.parse(result.provenance.date)));
  assertEquals(new BandwidthResult(JSON.parse(JSON.stringify(result))), result);
});

testOnDevice("CudaDevice.bandwidth() gives a result that is a table on a console", async (gpu) => {
  const result = await gpu.bandwidth(SMALL);
  const text = formatBandwidth(result); // as the command line prints it, in 80 columns
  const inLines = (words: string) => words.replaceAll(/\s+/g, " ");
  assertEquals(inLines(Deno.inspect(result)), inLines(text));
  assertEquals(text.split("\n").filter((line) => line.length > 80), []);
  assertEquals(text.match(/ \+ bytes \/ /g)?.length, result.fits.length);
});

testOnDevice("CudaDevice.bandwidth() measures only what it is asked for", async (gpu) => {
  const { points } = await gpu.bandwidth({
    ...SMALL,
    kinds: ["pinned"],
    directions: ["device-to-host"],
  });
  assertEquals(points.map(({ direction, kind }) => [direction, kind]), [
    ["device-to-host", "pinned"],
    ["device-to-host", "pinned"],
  ]);
});

Deno.test("CudaDevice.bandwidth() notices bytes that did not arrive", () => {
  const sound = simulateDriver();
  const skipping: DriverApi = { ...sound, cuMemcpyAsync: () => 0 };
  return withDevice(async (gpu) => {
    const { points } = await gpu.bandwidth({ ...SMALL, kinds: ["pinned"] });
    assertEquals(points.map(({ verified }) => verified), points.map(() => false));
  }, { driver: skipping });
});

testOnDevice("CudaDevice.bandwidth() reports progress, and stops between points", async (gpu) => {
  const abort = new AbortController();
  const seen: number[] = [];
  const sweeping = gpu.bandwidth({
    ...SMALL,
    signal: abort.signal,
    onProgress: (done, total) => {
      assertEquals(total, 10);
      seen.push(done);
      if (done === 3) abort.abort(new RangeError("enough"));
    },
  });
  await assertRejects(() => sweeping, RangeError, "enough");
  assertEquals(seen, [1, 2, 3]);
  assertEquals(gpu.live().count, 0);
});

for (const kind of ["pinned", "pageable"] as const) {
  for (const direction of ["host-to-device", "device-to-host", "device-to-device"] as const) {
    const name = `${kind} memory, ${direction}`;
    testOnDevice(`CudaDevice.bandwidth() says that buffers were disposed: ${name}`, async (gpu) => {
      const options = { ...SMALL, kinds: [kind], directions: [direction] };
      await assertRejects(
        () => gpu.bandwidth({ ...options, onProgress: () => gpu.disposeAll() }),
        DisposedError,
        "bandwidth",
      );
      assertEquals(gpu.live().count, 0);
    });
  }
}

for (
  const [name, options] of Object.entries({
    "no sizes": { sizes: [] },
    "a size of 0": { sizes: [0] },
    "a word for a size": { sizes: ["64k"] },
    "a negative size": { sizes: [-1] },
    "no samples": { sizes: [4096], sampleCount: 0 },
    "half a sample": { sizes: [4096], sampleCount: 1.5 },
    "more samples than an array holds": { sizes: [4096], sampleCount: 2 ** 40 },
  })
) {
  testOnDevice(`CudaDevice.bandwidth() refuses ${name}`, async (gpu) => {
    await assertRejects(() => gpu.bandwidth(options), RangeError, "Cannot ");
    assertEquals(gpu.live().count, 0);
  });
}

Deno.test("CudaDevice.bandwidth() works where a stream cannot wait for memory", () =>
  withDevice(async (gpu) => {
    const { points } = await gpu.bandwidth({ ...SMALL, directions: ["host-to-device"] });
    assertFalse(points.some(({ verified }) => !verified));
  }, { driver: simulateDriver({ driverVersion: 11040 }) }));

Deno.test("sizesUpTo() lists powers of four and ends with the largest size", () => {
  assertEquals(sizesUpTo(65536), [4096, 16384, 65536]);
  assertEquals(sizesUpTo(70_000), [4096, 16384, 65536, 70_000]);
  assertEquals(sizesUpTo(4096), [4096]);
});

for (const name of ["host_to_device_memcpy_ce", "host_device_latency_sm"] as const) {
  Deno.test(`CudaDevice.bandwidth() says that the device was disposed before ${name}`, async () => {
    const gpu = openTestDevice();
    const measuring = gpu.bandwidth({
      sizes: [4096],
      cases: [name],
      caseSize: "64 KiB",
      sampleCount: 1,
    });
    gpu.dispose();
    await assertRejects(() => measuring, DisposedError);
  });
}
