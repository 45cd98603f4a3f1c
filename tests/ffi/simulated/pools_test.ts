// Stream-ordered memory of the simulated driver: what a pool keeps and gives back.
// Physical memory moves in steps of 32 MiB, and of 2 MiB when there is less left.

import { assertEquals, assertThrows } from "@std/assert";
import { CUmemPool_attribute as A } from "../../../ffi/constants.ts";
import { SimulationError } from "../../../ffi/simulated/driver.ts";
import { Machine } from "../../../ffi/simulated/model/machine.ts";
import { settingsOf } from "../../../ffi/simulated/options.ts";
import { CUmemPoolProps } from "../../../ffi/structs.ts";
import { out, SimulatedGpu, testSimulated } from "../../support/simulated_gpu.ts";

const MIB = 1 << 20;

function readPool(gpu: SimulatedGpu, attribute: number): number {
  const pool = out((cell) => gpu.api.cuDeviceGetDefaultMemPool(cell, 0));
  return Number(out((cell) => gpu.api.cuMemPoolGetAttribute(pool, attribute, cell)));
}

testSimulated("cuMemFreeAsync() gives memory back when the host waits", (gpu) => {
  const before = gpu.freeBytes();
  const address = gpu.allocAsync(33 * MIB);
  assertEquals(before - gpu.freeBytes(), 64 * MIB);
  gpu.api.cuMemFreeAsync(address, 0n);
  assertEquals(before - gpu.freeBytes(), 64 * MIB);
  gpu.api.cuCtxSynchronize();
  assertEquals(gpu.freeBytes(), before);
});

testSimulated("cuMemPoolSetAttribute() makes a pool keep memory up to its threshold", (gpu) => {
  const pool = out((cell) => gpu.api.cuDeviceGetDefaultMemPool(cell, 0));
  const threshold = new BigUint64Array([BigInt(20 * MIB)]);
  gpu.api.cuMemPoolSetAttribute(pool, A.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, threshold);
  gpu.api.cuMemFreeAsync(gpu.allocAsync(40 * MIB), 0n);
  gpu.api.cuCtxSynchronize();
  assertEquals(readPool(gpu, A.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 32 * MIB);
  assertEquals(readPool(gpu, A.CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
  assertEquals(readPool(gpu, A.CU_MEMPOOL_ATTR_USED_MEM_HIGH), 40 * MIB);
  gpu.api.cuMemPoolTrimTo(pool, 0n);
  assertEquals(readPool(gpu, A.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
});

Deno.test("cuMemAllocAsync() reuses what is freed before it on a full device", () => {
  const gpu = new SimulatedGpu({ memoryBytes: 8 * MIB });
  const stream = gpu.stream();
  gpu.api.cuMemFreeAsync(gpu.allocAsync(8 * MIB, stream), stream);
  gpu.allocAsync(8 * MIB, stream);
});

Deno.test("cuMemAllocAsync() reports when the device is full, and loses nothing", () => {
  const gpu = new SimulatedGpu({ memoryBytes: 8 * MIB });
  const address = gpu.allocAsync(6 * MIB);
  assertEquals(gpu.api.cuMemAllocAsync(new BigUint64Array(1), BigInt(4 * MIB), 0n), 2);
  gpu.api.cuMemFreeAsync(address, 0n);
  gpu.api.cuCtxSynchronize();
  assertEquals(gpu.freeBytes(), 8 * MIB);
});

Deno.test("cuMemAllocAsync() is refused where pools are not supported", () => {
  const gpu = new SimulatedGpu({ poolsSupported: false });
  assertEquals(gpu.api.cuMemAllocAsync(new BigUint64Array(1), 256n, 0n), 801);
});

Deno.test("cuMemPoolDestroy() throws while the free of a block is not done, and gives memory back", () => {
  const gpu = new SimulatedGpu();
  const before = gpu.freeBytes();
  const properties = CUmemPoolProps.encode({ allocType: 1, location: { type: 1, id: 0 } });
  const pool = out((cell) => gpu.api.cuMemPoolCreate(cell, properties));
  const address = out((cell) => gpu.api.cuMemAllocFromPoolAsync(cell, 256n, pool, 0n));
  assertThrows(() => gpu.api.cuMemPoolDestroy(pool), SimulationError, "256 bytes");
  gpu.api.cuMemFreeAsync(address, 0n);
  assertThrows(() => gpu.api.cuMemPoolDestroy(pool), SimulationError, "256 bytes");
  gpu.api.cuCtxSynchronize();
  assertEquals(gpu.api.cuMemPoolDestroy(pool), 0);
  assertEquals(gpu.api.cuMemPoolTrimTo(pool, 0n), 1);
  assertEquals(gpu.freeBytes(), before);
});

testSimulated("cuMemFreeAsync() frees memory of cuMemAlloc_v2() in stream order", (gpu) => {
  const before = gpu.freeBytes();
  assertEquals(gpu.api.cuMemFreeAsync(gpu.alloc(MIB), 0n), 0);
  assertEquals(before - gpu.freeBytes(), MIB);
  gpu.api.cuCtxSynchronize();
  assertEquals(gpu.freeBytes(), before);
});

testSimulated("cuMemFree_v2() frees memory of a pool once the host has waited", (gpu) => {
  const address = gpu.allocAsync(MIB);
  assertThrows(() => gpu.api.cuMemFree_v2(address), SimulationError, "still needs");
  gpu.api.cuCtxSynchronize();
  assertEquals(gpu.api.cuMemFree_v2(address), 0);
  assertEquals(readPool(gpu, A.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
  // The driver's counter of used bytes forgets such a free.
  assertEquals(readPool(gpu, A.CU_MEMPOOL_ATTR_USED_MEM_CURRENT), MIB);
});

testSimulated("cuMemFreeAsync() throws when another stream may still use the memory", (gpu) => {
  const [first, second] = [gpu.stream(), gpu.stream()];
  const address = gpu.allocAsync(1024, first);
  gpu.api.cuStreamSynchronize(first);
  gpu.api.cuMemsetD8Async(address, 1, 1024n, second);
  assertThrows(() => gpu.api.cuMemFreeAsync(address, first), SimulationError, "race");
});

testSimulated("cuMemAllocAsync() memory used on another stream without order is a race", (gpu) => {
  const address = gpu.allocAsync(1024, gpu.stream());
  assertThrows(
    () => gpu.api.cuMemsetD8Async(address, 1, 1024n, gpu.stream()),
    SimulationError,
    "race",
  );
});

Deno.test("cuMemPoolDestroy() keeps no pool whose memory is freed, once the host has waited", () => {
  const machine = new Machine(settingsOf({}));
  const gpu = new SimulatedGpu(machine);
  const before = gpu.freeBytes();
  const [properties, event] = [
    CUmemPoolProps.encode({ allocType: 1, location: { type: 1, id: 0 } }),
    gpu.event(),
  ];
  for (const byteLength of [0n, 4096n]) {
    const pool = out((cell) => gpu.api.cuMemPoolCreate(cell, properties));
    const address = out((cell) => gpu.api.cuMemAllocFromPoolAsync(cell, byteLength, pool, 0n));
    gpu.api.cuMemFreeAsync(address, 0n);
    gpu.api.cuEventRecord(event, 0n);
    while (gpu.api.cuEventQuery(event) !== 0);
    assertEquals(gpu.api.cuMemPoolDestroy(pool), 0);
    assertEquals(gpu.api.cuEventSynchronize(event), 0);
    assertEquals(machine.pools.size, machine.defaultPools.length);
  }
  assertEquals(gpu.freeBytes(), before);
});

/** Waits of the host after memory was freed on one stream, and whether they give it back. */
const WAITS_AFTER_A_FREE: readonly (readonly [string, (at: FreePlace) => void, boolean])[] = [
  ["queries", ({ gpu, stream }) => gpu.api.cuStreamQuery(stream), false],
  ["a trim", ({ gpu }) => trimDefault(gpu), false],
  ["a wait for another stream", ({ gpu, other }) => gpu.api.cuStreamSynchronize(other), false],
  ["a wait for an event before", ({ gpu, before }) => gpu.api.cuEventSynchronize(before), false],
  ["a wait for the stream", ({ gpu, stream }) => gpu.api.cuStreamSynchronize(stream), true],
  ["a wait for an event behind", ({ gpu, behind }) => gpu.api.cuEventSynchronize(behind), true],
  ["the end of the stream", ({ gpu, stream }) => gpu.api.cuStreamDestroy_v2(stream), true],
  ["a wait for the context", ({ gpu }) => gpu.api.cuCtxSynchronize(), true],
];

/** Where memory was freed, with an event before and one behind. */
interface FreePlace {
  readonly gpu: SimulatedGpu;
  readonly stream: bigint;
  readonly other: bigint;
  readonly before: bigint;
  readonly behind: bigint;
}

for (const [wait, run, isBack] of WAITS_AFTER_A_FREE) {
  testSimulated(
    `cuMemFreeAsync() and ${wait}: the memory is ${isBack ? "back" : "kept"}`,
    (gpu) => {
      const freeBytes = gpu.freeBytes();
      const [stream, other] = [gpu.stream(), gpu.stream()];
      const [before, behind] = [gpu.event(), gpu.event()];
      const address = gpu.allocAsync(64 * MIB, stream);
      gpu.api.cuMemsetD8Async(address, 1, 64n, stream);
      gpu.api.cuEventRecord(before, stream);
      gpu.api.cuMemFreeAsync(address, stream);
      gpu.api.cuEventRecord(behind, stream);
      while (gpu.api.cuStreamQuery(stream) !== 0);
      assertEquals(readPool(gpu, A.CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
      run({ gpu, stream, other, before, behind });
      trimDefault(gpu);
      assertEquals(freeBytes - gpu.freeBytes(), isBack ? 0 : 64 * MIB);
    },
  );
}

testSimulated(
  "cuMemAllocAsync() takes memory freed on the stream, or done, before any new",
  (gpu) => {
    const [stream, other] = [gpu.stream(), gpu.stream()];
    const reservedBytes = () => readPool(gpu, A.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    for (let round = 0; round < 3; round++) {
      gpu.api.cuMemFreeAsync(gpu.allocAsync(64 * MIB, stream), stream);
    }
    assertEquals(reservedBytes(), 64 * MIB);
    gpu.api.cuMemFreeAsync(gpu.allocAsync(32 * MIB, other), other);
    assertEquals(reservedBytes(), 96 * MIB); // the first stream's frees are still queued
    while (gpu.api.cuStreamQuery(stream) !== 0);
    gpu.api.cuMemFreeAsync(gpu.allocAsync(64 * MIB, other), other);
    assertEquals(reservedBytes(), 96 * MIB);
  },
);

function trimDefault(gpu: SimulatedGpu): void {
  const pool = out((cell) => gpu.api.cuDeviceGetDefaultMemPool(cell, 0));
  gpu.api.cuMemPoolTrimTo(pool, 0n);
}
