// Growable buffers: the address and the contents stay, memory comes and goes in exact steps, and a
// growth that fails changes nothing.

import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { CUdevice_attribute, CUresult } from "../../../ffi/constants.ts";
import type { DriverApi, DriverFunction } from "../../../ffi/cuda.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import type { Context } from "../../../src/driver/context.ts";
import { defaultStreamOf } from "../../../src/order/stream.ts";
import { CudaError, CudaUnavailableError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { assertHoldsOnly, patternBytes } from "../../support/contents.ts";
import { ON_GPU, testOnTwoDevices } from "../../support/driver.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { SweepDriver } from "../../support/sweep/sweep_driver.ts";
import { captureWarnings } from "../../support/warnings.ts";
import { freeBytes, testOnDevice, withDevice } from "../../support/with_device.ts";

const MIB = 2 ** 20;
const STEP_BYTES = 2 * MIB;

testOnDevice("GrowableBuffer.grow() keeps the address and the contents", (gpu) => {
  using buffer = gpu.growable("uint8", { reserveSize: "64 MiB" });
  assertEquals([buffer.length, buffer.capacityBytes, buffer.ptr], [0, 0, 0n]);
  const { address } = buffer;
  assertNotEquals(address, 0n);
  buffer.grow("1 MiB");
  buffer.uploadSync(patternBytes(MIB));
  buffer.grow("8 MiB");
  assertEquals([buffer.ptr, buffer.address], [address, address]);
  assertEquals([buffer.length, buffer.capacityBytes], [9 * MIB, 10 * MIB]);
  assertEquals(buffer.subarray(0, MIB).downloadSync(), patternBytes(MIB));
  buffer.subarray(-4).uploadSync(Uint8Array.of(1, 2, 3, 4));
  assertEquals([...buffer.subarray(-4).downloadSync()], [1, 2, 3, 4]);
});

testOnDevice("GrowableBuffer takes memory in exact steps and gives it back", (gpu) => {
  gpu.growable("uint8", { reserveSize: "64 MiB", shape: 16 * MIB }).dispose(); // page tables stay
  const before = freeBytes(gpu);
  const buffer = gpu.growable("uint8", { reserveSize: "64 MiB" });
  assertEquals(before - freeBytes(gpu), 0);
  buffer.grow("16 MiB");
  assertEquals(before - freeBytes(gpu), 16 * MIB);
  buffer.shrink("5 MiB");
  assertEquals(before - freeBytes(gpu), 12 * MIB);
  buffer.grow(1);
  assertEquals(before - freeBytes(gpu), 12 * MIB);
  buffer.dispose();
  assertEquals(before - freeBytes(gpu), 0);
});

testOnDevice("GrowableBuffer.resize(), reserve() and shrinkToFit() follow RMM", (gpu) => {
  using buffer = gpu.growable("float32", { reserveSize: "64 MiB", shape: 4 });
  buffer.uploadSync(new Float32Array([1, 2, 3, 4]));
  buffer.reserve(STEP_BYTES);
  assertEquals([buffer.length, buffer.capacityBytes], [4, 4 * STEP_BYTES]);
  buffer.reserve(1);
  assertEquals(buffer.capacityBytes, 4 * STEP_BYTES);
  buffer.resize(2);
  assertEquals([buffer.length, buffer.byteLength], [2, 8]);
  assertEquals([...buffer.shape], [2]);
  assertEquals(buffer.capacityBytes, 4 * STEP_BYTES);
  assertEquals([...buffer.downloadSync()], [1, 2]);
  buffer.resize(4);
  assertEquals([...buffer.downloadSync()], [1, 2, 3, 4]);
  buffer.shrinkToFit();
  assertEquals([buffer.length, buffer.capacityBytes], [4, STEP_BYTES]);
  buffer.resize(0).shrinkToFit();
  assertEquals([buffer.capacityBytes, buffer.ptr], [0, 0n]);
  buffer.resize(4).fill(5);
  assertEquals([...buffer.downloadSync()], [5, 5, 5, 5]);
});

testOnDevice("GrowableBuffer counts in the ledger what it holds", (gpu) => {
  const heldBytes = () => gpu.live().byteLength;
  const buffer = gpu.growable("uint8", { reserveSize: "64 MiB", label: "cache" });
  assertEquals(heldBytes(), 0);
  buffer.grow("3 MiB");
  assertEquals([heldBytes(), gpu.memory.liveBytes], [4 * MIB, 4 * MIB]);
  buffer.shrink("2 MiB");
  assertEquals(heldBytes(), 2 * MIB);
  buffer.dispose();
  assertEquals([heldBytes(), gpu.memory.liveBytes, gpu.live().count], [0, 0, 0]);
});

testOnDevice("GrowableBuffer.step sets how much memory comes at a time", (gpu) => {
  using buffer = gpu.growable("uint8", { reserveSize: "1 GiB", stepSize: "5 MiB" });
  buffer.grow(1);
  assertEquals(buffer.capacityBytes, 6 * MIB);
  assertEquals(buffer.reservedBytes % (6 * MIB), 0);
});

testOnDevice("GrowableBuffer reserves as much as the device has when nothing is said", (gpu) => {
  using buffer = gpu.growable("uint8");
  assert(buffer.reservedBytes >= gpu.info.totalBytes);
});

testOnDevice("GrowableBuffer.grow() refuses to pass its addresses, and changes nothing", (gpu) => {
  using buffer = gpu.growable("uint8", { reserveSize: "4 MiB", shape: 100 });
  assertThrows(() => buffer.grow("4 MiB"), RangeError, "4 MiB of addresses were reserved");
  assertThrows(() => buffer.reserve(2 ** 40), RangeError);
  assertEquals([buffer.length, buffer.capacityBytes], [100, STEP_BYTES]);
});

testOnDevice("GrowableBuffer rejects wrong amounts", (gpu) => {
  using buffer = gpu.growable("float32", { reserveSize: "4 MiB", shape: 4 });
  for (const length of [-1, 0.5, NaN, 2 ** 53]) {
    assertThrows(() => buffer.resize(length), RangeError);
    assertThrows(() => buffer.reserve(length), RangeError);
  }
  assertThrows(() => buffer.grow(6), RangeError, "not a whole number of float32 elements");
  assertThrows(() => buffer.grow("64k"), RangeError);
  assertThrows(() => buffer.shrink(20), RangeError, "it has 16 B");
  assertThrows(() => gpu.growable("uint8", { reserveSize: "much" }), RangeError);
  assertThrows(() => gpu.growable("uint8", { stepSize: -1 }), RangeError);
  assertEquals(buffer.length, 4);
  assertEquals(gpu.live().count, 1);
});

const CALLS = ["cuMemCreate", "cuMemMap", "cuMemSetAccess"] as const satisfies DriverFunction[];

for (const name of CALLS) {
  Deno.test(`GrowableBuffer.grow() changes nothing when ${name} fails halfway`, () => {
    const { driver, setFault } = faultyDriver();
    return withDevice((gpu) => {
      using buffer = gpu.growable("uint8", { reserveSize: "64 MiB" });
      buffer.grow("2 MiB");
      buffer.fill(3);
      const before = freeBytes(gpu);
      setFault({ name, after: name === "cuMemSetAccess" ? 0 : 2 });
      assertThrows(() => buffer.grow("16 MiB"), CudaError, name);
      setFault(undefined);
      assertEquals(freeBytes(gpu), before);
      assertEquals([buffer.length, buffer.capacityBytes], [2 * MIB, 2 * MIB]);
      buffer.grow("16 MiB");
      assertEquals(buffer.subarray(0, 4).downloadSync(), Uint8Array.of(3, 3, 3, 3));
    }, { driver });
  });
}

Deno.test("GrowableBuffer.grow() says all amounts when memory runs out", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice((gpu) => {
    using buffer = gpu.growable("uint8", { reserveSize: "64 MiB", label: "cache" });
    setFault({ name: "cuMemCreate", status: CUresult.CUDA_ERROR_OUT_OF_MEMORY });
    const error = assertThrows(() => buffer.grow("16 MiB"), OutOfMemoryError);
    assertEquals(error.requestedBytes, 16 * MIB);
    setFault(undefined);
    assertEquals(buffer.capacityBytes, 0);
  }, { driver });
});

Deno.test("allocateGrowableBuffer() leaves nothing when the first memory cannot be had", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice((gpu) => {
    setFault({ name: "cuMemCreate" });
    assertThrows(() => gpu.growable("uint8", { reserveSize: "4 MiB", shape: 10 }), CudaError);
    setFault({ name: "cuMemAddressReserve" });
    assertThrows(() => gpu.growable("uint8", { reserveSize: "4 MiB" }), CudaError);
    setFault(undefined);
    assertEquals(gpu.live().count, 0);
  }, { driver });
});

testHolding("GrowableBuffer.shrink() takes memory only behind the work that uses it", (gpu) => {
  using stream = gpu.createStream();
  using buffer = gpu.growable("uint8", { reserveSize: "16 MiB", shape: 8 * MIB });
  using target = gpu.alloc("uint8", 4 * MIB);
  buffer.fill(6);
  gpu.synchronizeSync();
  const before = gpu.context.freeBytes();
  {
    using _held = new HeldStream(gpu, stream);
    target.copyFrom(buffer.subarray(4 * MIB), { stream });
    buffer.shrink("4 MiB");
    assertEquals(buffer.capacityBytes, 4 * MIB);
    assertEquals(gpu.context.freeBytes(), before);
  }
  assertEquals(target.downloadSync()[4 * MIB - 1], 6);
  assertEquals(freeBytes(gpu), before + 4 * MIB);
});

testHolding("GrowableBuffer.grow() takes memory back that a shrink has not unmapped yet", (gpu) => {
  using first = gpu.createStream();
  using second = gpu.createStream();
  using buffer = gpu.growable("uint8", { reserveSize: "16 MiB", shape: 8 * MIB });
  buffer.fill(1);
  gpu.synchronizeSync();
  const before = gpu.context.freeBytes();
  {
    using held = new HeldStream(gpu, first);
    using later = new HeldStream(gpu, second); // let go first where this test fails
    buffer.fill(2, { stream: first });
    buffer.shrink("6 MiB"); // due once the first stream is done
    buffer.grow("6 MiB").fill(3, { stream: second });
    buffer.shrink("6 MiB"); // due once the second is
    held.release();
    first.synchronizeSync();
    for (let i = 0; i < 100; i++) gpu.context.sweep();
    assertEquals(gpu.context.freeBytes(), before, "the second fill still needs the memory");
    later.release();
  }
  assertEquals(freeBytes(gpu), before + 6 * MIB);
  buffer.grow("6 MiB").fill(4);
  assertHoldsOnly(buffer.downloadSync(), 4);
});

testOnDevice("GrowableBuffer.shrinkToFit() refuses while a transfer is running", async (gpu) => {
  using buffer = gpu.growable("uint8", { reserveSize: "64 MiB", shape: 40 * MIB });
  const upload = buffer.upload(patternBytes(40 * MIB));
  buffer.resize(10);
  assertThrows(
    () => buffer.shrinkToFit(),
    TypeError,
    "a transfer, a graph, another library or another process uses it",
  );
  await upload;
  buffer.shrinkToFit();
  assertEquals(buffer.capacityBytes, STEP_BYTES);
});

testOnDevice("GrowableBuffer's views keep their address, and end where its memory ends", (gpu) => {
  using buffer = gpu.growable("uint8", { reserveSize: "16 MiB", shape: 6 * MIB });
  const tail = buffer.subarray(4 * MIB);
  const head = buffer.subarray(0, 8);
  const { ptr } = head;
  buffer.shrink("2 MiB");
  assertThrows(() => tail.fill(1), RangeError, "its buffer has shrunk to 4 MiB");
  buffer.grow("8 MiB");
  assertEquals(head.ptr, ptr);
  tail.fill(1);
  assertThrows(() => head.resize(4), TypeError, "it is a view; resize the buffer");
  assertThrows(() => head.shrinkToFit(), TypeError, "it is a view");
});

Deno.test("CudaDevice.growable() says that so many addresses cannot be had", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice((gpu) => {
    setFault({ name: "cuMemAddressReserve", status: CUresult.CUDA_ERROR_OUT_OF_MEMORY });
    const error = assertThrows(
      () => gpu.growable("uint8", { reserveSize: "4 MiB" }),
      RangeError,
      "Cannot reserve 4 MiB of addresses",
    );
    setFault(undefined);
    assert(error.cause instanceof CudaError);
  }, { driver });
});

Deno.test("GrowableBuffer.resize() opens memory that a failed growth has left mapped", () => {
  const api = simulateDriver();
  let status: number = CUresult.CUDA_ERROR_OUT_OF_MEMORY;
  const cuMemSetAccess: typeof api.cuMemSetAccess = (...args) =>
    status || (api.cuMemSetAccess?.(...args) ?? 0);
  const cuMemUnmap: typeof api.cuMemUnmap = (...args) => status || (api.cuMemUnmap?.(...args) ?? 0);
  using gpu = CudaDevice.open(0, { driver: { ...api, cuMemSetAccess, cuMemUnmap } });
  using buffer = gpu.growable("uint8", { reserveSize: "8 MiB" });
  captureWarnings(() => assertThrows(() => buffer.resize(10), OutOfMemoryError));
  assertEquals(buffer.capacityBytes, 0);
  status = 0;
  buffer.resize(10).fill(3);
  assertEquals(buffer.downloadSync(), new Uint8Array(10).fill(3));
});

testOnDevice("GrowableBuffer's strided views end where its elements end", async (gpu) => {
  using buffer = gpu.growable("uint8", { reserveSize: "16 MiB", shape: 6 * MIB });
  buffer.fill(1);
  const head = buffer.strided({ shape: [2], strides: [MIB], offset: 5 });
  const tail = buffer.strided({ shape: [2], strides: [MIB], offset: 4 * MIB });
  buffer.shrink("4 MiB");
  assertEquals(await head.download(), Uint8Array.of(1, 1));
  const uses: readonly (() => unknown)[] = [
    () => tail.fill(2),
    () => tail.contiguous(),
    () => tail.copyFrom(head.contiguous()),
    () => tail.astype("float32"),
    () => tail.toDLPack(),
  ];
  for (const use of uses) assertThrows(use, RangeError, `of ${2 * MIB}`);
  await assertRejects(() => tail.upload(Uint8Array.of(1, 2)), RangeError, `of ${2 * MIB}`);
  buffer.grow("4 MiB").fill(7);
  assertEquals(await tail.download(), Uint8Array.of(7, 7));
  gpu.disposeAll();
});

testOnDevice("GrowableBuffer.writable fails when the buffer is resized meanwhile", async (gpu) => {
  using buffer = gpu.growable("uint8", { reserveSize: "4 MiB", shape: 1 }).fill(1);
  const [first, second] = [buffer.writable.getWriter(), buffer.writable.getWriter()];
  await first.write(Uint8Array.of(2, 3));
  await assertRejects(() => second.write(Uint8Array.of(4)), TypeError, "close one stream before");
  await first.close();
  assertEquals(await buffer.download(), Uint8Array.of(1, 2, 3));
  await assertRejects(() => second.closed, TypeError);
});

testOnDevice("GrowableBuffer.slice() is a growable copy", (gpu) => {
  using buffer = gpu.growable("uint8", { reserveSize: "16 MiB", shape: 100 });
  buffer.uploadSync(patternBytes(100));
  using copy = buffer.slice(10, 20);
  assertEquals(copy.downloadSync(), patternBytes(100).subarray(10, 20));
  copy.grow("3 MiB");
  assertEquals([copy.reservedBytes, buffer.length], [buffer.reservedBytes, 100]);
});

Deno.test("GrowableBuffer says what to use where there is no virtual memory", () => {
  const api = simulateDriver();
  const virtual = CUdevice_attribute.CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
  const driver: DriverApi = {
    ...api,
    cuDeviceGetAttribute: (value, attribute, device) =>
      attribute === virtual
        ? CUresult.CUDA_ERROR_INVALID_VALUE
        : api.cuDeviceGetAttribute(value, attribute, device),
  };
  return withDevice((gpu) => {
    assertThrows(() => gpu.growable("uint8"), CudaUnavailableError, "use a device buffer");
  }, { driver });
});

testOnTwoDevices("GrowableBuffer.setAccess() lets another device in until it is none", (a, b) => {
  const buffer = a.growable("uint8", { reserveSize: "16 MiB", shape: 100 });
  buffer.uploadSync(patternBytes(100));
  if (a.routeTo(b) !== "peer") {
    assertThrows(
      () => buffer.setAccess(b, "read"),
      CudaUnavailableError,
      "cannot reach the memory",
    );
    return buffer.dispose();
  }
  buffer.setAccess(b, "readwrite");
  using there = b.alloc("uint8", 100);
  copyOn(there, buffer.ptr);
  assertEquals(there.downloadSync(), patternBytes(100));
  buffer.grow("4 MiB");
  const tail = buffer.subarray(-100);
  tail.uploadSync(patternBytes(100, 9));
  copyOn(there, tail.ptr);
  assertEquals(there.downloadSync(), patternBytes(100, 9));
  buffer.setAccess(b, "none");
  if (!ON_GPU) assertThrows(() => copyOn(there, buffer.ptr));
  buffer.dispose();
});

/** Copies from an address on a stream of the buffer's own device, as a kernel there would read it. */
function copyOn(
  there: { readonly ptr: bigint; readonly context: Context; readonly byteLength: number },
  source: bigint,
): void {
  const { context } = there;
  const { handle } = defaultStreamOf(context);
  context.call("cuMemcpyAsync", there.ptr, source, BigInt(there.byteLength), handle);
  context.call("cuStreamSynchronize", handle);
}

Deno.test("GrowableBuffer.dispose() gives back all steps but the one whose unmapping fails", () => {
  for (const nth of [1, 2, 3]) {
    const driver = new SweepDriver(simulateDriver());
    using gpu = CudaDevice.open(0, { driver: driver.api });
    const freeBefore = freeBytes(gpu);
    const buffer = gpu.growable("uint8", { reserveSize: "64 MiB", shape: 3 * STEP_BYTES });
    driver.arm({ name: "cuMemUnmap", nth, status: CUresult.CUDA_ERROR_UNKNOWN });
    const warnings = captureWarnings(() => buffer.dispose());
    assertEquals(freeBefore - freeBytes(gpu), STEP_BYTES);
    assertEquals(driver.held.namesWithout(driver.excused).filter((name) => /map/.test(name)), []);
    assertEquals(warnings, [
      "vramkit: 2 MiB of virtual memory could not be given back: Cannot complete cuMemUnmap: " +
      "CUDA_ERROR_UNKNOWN (999), unknown",
    ]);
  }
});

Deno.test("GrowableBuffer.shrinkToFit() keeps a step that cannot be unmapped, and grows into it", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice((gpu) => {
    using buffer = gpu.growable("uint8", { reserveSize: "64 MiB", shape: 3 * STEP_BYTES });
    setFault({ name: "cuMemUnmap", after: 1 });
    assertEquals(captureWarnings(() => buffer.resize(0).shrinkToFit()).length, 1);
    setFault(undefined);
    assertEquals(buffer.capacityBytes, 0);
    buffer.resize(3 * STEP_BYTES).fill(7);
    assertEquals(buffer.subarray(-1).downloadSync()[0], 7);
  }, { driver });
});

Deno.test("GrowableBuffer.grow() reports a handle of memory that cannot be given up", () => {
  const { driver, setFault } = faultyDriver(simulateDriver());
  using gpu = CudaDevice.open(0, { driver });
  using buffer = gpu.growable("uint8", { reserveSize: "64 MiB" });
  setFault({ name: "cuMemRelease" });
  const warnings = captureWarnings(() => buffer.grow("2 MiB"));
  setFault(undefined);
  assertEquals(warnings.length, 1);
  assertStringIncludes(warnings[0] ?? "", "cuMemRelease");
  assertEquals(buffer.fill(3).downloadSync()[0], 3);
});

testHolding("GrowableBuffer counts as cached after dispose() while work uses it", (gpu) => {
  using stream = gpu.createStream();
  const before = gpu.memory;
  using held = new HeldStream(gpu, stream);
  const buffer = gpu.growable("uint8", { reserveSize: "64 MiB", shape: STEP_BYTES, stream });
  buffer.fill(1, { stream });
  buffer.dispose();
  const { liveBytes, cachedBytes } = gpu.memory;
  assertEquals([liveBytes, cachedBytes - before.cachedBytes], [before.liveBytes, STEP_BYTES]);
  held.release();
  gpu.synchronizeSync();
  assertEquals(gpu.memory.cachedBytes, before.cachedBytes);
});
