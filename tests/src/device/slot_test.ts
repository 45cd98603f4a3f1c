// gpu.slot(): what it frees when a cell is run again, also when making the new value takes time or fails.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { runInNewContext } from "node:vm";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import { runWithCollector } from "../../support/collector_program.ts";
import { inTurn } from "../../support/test_unless.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

testOnDevice("CudaDevice.slot() frees the former holder before it makes the next", (gpu) => {
  const first = gpu.slot("weights", () => gpu.alloc("uint8", 1024));
  let liveWhileMaking = -1;
  const second = gpu.slot("weights", () => {
    liveWhileMaking = gpu.live().byteLength;
    return gpu.alloc("uint8", 2048);
  });
  assertEquals([first.disposed, second.disposed, liveWhileMaking], [true, false, 0]);
  gpu.slot("weights", () => null);
  assert(second.disposed);
});

testOnDevice("CudaDevice.slot() keeps places of other names", (gpu) => {
  const weights = gpu.slot("weights", () => gpu.alloc("uint8", 1024));
  gpu.slot("bias", () => null);
  assertEquals(weights.disposed, false);
  gpu.slot("weights", () => null);
});

Deno.test(inTurn("CudaDevice.slot() forgets names whose values were disposed"), async () => {
  const { result } = await runWithCollector(`
    const kept = gpu.slot("kept", () => gpu.alloc("uint8", 8));
    const growth = await growthOf(2000, (name) => {
      gpu.slot(name, () => gpu.alloc("uint8", 8)).dispose();
    });
    const before = kept.disposed;
    gpu.slot("kept", () => null);
    return [growth < 50, before, kept.disposed, growth];
  `);
  assertEquals((result as unknown[]).slice(0, 3), [true, false, true], `${result}`);
});

testOnDevice("CudaDevice.slot() keeps several in a DisposableStack, and in no list", (gpu) => {
  const make = () => [gpu.alloc("uint8", 1024), gpu.alloc("uint8", 1024)];
  const words = 'Cannot keep a list in slot "x": expected something that can be disposed, such ' +
    "as a buffer, or a DisposableStack for several";
  assertThrows(() => gpu.slot("x", make as never), TypeError, words);
  gpu.disposeAll();
  gpu.slot("x", () => {
    const stack = new DisposableStack();
    for (const buffer of make()) stack.use(buffer);
    return stack;
  });
  assertEquals(gpu.live().count, 2);
  gpu.slot("x", () => null);
});

testOnDevice("CudaDevice.slot() returns what make() resolves to", async (gpu) => {
  const x = await gpu.slot("x", () => gpu.upload(new Float32Array([1, 2])));
  assertEquals(await x.download(), new Float32Array([1, 2]));
  gpu.slot("x", () => null);
});

testOnDevice("CudaDevice.slot() waits for promises of other realms", async (gpu) => {
  const foreign = runInNewContext("(value) => Promise.resolve(value)");
  const made = gpu.slot("x", () => foreign(gpu.alloc("uint8", 4)));
  assertEquals((await made).byteLength, 4);
  gpu.slot("x", () => undefined);
  assertEquals(gpu.live().count, 0);
});

Deno.test("CudaDevice.slot() disposes a value that comes after the slot was filled again", () =>
  withDevice(async (gpu) => {
    const { promise, resolve } = Promise.withResolvers<DeviceBuffer>();
    const late = gpu.slot("x", () => promise);
    gpu.slot("x", () => null);
    resolve(gpu.alloc("uint8", 1024));
    assert((await late).disposed);
  }));

testOnDevice("CudaDevice.slot() is empty after make() failed", async (gpu) => {
  const held = gpu.slot("x", () => gpu.alloc("uint8", 1024));
  const fail = (): never => {
    throw new Error("no weights");
  };
  assertThrows(() => gpu.slot("x", fail), Error, "no weights");
  assert(held.disposed);
  await assertRejects(() => gpu.slot("x", () => Promise.reject(new Error("no file"))), Error);
});

testOnDevice("CudaDevice.slot() rejects a call for the slot whose value is being made", (gpu) => {
  const make = () => gpu.alloc("uint8", 1024);
  const nested = () => {
    gpu.slot("x", make);
    return make();
  };
  assertThrows(() => gpu.slot("x", nested), TypeError, 'slot("x") in the function that makes');
  assertEquals(gpu.live().byteLength, 0);
  const other = gpu.slot("x", () => {
    gpu.slot("y", make);
    return make();
  });
  assertEquals(other.disposed, false);
  for (const name of ["x", "y"]) gpu.slot(name, () => null);
});

Deno.test("CudaDevice.slot() goes on after a value that fails to be disposed, or fills the slot", () =>
  withDevice((gpu) => {
    const make = () => gpu.alloc("uint8", 1024);
    const failing = {
      [Symbol.dispose]() {
        throw new Error("cannot go");
      },
    };
    gpu.slot("x", () => failing);
    assertThrows(() => gpu.slot("x", make), Error, "cannot go");
    gpu.slot("x", () => ({ [Symbol.dispose]: () => void gpu.slot("x", make) }));
    const last = gpu.slot("x", make);
    assertEquals([last.disposed, gpu.live().byteLength], [false, 1024]);
    gpu.slot("x", () => null);
  }));

Deno.test(inTurn("CudaDevice.slot() keeps nothing of names whose slots are empty"), async () => {
  const { result } = await runWithCollector(`
    return await growthOf(5000, async (name) => {
      gpu.slot(name, () => ({ [Symbol.dispose]() {} }));
      gpu.slot(name, () => undefined);
      await gpu.slot(name, () => Promise.resolve(null));
      try {
        gpu.slot(name, () => { throw new Error("not made"); });
      } catch {}
    });
  `);
  assertEquals(Number(result) < 50, true, `${result} bytes a name`);
});
