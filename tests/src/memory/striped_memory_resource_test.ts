// One range over several devices: which device has which stripe, that all of them reach all of it, in
// order, and what is left when a device has too little memory or a call fails.

import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import type { CudaDevice, GpuBuffer } from "../../../mod.ts";
import { StripedMemoryResource } from "../../../src/memory/striped_memory_resource.ts";
import { CudaUnavailableError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { assertSameBytes, patternBytes } from "../../support/contents.ts";
import { ON_GPU } from "../../support/driver.ts";
import { GROUP_SIZES, MAX_RANKS } from "../../support/group_scene.ts";
import { deviceAt, withDevices } from "../../support/parts_scene.ts";
import { CaughtWarnings } from "../../support/warnings.ts";

const MIB = 2 ** 20;

type Bytes = GpuBuffer<"uint8">;

for (const count of GROUP_SIZES) {
  Deno.test(`gpus.stripe() over ${count} devices: each of them writes and reads all of it`, () =>
    withDevices(count, async (gpus, stack) => {
      const length = 7 * 2 * MIB + 1234; // the last stripe is not a whole one
      const wide = stack.use(gpus.stripe(length, { stripeSize: "2 MiB", label: "wide" }));
      assertEquals([wide.length, wide.dtype, wide.label], [length, "uint8", "wide"]);
      const { memoryResource: resource } = wide;
      assert(resource instanceof StripedMemoryResource);
      assertEquals([resource.ordinals, resource.stripeBytes], [
        gpus.map(({ ordinal }) => ordinal),
        2 * MIB,
      ]);
      const bytes = patternBytes(length);
      await wide.upload(bytes);
      assertSameBytes(await wide.download(), bytes);
      for (const [rank, gpu] of [...gpus].entries()) {
        const own = stack.use(gpu.alloc("uint8", length));
        own.copyFrom(wide); // on this device's stream, after the fills of the one before
        const expected = rank === 0 ? bytes : new Uint8Array(length).fill(rank);
        assertSameBytes(await own.download(), expected);
        wide.fill(rank + 1, { stream: gpu.stream });
        const next = gpus.at((rank + 1) % count);
        const other = stack.use(deviceAt(gpus, (rank + 1) % count).alloc("uint8", 1000));
        other.copyFrom(wide.subarray(length - 1000));
        assertEquals(await other.download(), new Uint8Array(1000).fill(rank + 1));
        wide.subarray(5, 1005).copyFrom(other.clear(), { stream: next?.stream });
        assertEquals(await wide.at(1004), 0);
        wide.fill(rank + 1, { stream: gpu.stream });
      }
    }));
}

/** Copies between blocks of 16 bytes, on a device's stream. */
const COPIES: Readonly<Record<string, (gpu: CudaDevice, to: Bytes, from: Bytes) => unknown>> = {
  "copyFrom()": ({ stream }, to, from) => to.copyFrom(from, { stream }),
  "copyFrom() of columns": ({ stream }, to, from) =>
    to.reshape([4, 4]).transpose().copyFrom(from.reshape([4, 4]), { stream }),
  "copyBatch()": (gpu, destination, source) => gpu.copyBatch([{ destination, source }]),
};

for (const [name, copy] of Object.entries(COPIES)) {
  Deno.test(
    `${name} between striped memory and the first device's own goes on the other's stream`,
    { ignore: MAX_RANKS < 2 },
    async () => {
      for (const isInto of [true, false]) {
        // No device has the right to the other's own memory yet.
        await withDevices(2, async (gpus, stack) => {
          const wide = stack.use(gpus.stripe(16)).fill(1);
          const own = stack.use(deviceAt(gpus, 0).zeros("uint8", 16));
          copy(deviceAt(gpus, 1), isInto ? wide : own, isInto ? own : wide);
          assertEquals([await wide.at(-1), await own.at(-1)], isInto ? [0, 0] : [1, 1]);
        });
      }
    },
  );
}

Deno.test("gpus.stripe() takes its stripes from each device in turn, and gives them back", () =>
  withDevices(MAX_RANKS, (gpus) => {
    const used = () => gpus.map(({ memory: { freeBytes } }) => freeBytes);
    const before = used();
    const wide = gpus.stripe(4 * MIB * MAX_RANKS + 1, { stripeSize: 4 * MIB });
    const taken = before.map((bytes, rank) => bytes - (used()[rank] ?? 0));
    if (!ON_GPU) assertEquals(taken, taken.map((_, rank) => (rank === 0 ? 6 : 4) * MIB));
    assert(taken.every((bytes) => bytes >= 4 * MIB), `${taken}`);
    wide.dispose();
    for (const gpu of gpus) gpu.synchronizeSync();
    if (!ON_GPU) assertEquals(used(), before);
  }));

Deno.test("gpus.stripe() takes element types, and refuses parts of elements", () =>
  withDevices(MAX_RANKS, async (gpus, stack) => {
    const wide = stack.use(gpus.stripe("4 KiB", { dtype: "float64" }));
    assertEquals(wide.length, 512);
    wide.fill(0.5);
    assertEquals(await wide.at(-1), 0.5);
    assertThrows(() => gpus.stripe(12, { dtype: "float64" }), RangeError, "elements of 8 bytes");
    assertThrows(() => gpus.stripe(-1), RangeError);
    using none = gpus.stripe(0);
    assertEquals(none.length, 0);
  }));

Deno.test("new StripedMemoryResource() refuses what are no devices, and one twice", () =>
  withDevices(1, (gpus) => {
    const gpu = deviceAt(gpus, 0);
    const refused: [unknown, string][] = [
      [[], "no devices"],
      [[gpu, gpu], "named twice"],
      [[5], "expected a device"],
      [gpu, "expected a list of devices"],
      ["gpus", "expected a list of devices"],
    ];
    for (const [owners, words] of refused) {
      assertThrows(() => new StripedMemoryResource(owners as never), TypeError, words);
    }
    const resource = new StripedMemoryResource(gpus);
    assertThrows(() => resource.deallocate(4096n, 1, gpu.stream), RangeError, "did not allocate");
  }));

if (!ON_GPU) {
  Deno.test("gpus.stripe() names two devices that do not reach each other", () =>
    withDevices(2, (gpus) => {
      const error = assertThrows(() => gpus.stripe(MIB), CudaUnavailableError);
      assertStringIncludes(`${error}`, "over devices 0 and 1");
    }, { driver: simulateDriver({ peerAccess: false }) }));

  Deno.test("gpus.stripe() takes more than one device has, and nothing where one has too little", () =>
    withDevices(3, (gpus) => {
      using wide = gpus.stripe("90 MiB", { stripeSize: "2 MiB" });
      assertEquals(wide.length, 90 * MIB);
      wide.dispose();
      using _full = deviceAt(gpus, 2).alloc("uint8", 60 * MIB);
      assertThrows(() => gpus.stripe("90 MiB", { stripeSize: "2 MiB" }), OutOfMemoryError);
    }, { driver: simulateDriver({ devices: 3, memoryBytes: 64 * MIB }) }));

  Deno.test("a stripe that cannot be unmapped is reported, and costs only itself", async () => {
    const simulated = simulateDriver({ devices: 2 });
    let isBroken = true;
    const cuMemUnmap: typeof simulated.cuMemUnmap = (...args) => {
      if (isBroken) {
        isBroken = false;
        return 999;
      }
      return simulated.cuMemUnmap?.(...args) ?? 0;
    };
    using gpus = (await import("../../../mod.ts")).CudaDevice.all({
      driver: { ...simulated, cuMemUnmap },
    });
    using warnings = new CaughtWarnings();
    const free = gpus.map(({ memory: { freeBytes } }) => freeBytes);
    gpus.stripe("8 MiB", { stripeSize: "2 MiB" }).dispose();
    assertEquals(warnings.texts.length, 1);
    assertStringIncludes(warnings.texts[0] ?? "", "2 MiB of striped memory");
    const lost = gpus.map(({ memory: { freeBytes } }, rank) => (free[rank] ?? 0) - freeBytes);
    assertEquals(lost, [2 * MIB, 0]);
  });
}
