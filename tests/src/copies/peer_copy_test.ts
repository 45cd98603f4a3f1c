// Copies between two devices: over the bus where both can, staged by the driver where not.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { CUresult } from "../../../ffi/constants.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { CudaAsyncMemoryResource } from "../../../src/memory/cuda_async_memory_resource.ts";
import { CachingResourceAdaptor } from "../../../src/resources/caching_resource_adaptor.ts";
import { StatisticsResourceAdaptor } from "../../../src/resources/statistics_resource_adaptor.ts";
import { CudaError, DisposedError } from "../../../src/words/errors.ts";
import { assertHoldsOnly } from "../../support/contents.ts";
import { testOnTwoDevices } from "../../support/driver.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";

for (const peerAccess of [true, false]) {
  Deno.test(`GpuBuffer.copyFrom() crosses devices with peer access ${peerAccess}`, async () => {
    const driver = simulateDriver({ peerAccess });
    using first = CudaDevice.open(0, { driver });
    using second = CudaDevice.open(1, { driver });
    await checkCrossing(first, second);
    assertEquals(first.routeTo(second), peerAccess ? "peer" : "staged");
  });
}

for (const peerAccess of [true, false]) {
  Deno.test(`GpuBuffer.to() copies a view to another device, peer access ${peerAccess}`, async () => {
    const driver = simulateDriver({ peerAccess });
    using first = CudaDevice.open(0, { driver });
    using second = CudaDevice.open(1, { driver });
    const x = await first.upload([[1, 2], [3, 4], [5, 6]]);
    const y = x.rows(1).to(second, { label: "there" });
    x.dispose(); // queued, so the memory stays until it is done
    assertEquals([y.shape, [...await y.download()]], [[2, 2], [3, 4, 5, 6]]);
    assertEquals([y.context.ordinal, second.live().objects.length], [1, 1]);
    assertEquals(first.live().byteLength, 0);
    y.dispose();
    assertEquals(second.live().byteLength, 0);
  });
}

Deno.test("GpuBuffer.to() refuses everything but a device, and leaves nothing", async () => {
  using first = CudaDevice.open(0, { driver: simulateDriver() });
  using foreign = CudaDevice.open(0, { driver: simulateDriver() });
  using x = await first.upload(new Float32Array([1]));
  const to = (place: unknown) => () => x.to(place as CudaDevice);
  assertThrows(to("cuda:1"), TypeError, 'to "cuda:1": expected a device, as CudaDevice.open()');
  assertThrows(to("float16"), TypeError, 'astype("float16") converts');
  assertThrows(to(undefined), TypeError, "expected a device");
  assertThrows(to(foreign), TypeError, "Cannot copy between memory of two drivers");
  assertEquals(foreign.live().byteLength, 0);
  x.dispose();
  assertThrows(to(first), DisposedError);
  assertEquals(first.live().byteLength, 0);
});

Deno.test("copies between the memory of two drivers are refused, and nothing is queued", async () => {
  using first = CudaDevice.open(0, { driver: simulateDriver() });
  using second = CudaDevice.open(0, { driver: simulateDriver() });
  using x = await first.upload(new Float32Array([1, 2, 3, 4]), { shape: [2, 2] });
  using y = await second.upload(new Float32Array(4), { shape: [2, 2] });
  using pinned = second.pinned("float32", [2, 2]);
  const calls = {
    "copyFrom()": () => y.copyFrom(x),
    "copyFrom() of page-locked memory": () => x.copyFrom(pinned),
    "copyTo() of a view with strides": () => x.transpose().copyTo(y),
    "copyBatch()": () => first.copyBatch([{ source: x, destination: y }]),
  };
  for (const [name, call] of Object.entries(calls)) {
    assertThrows(call, TypeError, "Cannot copy between memory of two drivers", name);
  }
  assertEquals([...await x.download(), ...await y.download()], [1, 2, 3, 4, 0, 0, 0, 0]);
});

testOnTwoDevices("GpuBuffer.copyFrom() crosses devices of the driver at hand", checkCrossing);

async function checkCrossing(first: CudaDevice, second: CudaDevice): Promise<void> {
  using source = await first.upload(new Float32Array([1, 2, 3]));
  using target = second.alloc("float32", 3);
  target.copyFrom(source);
  source.fill(0);
  assertEquals([...await target.download()], [1, 2, 3]);
  target.fill(9);
  source.copyFrom(target);
  assertEquals([...await source.download()], [9, 9, 9]);
}

testOnTwoDevices("the first copy between devices opens their pools for each other", (
  first,
  second,
) => {
  if (first.routeTo(second) === "staged") return; // this machine has no direct way
  using own = new CudaAsyncMemoryResource(first, {});
  const counted = new StatisticsResourceAdaptor(new CachingResourceAdaptor(own));
  using source = first.zeros("uint8", 64, { resource: counted });
  using target = second.alloc("uint8", 64);
  assertEquals(own.accessOf(second), "none");
  target.copyFrom(source);
  const { memoryResource } = target;
  assert(memoryResource instanceof CudaAsyncMemoryResource);
  assertEquals([own.accessOf(second), memoryResource.accessOf(first)], ["readwrite", "readwrite"]);
  second.synchronizeSync();
});

testOnTwoDevices("a pool stays closed to a device once it was closed", (first, second) => {
  using own = new CudaAsyncMemoryResource(first, {});
  own.setAccess(second, "none");
  using source = first.zeros("uint8", 64, { resource: own }).fill(3);
  using target = second.alloc("uint8", 64).copyFrom(source);
  assertEquals([own.accessOf(second), target.downloadSync()[63]], ["none", 3]);
  const staged = first.withResource(own, () => first.routeTo(second));
  assertEquals(staged, "staged");
});

testOnTwoDevices("GpuBuffer.copyTo() runs on a stream of either device", async (first, second) => {
  using near = first.createStream();
  using far = second.createStream();
  using source = first.zeros("uint8", 8);
  using target = second.zeros("uint8", 8);
  for (const [value, stream] of [[1, near], [2, far]] as const) {
    source.fill(value).copyTo(target, { stream });
    assertHoldsOnly(await target.download(), value);
  }
});

testOnTwoDevices("StridedView.copyFrom() crosses devices row by row", async (first, second) => {
  using source = await first.upload(new Int16Array([1, 2, 3, 4, 5, 6]), { shape: [2, 3] });
  using target = second.zeros("int16", [3, 2]);
  target.copyFrom(source.transpose());
  assertEquals([...await target.download()], [1, 4, 2, 5, 3, 6]);
});

testOnTwoDevices("GpuBuffer.copyFrom() takes page-locked memory of another device", async (
  first,
  second,
) => {
  using pinned = first.pinned("uint8", 3);
  pinned.array.set([1, 2, 3]);
  using target = second.alloc("uint8", 3);
  target.copyFrom(pinned);
  assertEquals([...await target.download()], [1, 2, 3]);
  pinned.copyFrom(target.fill(4));
  await second.synchronize();
  assertEquals([...pinned.array], [4, 4, 4]);
});

testOnTwoDevices("GpuBuffer.copyFrom() refuses a stream that has none of the memory", (
  first,
  second,
) => {
  using pinned = first.pinned("uint8", 3);
  using target = second.zeros("uint8", 3);
  using other = first.zeros("uint8", 3);
  using copy = other.slice();
  const { stream } = first;
  assertThrows(
    () => target.copyFrom(pinned, { stream }),
    TypeError,
    "Cannot copy memory of device 1 on CudaStream(default) of device 0",
  );
  assertThrows(() => target.fill(1, { stream }), TypeError, "use a stream of the same device");
  assertThrows(() => other.copyFrom(copy, { stream: second.stream }), TypeError);
});

testOnTwoDevices("GpuBuffer.dispose() after a crossing copy lets the copy finish", async (
  first,
  second,
) => {
  using target = second.alloc("uint8", 1 << 20);
  const source = first.zeros("uint8", 1 << 20).fill(3);
  target.copyFrom(source);
  source.dispose();
  using reuse = first.zeros("uint8", 1 << 20).fill(5);
  assertHoldsOnly(await target.download(), 3);
  assertEquals(await reuse.at(0), 5);
});

Deno.test("CudaDevice.routeTo() asks no driver about a device of another", () => {
  const foreign: unknown[] = [];
  const cuDeviceCanAccessPeer = (...call: unknown[]) => foreign.push(call);
  using first = CudaDevice.open(0, { driver: { ...simulateDriver(), cuDeviceCanAccessPeer } });
  using second = CudaDevice.open(1, { driver: simulateDriver() });
  assertEquals([first.routeTo(second), foreign], ["staged", []]);
});

Deno.test("CudaDevice.routeTo() says that copies within a device pass through no host", () => {
  const driver = simulateDriver({ peerAccess: false });
  using first = CudaDevice.open(0, { driver });
  using again = CudaDevice.open(0, { driver });
  assertEquals([first.routeTo(first), first.routeTo(again)], ["peer", "peer"]);
});

Deno.test("CudaDevice.routeTo() asks again after a failure, which it tells", () => {
  for (const name of ["cuDeviceCanAccessPeer", "cuCtxEnablePeerAccess"] as const) {
    for (const after of [0, 1]) {
      const { driver, setFault } = faultyDriver(simulateDriver());
      using first = CudaDevice.open(0, { driver });
      using second = CudaDevice.open(1, { driver });
      setFault({ name, after });
      assertThrows(() => first.routeTo(second), CudaError, name);
      setFault(undefined);
      assertEquals(first.routeTo(second), "peer");
    }
  }
  const { driver, setFault } = faultyDriver(simulateDriver());
  using first = CudaDevice.open(0, { driver });
  using second = CudaDevice.open(1, { driver });
  setFault({ name: "cuMemPoolSetAccess" });
  assertThrows(() => first.routeTo(second), CudaError, "cuMemPoolSetAccess");
  setFault(undefined);
  assertEquals(first.routeTo(second), "peer");
});

Deno.test("CudaDevice.routeTo() stages copies where a driver opens no way that it has", async () => {
  for (const after of [0, 1]) {
    const { driver, setFault } = faultyDriver(simulateDriver());
    using first = CudaDevice.open(0, { driver });
    using second = CudaDevice.open(1, { driver });
    const status = CUresult.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    setFault({ name: "cuCtxEnablePeerAccess", status, after });
    assertEquals(first.routeTo(second), "staged");
    setFault(undefined);
    assertEquals(first.routeTo(second), "staged"); // a refusal lasts
    await checkCrossing(first, second);
  }
});
