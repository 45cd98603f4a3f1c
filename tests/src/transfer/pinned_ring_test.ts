// The page-locked slots of transfers: how they come, how they go, and what is left where the driver fails.

import { assertEquals, assertGreater, assertRejects } from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import { PinnedRing, type Slot } from "../../../src/transfer/pinned_ring.ts";
import { DEFAULT_LIMITS, FIRST_SLOTS } from "../../../src/transfer/ways.ts";
import { CudaError } from "../../../src/words/errors.ts";
import { assertSameBytes, patternBytes } from "../../support/contents.ts";
import { type FaultyDriver, faultyDriver } from "../../support/faulty_driver.ts";
import { inTurn } from "../../support/test_unless.ts";
import { TINY_LIMITS, TinyEngine } from "../../support/tiny_engine.ts";
import { captureWarnings } from "../../support/warnings.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

Deno.test("PinnedRing that is larger than the default one grows by as much as that has", () =>
  withDevice(({ context }) => {
    const { slotBytes } = TINY_LIMITS;
    const ring = new PinnedRing(context, { ...DEFAULT_LIMITS, slotBytes, slotCount: 100 });
    const sizes = new Set<number>();
    const slots: Slot[] = [];
    for (let slot = ring.take("upload"); slot !== undefined; slot = ring.take("upload")) {
      slots.push(slot);
      sizes.add(ring.byteLength / slotBytes);
    }
    assertEquals([...sizes], [2, 10, 20, 40, 72, 100]);
    assertEquals(new Set(slots.map(({ address }) => address)).size, 100);
    for (const slot of slots) ring.put(slot);
    ring.trim();
    assertEquals(ring.byteLength, 0);
  }));

Deno.test("PinnedRing.take() gives downloads the slot that is free for longest, uploads the last one", () =>
  withDevice(({ context }) => {
    const ring = new PinnedRing(context, { ...TINY_LIMITS, slotCount: 4 });
    const taken = [1, 2, 3, 4].map(() => ring.take("download"));
    assertEquals(new Set(taken).size, 4);
    assertEquals(ring.take("download"), undefined);
    for (const at of [2, 0, 3, 1]) ring.put(taken[at] as Slot);
    const [a, b, c, d] = taken;
    assertEquals([ring.take("download"), ring.take("upload"), ring.take("download")], [c, b, a]);
    assertEquals(ring.take("upload"), d);
    for (const slot of taken) ring.put(slot as Slot);
    ring.trim();
  }));

Deno.test("PinnedRing.trim() gives idle slots back, and the next transfer takes them again", () =>
  withDevice(async (gpu) => {
    using engine = new TinyEngine(gpu);
    using buffer = gpu.alloc("uint8", 50_000);
    await engine.upload(buffer, patternBytes(50_000));
    for (const cache of gpu.context.ledger.caches) cache.trim();
    assertEquals(cachedBytes(gpu), 0);
    assertSameBytes(await engine.download(buffer), patternBytes(50_000));
    assertGreater(cachedBytes(gpu), 0);
  }));

testOnDevice("PinnedRing.trim() leaves slots that are in use", async (gpu) => {
  using engine = new TinyEngine(gpu);
  using buffer = gpu.alloc("uint8", 500_000);
  const uploading = engine.upload(buffer, patternBytes(500_000));
  for (const cache of gpu.context.ledger.caches) cache.trim();
  await uploading;
  assertSameBytes(buffer.downloadSync(), patternBytes(500_000));
});

Deno.test("PinnedRing makes do with the slots it has when the host gives no more", () =>
  withFaults(async ({ gpu, engine, buffer, setFault }) => {
    setFault({ name: "cuMemHostAlloc", after: 1 });
    await engine.upload(buffer, patternBytes(50_000));
    assertEquals(cachedBytes(gpu), TINY_LIMITS.slotBytes * FIRST_SLOTS);
    setFault(undefined);
    assertSameBytes(buffer.downloadSync(), patternBytes(50_000));
  }));

Deno.test(
  inTurn("PinnedRing gives back the rest when one slab fails, and uses none of them again"),
  () =>
    withFaults(async ({ gpu, engine, buffer, setFault }) => {
      await engine.upload(buffer, patternBytes(50_000));
      const [ring] = [...gpu.context.ledger.caches].filter(({ name }) => name === "transfer ring");
      assertGreater(ring?.byteLength ?? 0, TINY_LIMITS.slotBytes * FIRST_SLOTS);
      setFault({ name: "cuMemFreeHost" });
      assertEquals(captureWarnings(() => ring?.trim()).length, 2);
      setFault(undefined);
      assertEquals(ring?.byteLength, 0);
      await engine.upload(buffer, patternBytes(50_000, 3));
      assertSameBytes(buffer.downloadSync(), patternBytes(50_000, 3));
      assertEquals(captureWarnings(() => ring?.trim()), []);
    }),
);

Deno.test(
  inTurn("PinnedRing grows again after the host had no more for one transfer"),
  () =>
    withFaults(async ({ gpu, engine, buffer, setFault }) => {
      setFault({ name: "cuMemHostAlloc", after: 1 });
      await engine.upload(buffer, patternBytes(50_000));
      const fewBytes = cachedBytes(gpu);
      setFault(undefined);
      await engine.upload(buffer, patternBytes(50_000));
      assertGreater(cachedBytes(gpu), fewBytes);
    }),
);

Deno.test("PinnedRing gives a slab back whose fences cannot be made", () =>
  withFaults(async ({ gpu, engine, buffer, setFault }) => {
    setFault({ name: "cuEventCreate", after: 1 });
    await assertRejects(() => engine.upload(buffer, patternBytes(50_000)), CudaError);
    setFault(undefined);
    assertEquals(cachedBytes(gpu), 0);
    await engine.upload(buffer, patternBytes(50_000));
  }));

/** Makes the ring's transfers on a driver whose calls can be made to fail. */
function withFaults(
  use: (scene: {
    readonly gpu: CudaDevice;
    readonly engine: TinyEngine;
    readonly buffer: DeviceBuffer<"uint8">;
    readonly setFault: FaultyDriver["setFault"];
  }) => Promise<void>,
): Promise<void> {
  const { driver, setFault } = faultyDriver(simulateDriver());
  return withDevice(async (gpu) => {
    using engine = new TinyEngine(gpu);
    using buffer = gpu.alloc("uint8", 50_000);
    await use({ gpu, engine, buffer, setFault });
  }, { driver });
}

function cachedBytes(gpu: CudaDevice): number {
  return gpu.context.ledger.cachedBytes("host");
}
