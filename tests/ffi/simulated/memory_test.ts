// Device, page-locked and managed memory of the simulated driver: what is counted and known, and the
// mistakes that throw.

import { assertEquals, assertThrows } from "@std/assert";
import { CUpointer_attribute as P } from "../../../ffi/constants.ts";
import { type SimulatedLaunch, SimulationError } from "../../../ffi/simulated/driver.ts";
import { CUmemAllocationProp } from "../../../ffi/structs.ts";
import { bytesAt, out, SimulatedGpu, testSimulated } from "../../support/simulated_gpu.ts";
import { takingTurns } from "../../support/test_unless.ts";

testSimulated("cuMemAlloc_v2() counts exactly what it takes", (gpu) => {
  const before = gpu.freeBytes();
  const address = gpu.alloc(1000);
  assertEquals(before - gpu.freeBytes(), 1000);
  assertEquals(address % 256n, 0n);
  assertEquals(gpu.api.cuMemFree_v2(address), 0);
  assertEquals(gpu.freeBytes(), before);
});

Deno.test("cuMemAlloc_v2() and its like take nothing when there is nowhere to put an address", () => {
  const { api } = new SimulatedGpu();
  const free = () => Number(out((cell) => api.cuMemGetInfo_v2(cell, null)));
  const before = free();
  const [cell, step] = [new BigUint64Array(1), 2n << 20n];
  const properties = CUmemAllocationProp.encode({ type: 1, location: { type: 1, id: 0 } });
  const pool = out((pool) => api.cuDeviceGetDefaultMemPool(pool, 0));
  const statuses = [
    api.cuMemAlloc_v2(null, 4096n),
    api.cuMemAllocPitch_v2(null, cell, 100n, 4n, 4),
    api.cuMemAllocPitch_v2(cell, null, 100n, 4n, 4),
    api.cuMemAllocAsync(null, 4096n, 0n),
    api.cuMemAllocFromPoolAsync(null, 4096n, pool, 0n),
    api.cuMemCreate(null, step, properties, 0n),
  ];
  assertEquals(statuses, [1, 1, 1, 1, 1, 1]);
  assertEquals(free(), before);
  assertEquals(out((count) => api.cuMemPoolGetAttribute(pool, 7, count)), 0n);
});

Deno.test("allocating calls take sizes as Deno hands them to the driver, and the device stays usable", () => {
  const { api } = new SimulatedGpu();
  const free = () => Number(out((cell) => api.cuMemGetInfo_v2(cell, null)));
  const before = free();
  const cell = new BigUint64Array(1);
  const calls: readonly ((size: never) => number)[] = [
    (size) => api.cuMemAlloc_v2(cell, size),
    (size) => api.cuMemAllocAsync(cell, size, 0n),
    (size) => api.cuMemHostAlloc(cell, size, 0),
    (size) => api.cuMemAllocManaged(cell, size, 1),
  ];
  for (const call of calls) {
    for (const none of ["5", null, undefined, true, {}]) {
      assertThrows(() => call(none as never), TypeError, "Invalid FFI usize type");
    }
    for (const huge of [-1, -1n, 2n ** 64n - 1n, -1.5]) assertEquals(call(huge as never), 2);
    assertEquals(call(1.5 as never), 0); // one byte
  }
  assertEquals(before - free(), 1 + 32 * 2 ** 20, "one byte, and a step of the pool");
});

Deno.test("cuMemAllocAsync() takes nothing when it is refused behind a capture", () => {
  const { api } = new SimulatedGpu();
  const blocking = out((cell) => api.cuStreamCreateWithPriority(cell, 0, 0));
  const pool = out((cell) => api.cuDeviceGetDefaultMemPool(cell, 0));
  assertEquals(api.cuStreamBeginCapture_v2(blocking, 2), 0);
  assertEquals(api.cuMemAllocAsync(new BigUint64Array(1), 4096n, 0n), 906);
  assertEquals(out((count) => api.cuMemPoolGetAttribute(pool, 7, count)), 0n);
});

Deno.test("cuMemAlloc_v2() reports when the device is full", () => {
  const gpu = new SimulatedGpu({ memoryBytes: 1000 });
  gpu.alloc(600);
  assertEquals(gpu.api.cuMemAlloc_v2(new BigUint64Array(1), 401n), 2);
  gpu.alloc(400);
});

takingTurns(testSimulated)("cuMemAlloc_v2() finds each of 100,000 live blocks again", (gpu) => {
  const addresses = Array.from({ length: 100_000 }, () => gpu.alloc(256));
  for (const address of addresses.filter((_, index) => index % 3 === 0)) {
    gpu.api.cuMemFree_v2(address);
  }
  const kept = addresses.filter((_, index) => index % 3 !== 0);
  const found = kept.filter((address) =>
    out((cell) => gpu.api.cuMemGetAddressRange_v2(cell, null, address + 255n)) === address
  );
  assertEquals(found.length, kept.length);
});

testSimulated("cuMemFree_v2() waits for work that uses the memory", (gpu) => {
  const [address, stream] = [gpu.alloc(1024), gpu.stream()];
  gpu.api.cuMemsetD8Async(address, 1, 1024n, stream);
  assertEquals(gpu.api.cuMemFree_v2(address), 0);
  assertEquals(gpu.api.cuStreamQuery(stream), 0);
});

testSimulated("cuMemHostAlloc() gives page-aligned memory that the host can touch", (gpu) => {
  const { address, bytes } = gpu.pinned(5000);
  bytes.fill(7);
  assertEquals(address % 4096n, 0n);
  assertEquals(bytesAt(address, 5000), new Uint8Array(5000).fill(7));
  assertEquals(gpu.api.cuMemFree_v2(address), 1);
  assertEquals(gpu.api.cuMemFreeHost(address), 0);
  assertEquals(gpu.api.cuMemFreeHost(address), 1);
});

testSimulated("cuMemFreeHost() throws while a queued copy needs the memory", (gpu) => {
  const { address } = gpu.pinned(1024);
  const target = gpu.alloc(1024);
  gpu.api.cuMemcpyAsync(target, address, 1024n, gpu.stream());
  assertThrows(() => gpu.api.cuMemFreeHost(address), SimulationError, "still needs");
});

Deno.test("cuMemFreeHost() and cuMemFree() tell of a mistake in other work, and free nevertheless", () => {
  const astray = { parameterBytes: [], run: ({ read }: SimulatedLaunch) => void read(0n, 1) };
  const gpu = new SimulatedGpu({ kernels: { astray } });
  const { kernel } = gpu.load("astray");
  const host = gpu.pinned(64).address;
  const device = gpu.alloc(64);
  for (const free of [() => gpu.api.cuMemFreeHost(host), () => gpu.api.cuMemFree_v2(device)]) {
    const [waiting, stream, event] = [gpu.stream(), gpu.stream(), gpu.event()];
    for (let launch = 0; launch < 2; launch++) {
      gpu.api.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, null, null);
    }
    gpu.api.cuEventRecord(event, stream);
    gpu.api.cuStreamWaitEvent(waiting, event, 0);
    gpu.api.cuMemsetD8Async(device, 1, 64n, waiting);
    assertThrows(free, SimulationError, "touches address 0");
    assertEquals([gpu.api.cuStreamQuery(waiting), free()], [0, 1]);
  }
});

testSimulated("cuPointerGetAttribute() tells the kinds of memory apart", (gpu) => {
  const managed = out((cell) => gpu.api.cuMemAllocManaged(cell, 4096n, 1));
  const pooled = gpu.allocAsync(4096);
  const ask = (attribute: number, address: bigint) =>
    Number(out((cell) => gpu.api.cuPointerGetAttribute(cell, attribute, address)));
  const describe = (address: bigint) => [
    ask(P.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
    ask(P.CU_POINTER_ATTRIBUTE_IS_MANAGED, address),
    ask(P.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, address),
    ask(P.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address) !== 0,
  ];
  assertEquals(describe(gpu.alloc(4096)), [2, 0, 1, false]);
  assertEquals(describe(gpu.pinned(4096).address), [1, 0, 0, false]);
  assertEquals(describe(managed), [2, 1, 0, false]);
  assertEquals(describe(pooled), [2, 0, 0, true]);
});

Deno.test("cuMemPrefetchAsync() refuses a device that cannot share managed memory", () => {
  const gpu = new SimulatedGpu({ concurrentManagedAccess: false });
  const address = out((cell) => gpu.api.cuMemAllocManaged(cell, 4096n, 1));
  assertEquals(gpu.api.cuMemPrefetchAsync(address, 4096n, 0, 0n), 101);
});
