// Lazy buffers: what takes the memory, what must not, and what happens when it cannot be had.

import { assert, assertEquals, assertFalse, assertNotEquals, assertThrows } from "@std/assert";
import { CUresult } from "../../../ffi/constants.ts";
import type { LazyBuffer } from "../../../src/buffers/lazy_buffer.ts";
import "../../../src/cards/shown.ts";
import { DisposedError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { patternBytes } from "../../support/contents.ts";
import { faultyDriver, watchedDriver } from "../../support/faulty_driver.ts";
import { freeBytes, withDevice } from "../../support/with_device.ts";

Deno.test("LazyBuffer takes no memory when it is planned, looked at or shown", () => {
  const { driver, calls } = watchedDriver();
  return withDevice((gpu) => {
    using lazy = gpu.lazy("float32", [8, 8], { label: "x" });
    calls.length = 0;
    assertEquals([lazy.length, lazy.byteLength, lazy.totalByteLength], [64, 256, 256]);
    assertEquals([lazy.kind, lazy.label, lazy.deviceOrdinal], ["device", "x", 0]);
    assertEquals(lazy.view(1).as("uint8").subarray(4).byteLength, 28);
    assertEquals(lazy.strided({ shape: [8], strides: [9] }).length, 8);
    assertEquals(
      Deno.inspect(lazy),
      "LazyBuffer(x, float32[8, 8]) 256 B on device 0, not allocated yet",
    );
    showInNotebook(lazy);
    showInNotebook(lazy.transpose());
    assertFalse(lazy.isAllocated);
    assertEquals(calls.filter((name) => name.startsWith("cuMem")), []);
    assertEquals(gpu.live().byteLength, 0);
  }, { driver });
});

Deno.test("LazyBuffer is allocated by its first use, once", () =>
  withDevice((gpu) => {
    const uses: ((lazy: LazyBuffer<"uint8">) => unknown)[] = [
      (lazy) => lazy.fill(1),
      (lazy) => lazy.clear(),
      (lazy) => lazy.ptr,
      (lazy) => lazy.uploadSync(new Uint8Array(1000)),
      (lazy) => lazy.subarray(4, 8).fill(1),
      (lazy) => lazy.ensureAllocated(),
    ];
    for (const use of uses) {
      using lazy = gpu.lazy("uint8", 1000);
      use(lazy);
      assert(lazy.isAllocated, String(use));
      assertEquals(gpu.live().byteLength, 1000);
      const { ptr } = lazy;
      assertNotEquals(ptr, 0n);
      assertEquals(lazy.ensureAllocated().ptr, ptr);
    }
  }));

Deno.test("LazyBuffer takes the device's memory at first use and gives it back", () =>
  withDevice((gpu) => {
    const before = freeBytes(gpu);
    const lazy = gpu.lazy("uint8", 2 ** 26);
    assertEquals(freeBytes(gpu), before);
    lazy.fill(1);
    assert(freeBytes(gpu) <= before - 2 ** 26);
    lazy.dispose();
    assertEquals(freeBytes(gpu), before);
  }));

Deno.test("LazyBuffer that was never used is disposed like any other", () =>
  withDevice((gpu) => {
    const lazy = gpu.lazy("uint8", 1000);
    const view = lazy.subarray(10);
    lazy.dispose();
    assertThrows(() => lazy.ensureAllocated(), DisposedError);
    assertThrows(() => view.fill(1), DisposedError);
    assertEquals([lazy.isAllocated, gpu.live().count], [false, 0]);
  }));

Deno.test("LazyBuffer of 0 bytes needs no memory", () =>
  withDevice((gpu) => {
    using lazy = gpu.lazy("uint8", 0);
    assert(lazy.isAllocated);
    lazy.ensureAllocated().fill(1);
    assertEquals(lazy.ptr, 0n);
  }));

Deno.test("LazyBuffer.ensureAllocated() says all amounts, and a later call tries again", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice((gpu) => {
    using lazy = gpu.lazy("uint8", 1000);
    setFault({ name: "cuMemAllocAsync", status: CUresult.CUDA_ERROR_OUT_OF_MEMORY });
    const error = assertThrows(() => lazy.fill(1), OutOfMemoryError);
    assertEquals([error.requestedBytes, lazy.isAllocated], [1000, false]);
    setFault(undefined);
    assertEquals(lazy.fill(1).downloadSync()[999], 1);
  }, { driver });
});

Deno.test("LazyBuffer first used on another stream comes after its own", () =>
  withDevice((gpu) => {
    using other = gpu.createStream();
    for (let round = 0; round < 5; round++) {
      using lazy = gpu.lazy("uint8", 4096);
      lazy.uploadSync(patternBytes(4096, round), { stream: other });
      assertEquals(lazy.downloadSync(), patternBytes(4096, round));
    }
  }));

Deno.test("LazyBuffer outlives the stream it was planned on", () =>
  withDevice((gpu) => {
    const stream = gpu.createStream();
    using lazy = gpu.lazy("uint8", 64, { stream });
    stream.dispose();
    using other = gpu.createStream();
    lazy.fill(3, { stream: other });
    assertEquals(lazy.downloadSync()[63], 3);
  }));

Deno.test("LazyBuffer.release() gives an address that exists", () =>
  withDevice((gpu) => {
    const { memoryResource, stream } = gpu;
    const lazy = gpu.lazy("uint8", 64, { resource: memoryResource });
    const address = lazy.release();
    assertNotEquals(address, 0n);
    assertEquals(gpu.live().count, 0);
    memoryResource.deallocate(address, 64, stream);
  }));

function showInNotebook(value: object): void {
  const display = Reflect.get(value, Symbol.for("Jupyter.display"));
  assert(typeof display === "function");
  display.call(value);
}
