// Checks that shortages are explained, that a failed free is reported, and that memory stays for as
// long as the GPU or a transfer needs it.

import {
  assert,
  assertEquals,
  assertFalse,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { CUresult } from "../../../ffi/constants.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { Allocation } from "../../../src/memory/allocation.ts";
import { CudaMemoryResource } from "../../../src/memory/cuda_memory_resource.ts";
import { OutOfMemoryError } from "../../../src/words/errors.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { captureWarnings } from "../../support/warnings.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const GIB = 2 ** 30;

Deno.test("Allocation.create() explains a shortage with all amounts", () =>
  withDevice((gpu) => {
    using _weights = gpu.alloc("uint8", 2 * GIB, { label: "weights" });
    using _cache = gpu.alloc("uint8", GIB);
    const error = assertThrows(() => gpu.alloc("float32", GIB / 2), OutOfMemoryError);
    assertEquals(
      [error.requestedBytes, error.freeBytes, error.totalBytes, error.liveBytes],
      [2 * GIB, GIB, 4 * GIB, 3 * GIB],
    );
    assertEquals(error.largest.map(({ byteLength }) => byteLength), [2 * GIB, GIB]);
    assertEquals(error.largestLive?.name, "weights");
    assertStringIncludes(
      error.message,
      "Cannot allocate 2 GiB on device 0: CUDA_ERROR_OUT_OF_MEMORY (2), 1 GiB of 4 GiB free, " +
        "3 GiB in 2 live buffers (largest: weights 2 GiB)",
    );
  }, { driver: simulateDriver({ memoryBytes: 4 * GIB }) }));

Deno.test("Allocation.create() refuses more than the device has without a driver call", () => {
  const { driver, setFault } = faultyDriver(simulateDriver({ memoryBytes: GIB }));
  return withDevice((gpu) => {
    setFault({ name: "cuMemAllocAsync", status: CUresult.CUDA_ERROR_UNKNOWN });
    const error = assertThrows(() => gpu.alloc("uint8", 2 * GIB), OutOfMemoryError);
    assertEquals(error.requestedBytes, 2 * GIB);
    setFault(undefined);
  }, { driver });
});

testOnDevice("Allocation.create() passes on what a user's resource throws", (gpu) => {
  const resource = {
    context: gpu.context,
    isDeviceAccessible: true,
    isHostAccessible: false,
    allocate: () => {
      throw new RangeError("mine is full");
    },
    deallocate: () => {},
  };
  assertThrows(() => gpu.alloc("uint8", 16, { resource }), RangeError, "mine is full");
});

for (const name of ["cuMemFreeAsync", "cuMemFreeHost", "cuMemFree_v2"] as const) {
  Deno.test(`Allocation.release() reports a failing ${name} and does not throw`, () => {
    const { driver, setFault } = faultyDriver(simulateDriver());
    return withDevice((gpu) => {
      const resource = new CudaMemoryResource(gpu);
      const buffer = {
        cuMemFreeAsync: () => gpu.alloc("uint8", 4096, { label: "x" }),
        cuMemFreeHost: () => gpu.pinned("uint8", 4096, { label: "x" }),
        cuMemFree_v2: () => gpu.alloc("uint8", 4096, { label: "x", resource }),
      }[name]();
      const { ptr } = buffer;
      setFault({ name, status: CUresult.CUDA_ERROR_LAUNCH_FAILED });
      const warnings = captureWarnings(() => buffer.dispose());
      setFault(undefined);
      assertEquals(warnings.length, 1);
      assertStringIncludes(
        warnings[0] ?? "",
        "vramkit: x could not be given back: Cannot complete",
      );
      assert(buffer.disposed);
      assertEquals(gpu.live().count, 0);
      assertEquals(captureWarnings(() => buffer.dispose()), []); // never freed twice
      gpu.synchronizeSync();
      gpu.context.call(name === "cuMemFreeHost" ? "cuMemFreeHost" : "cuMemFree_v2", ptr);
    }, { driver });
  });
}

Deno.test("Allocation.release() does not hide the error that ended the block", () => {
  const { driver, setFault } = faultyDriver(simulateDriver());
  return withDevice((gpu) => {
    let ptr = 0n;
    const warnings = captureWarnings(() => {
      assertThrows(
        () => {
          using buffer = gpu.alloc("uint8", 4096);
          ptr = buffer.ptr;
          setFault({ name: "cuMemFreeAsync" });
          throw new RangeError("the user's own");
        },
        RangeError,
        "the user's own",
      );
    });
    setFault(undefined);
    assertEquals(warnings.length, 1);
    gpu.synchronizeSync();
    gpu.context.call("cuMemFree_v2", ptr);
  }, { driver });
});

testHolding("Allocation.release() keeps pinned memory until a queued copy has read it", (gpu) => {
  using stream = gpu.createStream();
  using target = gpu.zeros("uint32", 1024, { stream });
  const source = gpu.pinned("uint32", 1024, { stream });
  source.array.fill(7);
  {
    using _held = new HeldStream(gpu, stream);
    target.copyFrom(source, { stream });
    assertEquals(captureWarnings(() => source.dispose()), []);
    assert(source.disposed);
  }
  assertEquals(target.downloadSync()[1023], 7);
});

testHolding("Allocation.release() keeps pinned memory until a queued copy wrote it", (gpu) => {
  using stream = gpu.createStream();
  using source = gpu.zeros("uint32", 1024, { stream });
  const target = gpu.pinned("uint32", 1024, { stream });
  const { array } = target;
  {
    using _held = new HeldStream(gpu, stream);
    source.copyTo(target, { stream });
    target.dispose();
    assertEquals(array.length, 0);
  }
  gpu.context.sweep();
});

testHolding("GpuBuffer.close() gives memory back in the order of its stream", (gpu) => {
  using stream = gpu.createStream();
  using buffer = gpu.zeros("uint8", 64);
  gpu.synchronizeSync();
  stream.synchronizeSync();
  using held = new HeldStream(gpu, gpu.stream);
  buffer.fill(1);
  assert(stream.isIdle);
  buffer.close(stream);
  assertFalse(stream.isIdle); // the free comes after the fill
  held.release();
});

testHolding("Allocation.release() of device memory waits for every stream that used it", (gpu) => {
  using reader = gpu.createStream();
  using target = gpu.zeros("uint32", 1024);
  const source = gpu.zeros("uint32", 1024);
  source.fill(5);
  {
    using _held = new HeldStream(gpu, reader);
    target.copyFrom(source, { stream: reader });
    source.dispose(); // in the order of the default stream, which waits for the reader
    using next = gpu.alloc("uint32", 1024);
    next.fill(9);
  }
  assertEquals(target.downloadSync()[1023], 5);
});

testOnDevice("Allocation.hold() keeps memory that is released meanwhile", (gpu) => {
  const { context, stream } = gpu;
  const resource = new CudaMemoryResource(gpu);
  const before = context.freeBytes();
  const request = { kind: "device", byteLength: 2 ** 24, resource, stream } as const;
  const allocation = Allocation.create(request);
  const first = allocation.hold();
  const second = allocation.hold();
  allocation.release();
  assert(allocation.released);
  assert(context.freeBytes() < before);
  first[Symbol.dispose]();
  assert(context.freeBytes() < before);
  second[Symbol.dispose]();
  assertEquals(context.freeBytes(), before);
});

testOnDevice("Allocation.hold() that ends first leaves the memory to its owner", (gpu) => {
  const { stream, context } = gpu;
  const resource = new CudaMemoryResource(gpu);
  const before = context.freeBytes();
  const allocation = Allocation.create({
    kind: "device",
    byteLength: 2 ** 24,
    resource,
    stream,
  });
  allocation.hold()[Symbol.dispose]();
  assertFalse(allocation.released);
  assert(context.freeBytes() < before);
  allocation.release();
  assertEquals(context.freeBytes(), before);
});

Deno.test("Warnings about a block say where it was made, whatever they warn of", () => {
  const { driver, setFault } = faultyDriver(simulateDriver());
  using gpu = CudaDevice.open(0, { driver, origins: "line" });
  const stuck = gpu.alloc("uint8", 4096, { label: "stuck" });
  const moved = gpu.pinned("uint8", 4096, { label: "moved" });
  const { ptr } = stuck;
  structuredClone(moved.array.buffer, { transfer: [moved.array.buffer] });
  setFault({ name: "cuMemFreeAsync", status: CUresult.CUDA_ERROR_LAUNCH_FAILED });
  const texts = captureWarnings(() => [stuck, moved].forEach((buffer) => buffer.dispose()));
  setFault(undefined);
  gpu.synchronizeSync();
  gpu.context.call("cuMemFree_v2", ptr);
  assertMatch(texts[0] ?? "", /^vramkit: stuck made at allocation_test\.ts:\d+:\d+ could not/);
  assertMatch(texts[1] ?? "", /^vramkit: moved \(4 KiB of pinned memory\) made at .* is lost/);
});
