// Foreign pointers as buffers, and the way back: adopted, borrowed, shown, released.

import { assertEquals, assertFalse, assertRejects, assertThrows } from "@std/assert";
import type { CudaDevice } from "../../../src/device/device.ts";
import { AlignedResourceAdaptor } from "../../../src/resources/aligned_resource_adaptor.ts";
import { CachingResourceAdaptor } from "../../../src/resources/caching_resource_adaptor.ts";
import { PooledPinnedHostMemoryResource } from "../../../src/resources/pooled_pinned_host_memory_resource.ts";
import { CudaError, DisposedError } from "../../../src/words/errors.ts";
import { assertHoldsOnly } from "../../support/contents.ts";
import { openTestDevice, testOnTwoDevices } from "../../support/driver.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { LATE_BYTES, requireUnderWay } from "../../support/under_way.ts";
import { captureWarnings } from "../../support/warnings.ts";
import { freeBytes, testOnDevice, withDevice } from "../../support/with_device.ts";

/** Allocates as another library would: the kit knows nothing of it. */
function foreignMemory(gpu: CudaDevice, byteLength: number): bigint {
  const cell = new BigUint64Array(1);
  gpu.context.call("cuMemAlloc_v2", cell, BigInt(byteLength));
  return cell[0] ?? 0n;
}

function freeForeign(gpu: CudaDevice, address: bigint): void {
  gpu.context.call("cuMemFree_v2", address);
}

testOnDevice("CudaDevice.fromHandle() shows foreign memory and leaves it alone", async (gpu) => {
  const address = foreignMemory(gpu, 16);
  {
    using buffer = gpu.fromHandle(address, 16, { dtype: "float32", shape: [2, 2], label: "f" });
    buffer.fill(2);
    assertEquals([...await buffer.download()], [2, 2, 2, 2]);
    assertEquals([buffer.ptr, buffer.kind, buffer.label], [address, "imported", "f"]);
    assertEquals([buffer.isDeviceAccessible, buffer.isHostAccessible], [true, false]);
  }
  freeForeign(gpu, address);
});

testOnDevice("CudaDevice.fromHandle() gives bytes unless told a type", (gpu) => {
  using other = gpu.zeros("float32", 4);
  using buffer = gpu.fromHandle(other.ptr, 16);
  assertEquals([buffer.dtype, buffer.shape], ["uint8", [16]]);
});

testOnDevice("CudaDevice.fromHandle() gives adopted memory back to its resource", (gpu) => {
  const before = freeBytes(gpu);
  using made = gpu.alloc("uint8", 4 << 20);
  const { memoryResource: resource } = made;
  const adopted = gpu.fromHandle(made.release(), 4 << 20, { resource });
  assertEquals(adopted.memoryResource, resource);
  assertEquals(freeBytes(gpu) < before, true);
  adopted.dispose();
  assertEquals(freeBytes(gpu), before);
});

testHolding("CudaDevice.fromHandle() calls deallocate once the GPU is done", (gpu) => {
  const address = foreignMemory(gpu, 64);
  const freed: [bigint, number][] = [];
  using stream = gpu.createStream();
  using held = new HeldStream(gpu, stream);
  const buffer = gpu.fromHandle(address, 64, {
    deallocate: (pointer, byteLength) => freed.push([pointer, byteLength]),
  });
  buffer.fill(1, { stream });
  buffer.dispose();
  buffer.dispose();
  gpu.context.sweep();
  assertEquals(freed, []);
  held.release();
  gpu.synchronizeSync();
  gpu.context.sweep();
  assertEquals(freed, [[address, 64]]);
  freeForeign(gpu, address);
});

const FAILING: readonly [string, () => void, string][] = [
  ["throws", () => {
    throw new Error("no luck");
  }, "no luck"],
  ["returns a promise", () => Promise.reject(new Error("no luck")), "returned a promise"],
];

for (const [what, deallocate, words] of FAILING) {
  testOnDevice(`CudaDevice.fromHandle() reports a deallocate that ${what}`, (gpu) => {
    const address = foreignMemory(gpu, 64);
    const warnings = captureWarnings(() => {
      gpu.fromHandle(address, 64, { deallocate }).dispose();
      gpu.synchronizeSync();
      gpu.context.sweep();
    });
    assertEquals(warnings.length, 1);
    assertEquals(warnings[0]?.includes(words), true);
    freeForeign(gpu, address);
  });
}

testOnDevice("CudaDevice.fromHandle() refuses contradictory options", (gpu) => {
  using buffer = gpu.alloc("uint8", 4);
  const { memoryResource: resource, ptr } = buffer;
  const deallocate = () => {};
  const refuse = (options: Parameters<CudaDevice["fromHandle"]>[2], words: string) =>
    assertThrows(() => gpu.fromHandle(ptr, 4, options), TypeError, words);
  refuse({ resource, owner: buffer }, "resource and owner");
  refuse({ owner: buffer, deallocate }, "owner and deallocate");
  refuse({ resource, deallocate }, "resource and deallocate");
});

testOnDevice("CudaDevice.fromHandle() refuses addresses and sizes that cannot be", (gpu) => {
  using buffer = gpu.alloc("uint8", 512);
  const { ptr } = buffer;
  assertThrows(() => gpu.fromHandle(0x10n, 4), TypeError, "does not know it");
  assertThrows(() => gpu.fromHandle(ptr, 1 << 30), RangeError, "their allocation ends after");
  assertThrows(() => gpu.fromHandle(ptr, 6, { dtype: "float32" }), RangeError, "of 4 bytes");
  assertThrows(
    () => gpu.fromHandle(ptr + 2n, 4, { dtype: "float32" }),
    RangeError,
    "of float32: it is no multiple of 4",
  );
  assertThrows(() => gpu.fromHandle(ptr, 4, { shape: [3] }), RangeError, "the shape has 3");
  assertThrows(() => gpu.fromHandle(ptr, -1), RangeError, "-1");
  const number = Number(ptr) as unknown as bigint;
  assertThrows(() => gpu.fromHandle(number, 4), TypeError, "expected a bigint");
  assertEquals(gpu.live().count, 1);
});

testOnDevice("CudaDevice.fromHandle() takes an address of no bytes", async (gpu) => {
  using buffer = gpu.fromHandle(0n, 0, { dtype: "float32" });
  assertEquals([buffer.length, buffer.ptr], [0, 0n]);
  assertEquals((await buffer.download()).length, 0);
});

testHolding("CudaDevice.fromHandle() of a live buffer's memory is ordered with it", (gpu) => {
  using writer = gpu.createStream();
  using reader = gpu.createStream();
  using buffer = gpu.zeros("uint8", 4096);
  using part = gpu.fromHandle(buffer.ptr + 1024n, 1024);
  using target = gpu.zeros("uint8", 1024);
  using held = new HeldStream(gpu, writer);
  buffer.fill(7, { stream: writer });
  target.copyFrom(part, { stream: reader });
  assertFalse(reader.isIdle);
  part.fill(1, { stream: writer }); // waits for the copy
  held.release();
  buffer.subarray(1024, 2048).fill(2); // waits for the other fill
  assertHoldsOnly(target.downloadSync(), 7);
  assertHoldsOnly(part.downloadSync(), 2);
});

testHolding("CudaDevice.fromHandle() twice of foreign memory has one order", (gpu) => {
  const address = foreignMemory(gpu, 64);
  using stream = gpu.createStream();
  {
    using first = gpu.fromHandle(address, 64);
    using second = gpu.fromHandle(address, 64);
    using held = new HeldStream(gpu, stream);
    first.fill(1, { stream });
    second.fill(2);
    assertFalse(gpu.stream.isIdle);
    held.release();
    assertHoldsOnly(first.downloadSync(), 2);
  }
  freeForeign(gpu, address);
});

testOnDevice("CudaDevice.fromHandle() of a live buffer is no other memory to a copy", (gpu) => {
  using buffer = gpu.zeros("uint8", 64);
  using part = gpu.fromHandle(buffer.ptr + 16n, 32);
  assertThrows(() => buffer.subarray(0, 32).copyFrom(part), RangeError, "onto themselves");
  using start = gpu.fromHandle(buffer.ptr, 32);
  buffer.subarray(32).copyFrom(start);
  const [rows, columns] = [start.reshape([4, 8]).strided(), buffer.subarray(8, 40)];
  const turned = columns.reshape([8, 4]).transpose();
  assertThrows(() => turned.copyFrom(rows), RangeError, "both show the same memory");
  buffer.subarray(32).reshape([8, 4]).transpose().copyFrom(rows);
});

testOnDevice("CudaDevice.fromHandle() of read-only registered memory is read-only", (gpu) => {
  using registered = gpu.register(new Uint8Array(4096), { readOnly: true });
  using shown = gpu.fromHandle(registered.ptr, 4096);
  assertThrows(() => shown.fill(1), TypeError, "read-only memory");
});

testOnTwoDevices("CudaDevice.fromHandle() finds the device from the pointer", (first, second) => {
  using made = second.zeros("uint8", 8);
  using shown = first.fromHandle(made.ptr, 8);
  assertEquals(shown.deviceOrdinal, 1);
  assertThrows(
    () => first.fromHandle(made.ptr, 8, { resource: first.memoryResource }),
    TypeError,
    "the resource belongs to device 0",
  );
});

testOnDevice("GpuBuffer.release() gives the address away and forgets the memory", (gpu) => {
  const buffer = gpu.alloc("uint8", 64);
  const view = buffer.subarray(0, 8);
  const { ptr } = buffer;
  assertEquals(buffer.release(), ptr);
  assertEquals([buffer.disposed, view.disposed, gpu.live().count], [true, true, 0]);
  assertThrows(() => buffer.release(), DisposedError);
  buffer.dispose();
  gpu.synchronizeSync();
  freeForeign(gpu, ptr);
});

testOnDevice("GpuBuffer.release() gives an address that its resource takes back", (gpu) => {
  using cache = new CachingResourceAdaptor(gpu.memoryResource);
  const aligned = new AlignedResourceAdaptor(gpu.memoryResource, { alignmentSize: 4096 });
  using pool = new PooledPinnedHostMemoryResource(gpu);
  for (
    const buffer of [
      gpu.alloc("uint8", 100, { resource: cache }),
      gpu.alloc("uint8", 100, { resource: aligned }),
      gpu.pinned("uint8", 100, { resource: pool }),
      gpu.managed("uint8", 100),
    ]
  ) {
    const { memoryResource: resource, ptr } = buffer;
    using adopted = gpu.fromHandle(buffer.release(), 100, { resource });
    assertEquals([adopted.ptr, adopted.fill(7).downloadSync()[99]], [ptr, 7]);
  }
});

testOnDevice("GpuBuffer.release() refuses a view", (gpu) => {
  using buffer = gpu.alloc("uint8", 64);
  assertThrows(() => buffer.subarray(1).release(), TypeError, "it is a view");
});

testOnDevice("GpuBuffer.release() refuses while an upload is running", async (gpu) => {
  using buffer = gpu.alloc("uint8", 40 << 20);
  const upload = buffer.upload(new Uint8Array(40 << 20));
  assertThrows(
    () => buffer.release(),
    TypeError,
    "a transfer, a graph, another library or another process uses it",
  );
  await upload;
});

Deno.test("GpuBuffer.release() lets the context go with the last buffer", () => {
  const gpu = openTestDevice();
  const buffer = gpu.alloc("uint8", 64);
  const { context } = buffer;
  const address = buffer.release();
  gpu.synchronizeSync();
  freeForeign(gpu, address);
  gpu.dispose();
  assertEquals(context.released, true);
});

testOnDevice("CudaDevice.pointerAttributes() tells kinds of memory apart", (gpu) => {
  using device = gpu.alloc("uint8", 512);
  using pinned = gpu.pinned("uint8", 512);
  const onDevice = gpu.pointerAttributes(device.ptr);
  const onHost = gpu.pointerAttributes(pinned.ptr);
  assertEquals([onDevice.memoryType, onHost.memoryType], ["device", "host"]);
  assertEquals([onDevice.isHostAccessible, onHost.isHostAccessible], [false, true]);
  assertEquals([onDevice.isDeviceAccessible, onHost.isDeviceAccessible], [true, true]);
  assertEquals([onDevice.deviceOrdinal, onDevice.isManaged], [0, false]);
  assertEquals(gpu.pointerAttributes(device.ptr + 8n).bufferId, onDevice.bufferId);
});

Deno.test("CudaDevice.fromHandle() of a disposed buffer's memory is refused, and calls before go on", () =>
  withDevice(async (gpu) => {
    const owner = gpu.alloc("uint8", LATE_BYTES);
    using borrowed = gpu.fromHandle(owner.ptr, LATE_BYTES);
    using copied = gpu.alloc("uint8", LATE_BYTES);
    const uploading = borrowed.upload(new Uint8Array(LATE_BYTES).fill(7));
    requireUnderWay(gpu.stream);
    copied.copyFrom(borrowed);
    owner.dispose();
    await uploading;
    assertHoldsOnly(await copied.download(), 7);
    for (const use of [() => borrowed.fill(1), () => copied.copyFrom(borrowed)]) {
      assertThrows(use, DisposedError);
    }
  }));

Deno.test("CudaDevice.pointerAttributes() tells what the driver fails with", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice((gpu) => {
    using buffer = gpu.alloc("uint8", 64);
    for (const after of [0, 1, 2, 3, 4, 5, 6]) {
      setFault({ name: "cuPointerGetAttribute", after });
      assertThrows(() => gpu.pointerAttributes(buffer.ptr), CudaError, "cuPointerGetAttribute");
    }
    setFault(undefined);
    assertEquals(gpu.pointerAttributes(buffer.ptr).memoryType, "device");
    assertThrows(() => gpu.pointerAttributes(64n), TypeError, "the driver does not know it");
  }, { driver });
});

testOnDevice("CudaDevice.fromHandle() refuses the part of a reservation without memory", (gpu) => {
  using growing = gpu.growable("uint8", { reserveSize: "64 MiB", shape: 1024 });
  using part = gpu.fromHandle(growing.ptr, 1024);
  assertEquals(part.length, 1024);
  assertThrows(
    () => gpu.fromHandle(growing.ptr, 2 ** 25),
    RangeError,
    "their allocation ends after",
  );
});

Deno.test("CudaDevice.fromHandle() uses memory that was mapped in several parts as one", () =>
  withDevice(async (gpu) => {
    using growing = gpu.growable("uint8", { reserveSize: "64 MiB" });
    for (const value of [1, 2, 3]) growing.grow("2 MiB").subarray(-(2 ** 21)).fill(value);
    using all = gpu.fromHandle(growing.ptr, growing.byteLength, { owner: growing });
    assertEquals(await all.download(), await growing.download());
    assertEquals(gpu.pointerAttributes(growing.ptr + 5n).remainingBytes, growing.byteLength - 5);
    using shown = gpu.fromDLPack(growing.toDLPack());
    assertEquals(await shown.equals(growing), true);
    const beyond = () => gpu.fromHandle(growing.ptr, growing.byteLength + 1);
    assertThrows(beyond, RangeError, `their allocation ends after ${growing.byteLength}`);
  }));

Deno.test("A buffer of CudaDevice.fromHandle() refuses memory that its owner has lost by shrinking", () =>
  withDevice(async (gpu) => {
    using growing = gpu.growable("uint8", { reserveSize: "64 MiB" });
    growing.grow("2 MiB").grow("2 MiB").fill(1);
    using part = gpu.fromHandle(growing.ptr, 1024, { owner: growing });
    using all = gpu.fromHandle(growing.ptr, growing.byteLength, { owner: growing });
    growing.shrink("2 MiB");
    assertEquals(await part.at(-1), 1);
    const words = "to which they belong, has 2 MiB now";
    assertThrows(() => all.fill(2), RangeError, words);
    await assertRejects(() => all.download(), RangeError, words);
    growing.grow("2 MiB").fill(3);
    assertEquals(await all.at(-1), 3);
  }));

testOnDevice("CudaDevice.fromHandle() refuses to adopt the memory of a live buffer", (gpu) => {
  using owner = gpu.alloc("uint8", 1024, { label: "owner" });
  const resource = gpu.memoryResource;
  for (const [address, byteLength] of [[owner.ptr, 1024], [owner.ptr + 256n, 256]] as const) {
    assertThrows(
      () => gpu.fromHandle(address, byteLength, { resource }),
      TypeError,
      "Cannot adopt the memory of owner: that buffer is live and gives it back",
    );
  }
  using borrowed = gpu.fromHandle(owner.ptr, 1024, { owner });
  assertThrows(() => gpu.fromHandle(borrowed.ptr, 1024, { resource }), TypeError, "of owner");
});

testOnDevice("CudaDevice.fromHandle() adopts what was only shown before, once", (gpu) => {
  const resource = gpu.memoryResource;
  const address = gpu.alloc("uint8", 1024).release();
  using _shown = gpu.fromHandle(address, 1024);
  using adopted = gpu.fromHandle(address, 1024, { resource, label: "adopted" });
  assertThrows(() => gpu.fromHandle(address, 1024, { resource }), TypeError, "Cannot adopt");
  assertEquals(adopted.byteLength, 1024);
});

Deno.test("CudaDevice.fromHandle() gives a buffer whose copies are the device's own memory", () =>
  withDevice(async (gpu) => {
    using theirs = await gpu.upload([1, 2, 3, 4], { shape: [2, 2] });
    using x = gpu.fromHandle(theirs.ptr, 16, { dtype: "float32", shape: [2, 2], owner: theirs });
    using copy = x.slice(1);
    using whole = x.astype("int32");
    using like = x.allocateLike(3).fill(7);
    assertEquals(await copy.download(), Float32Array.of(2, 3, 4));
    assertEquals(await whole.download(), Int32Array.of(1, 2, 3, 4));
    assertEquals(await x.transpose().download(), Float32Array.of(1, 3, 2, 4));
    await x.transpose().upload(Float32Array.of(5, 6, 7, 8));
    assertEquals(await theirs.download(), Float32Array.of(5, 7, 6, 8));
    assertEquals([copy, whole, like].map((made) => made.memoryResource !== x.memoryResource), [
      true,
      true,
      true,
    ]);
  }));
