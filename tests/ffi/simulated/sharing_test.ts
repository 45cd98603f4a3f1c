// Handles for other processes on the simulated driver, between two machines of one process: they share
// nothing but what was handed out.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { openHost } from "../../../ffi/host.ts";
import { SimulationError } from "../../../ffi/simulated/driver.ts";
import { CUmemPoolProps } from "../../../ffi/structs.ts";
import { Random } from "../../support/random.ts";
import { out, SimulatedGpu } from "../../support/simulated_gpu.ts";
import { testOnLinux } from "../../support/test_unless.ts";

const FOR_PROCESSES = 6;

function memoryHandle(gpu: SimulatedGpu, address: bigint): Uint8Array<ArrayBuffer> {
  const handle = new Uint8Array(64);
  assertEquals(gpu.api.cuIpcGetMemHandle(handle, address), 0);
  return handle;
}

function eventHandle(gpu: SimulatedGpu, event: bigint): Uint8Array<ArrayBuffer> {
  const handle = new Uint8Array(64);
  assertEquals(gpu.api.cuIpcGetEventHandle(handle, event), 0);
  return handle;
}

/** Makes a pool for other processes, or for none. */
function makePool(gpu: SimulatedGpu, handleTypes = 1): bigint {
  const location = { type: 1, id: 0 };
  const properties = CUmemPoolProps.encode({ allocType: 1, handleTypes, location });
  return out((cell) => gpu.api.cuMemPoolCreate(cell, properties));
}

function allocFrom(gpu: SimulatedGpu, pool: bigint, byteLength: number): bigint {
  return out((cell) => gpu.api.cuMemAllocFromPoolAsync(cell, BigInt(byteLength), pool, 0n));
}

/** Opens a pool of one machine on another. */
function importPool(from: SimulatedGpu, pool: bigint, to: SimulatedGpu): bigint {
  const descriptor = exportPool(from, pool);
  try {
    return out((cell) =>
      to.api.cuMemPoolImportFromShareableHandle(cell, BigInt(descriptor), 1, 0n)
    );
  } finally {
    openHost().close(descriptor);
  }
}

function exportPool(gpu: SimulatedGpu, pool: bigint): number {
  const cell = new Int32Array(1);
  assertEquals(gpu.api.cuMemPoolExportToShareableHandle(cell, pool, 1, 0n), 0);
  return cell[0] ?? -1;
}

testOnLinux("cuIpcOpenMemHandle_v2() shows another machine's bytes, to both", () => {
  const [one, two] = [new SimulatedGpu(), new SimulatedGpu()];
  const address = one.alloc(3 << 20);
  one.write(address + 5n, Uint8Array.of(1, 2, 3));
  const freeBefore = two.freeBytes();
  const handle = memoryHandle(one, address);
  const theirs = out((cell) => two.api.cuIpcOpenMemHandle_v2(cell, handle, 1));
  assertEquals(two.read(theirs + 5n, 3), Uint8Array.of(1, 2, 3));
  two.write(theirs + (3n << 20n) - 2n, Uint8Array.of(8, 9));
  assertEquals(one.read(address + (3n << 20n) - 2n, 2), Uint8Array.of(8, 9));
  assertEquals(two.freeBytes(), freeBefore);
  assertThrows(() => two.read(theirs + (3n << 20n) - 1n, 2), SimulationError);
  assertEquals(two.api.cuMemFree_v2(theirs), 1);
  assertEquals(two.api.cuIpcGetMemHandle(new Uint8Array(64), theirs), 1);
  assertEquals(two.api.cuIpcCloseMemHandle(theirs + 1n), 1);
  assertEquals(two.api.cuIpcCloseMemHandle(theirs), 0);
  assertEquals(two.api.cuIpcCloseMemHandle(theirs), 1);
  assertThrows(() => two.read(theirs, 1), SimulationError);
});

testOnLinux("cuIpcOpenMemHandle_v2() counts how often it opened the same memory", () => {
  const [one, two] = [new SimulatedGpu(), new SimulatedGpu()];
  const address = one.alloc(64);
  one.write(address, new Uint8Array(64));
  const [first, second] = [0, 1].map(() =>
    out((cell) => two.api.cuIpcOpenMemHandle_v2(cell, memoryHandle(one, address), 1))
  );
  assertEquals(first, second);
  assertEquals(two.api.cuIpcCloseMemHandle(first ?? 0n), 0);
  assertEquals(two.read(first ?? 0n, 1), Uint8Array.of(0));
  assertEquals(two.api.cuIpcCloseMemHandle(first ?? 0n), 0);
  assertEquals(two.api.cuIpcCloseMemHandle(first ?? 0n), 1);
});

testOnLinux(
  "cuIpcOpenMemHandle_v2() opens nothing that was freed, and memory that is freed is gone for all",
  () => {
    const [one, two] = [new SimulatedGpu(), new SimulatedGpu()];
    const address = one.alloc(64);
    const handle = memoryHandle(one, address);
    const theirs = out((cell) => two.api.cuIpcOpenMemHandle_v2(cell, handle, 1));
    assertEquals(one.api.cuMemFree_v2(address), 0);
    assertThrows(() => two.read(theirs, 1), SimulationError);
    assertEquals(two.api.cuIpcCloseMemHandle(theirs), 0);
    const three = new SimulatedGpu();
    assertEquals(three.api.cuIpcOpenMemHandle_v2(new BigUint64Array(1), handle, 1), 1);
  },
);

testOnLinux("cuIpcOpenMemHandle_v2() rejects wrong flags, kinds and bytes", () => {
  const [one, two] = [new SimulatedGpu(), new SimulatedGpu()];
  const cell = new BigUint64Array(1);
  const handle = memoryHandle(one, one.alloc(64));
  assertEquals(two.api.cuIpcOpenMemHandle_v2(cell, handle, 0), 1);
  assertEquals(two.api.cuIpcOpenEventHandle(cell, handle), 205);
  assertEquals(two.api.cuIpcOpenMemHandle_v2(cell, eventHandle(one, one.event(6)), 1), 1);
  const random = new Random(23);
  for (let i = 0; i < 300; i++) {
    const changed = handle.slice();
    const at = random.below(64);
    changed[at] = (changed[at] ?? 0) ^ (1 + random.below(255));
    const status = two.api.cuIpcOpenMemHandle_v2(cell, changed, 1);
    const isOfOther = at >= 12 && at < 16; // the number of a process, which need not be there
    assert(status === 1 || (isOfOther && status === 400), `byte ${at}: ${status}`);
  }
  assertEquals(cell[0], 0n);
});

testOnLinux("cuIpcOpenEventHandle() tells when another machine's stream has got there", () => {
  const [one, two] = [new SimulatedGpu(), new SimulatedGpu()];
  const event = one.event(FOR_PROCESSES);
  const theirs = out((cell) => two.api.cuIpcOpenEventHandle(cell, eventHandle(one, event)));
  assertEquals(two.api.cuEventQuery(theirs), 0); // never recorded
  const stream = one.stream();
  const latch = one.pinned(4);
  assertEquals(one.api.cuStreamWaitValue32_v2(stream, latch.address, 1, 1), 0);
  assertEquals(one.api.cuEventRecord(event, stream), 0);
  assertEquals(two.api.cuEventQuery(theirs), 600);
  const waiting = two.stream();
  assertEquals(two.api.cuStreamWaitEvent(waiting, theirs, 0), 0);
  const address = two.alloc(4);
  assertEquals(two.api.cuMemsetD8Async(address, 7, 4n, waiting), 0);
  assertEquals(two.api.cuStreamQuery(waiting), 600);
  // Both machines are in this process, so nobody would open the latch meanwhile.
  assertThrows(() => two.api.cuEventSynchronize(theirs), SimulationError, "nobody else");
  latch.bytes[0] = 1;
  assertEquals(one.api.cuEventSynchronize(event), 0);
  assertEquals(two.api.cuEventQuery(theirs), 0);
  assertEquals(two.api.cuEventSynchronize(theirs), 0);
  assertEquals(two.api.cuStreamSynchronize(waiting), 0);
  assertEquals(two.read(address, 1), Uint8Array.of(7));
});

testOnLinux("cuEventRecord() on either machine sets the mark of both", () => {
  const [one, two] = [new SimulatedGpu(), new SimulatedGpu()];
  const event = one.event(FOR_PROCESSES);
  const handle = eventHandle(one, event);
  const theirs = out((cell) => two.api.cuIpcOpenEventHandle(cell, handle));
  assertEquals(one.api.cuIpcOpenEventHandle(new BigUint64Array(1), handle), 201);
  assertEquals(two.api.cuEventRecord(theirs, two.stream()), 0);
  assertEquals([one.api.cuEventQuery(event), two.api.cuEventQuery(theirs)], [0, 0]);
  assertEquals(two.api.cuEventElapsedTime(new Float32Array(1), theirs, theirs), 400);
  assertEquals(one.api.cuEventDestroy_v2(event), 0);
  assertEquals(two.api.cuIpcOpenEventHandle(new BigUint64Array(1), handle), 205);
  assertEquals(two.api.cuEventDestroy_v2(theirs), 0);
});

testOnLinux("cuMemPoolImportPointer() shows memory of another machine's pool", () => {
  const [one, two] = [new SimulatedGpu(), new SimulatedGpu()];
  const pool = makePool(one);
  const address = allocFrom(one, pool, 4096);
  one.write(address, new Uint8Array(4096).fill(4));
  const data = new Uint8Array(64);
  assertEquals(one.api.cuMemPoolExportPointer(data, address), 1); // nobody was given the pool yet
  const imported = importPool(one, pool, two);
  assertEquals(one.api.cuMemPoolExportPointer(data, address + 16n), 1);
  assertEquals(one.api.cuMemPoolExportPointer(data, address), 0);
  const theirs = out((cell) => two.api.cuMemPoolImportPointer(cell, imported, data));
  assertEquals(two.read(theirs + 4000n, 96), new Uint8Array(96).fill(4));
  two.write(theirs, Uint8Array.of(6));
  assertEquals(one.read(address, 1), Uint8Array.of(6));
  assertEquals(
    two.api.cuMemAllocFromPoolAsync(new BigUint64Array(1), 64n, imported, 0n),
    1,
  );
  assertEquals(two.api.cuMemPoolExportPointer(new Uint8Array(64), theirs), 1);
  assertEquals(two.api.cuMemFreeAsync(theirs, 0n), 0);
  assertEquals(two.api.cuCtxSynchronize(), 0);
  assertThrows(() => two.read(theirs, 1), SimulationError);
  assertEquals(one.read(address, 1), Uint8Array.of(6));
  assertEquals(two.api.cuMemPoolDestroy(imported), 0);
  assertEquals(one.api.cuMemFree_v2(address), 0);
});

testOnLinux("cuMemPoolExportToShareableHandle() is for pools with that handle alone", () => {
  const gpu = new SimulatedGpu();
  const cell = new Int32Array(1);
  const plain = makePool(gpu, 0);
  const pool = out((cell) => gpu.api.cuDeviceGetDefaultMemPool(cell, 0));
  for (const handle of [plain, pool, 0n]) {
    assertEquals(gpu.api.cuMemPoolExportToShareableHandle(cell, handle, 1, 0n), 1);
  }
  const shared = makePool(gpu);
  assertEquals(gpu.api.cuMemPoolExportToShareableHandle(cell, shared, 8, 0n), 1);
  assertEquals(gpu.api.cuMemPoolExportToShareableHandle(cell, shared, 1, 1n), 1);
  assertEquals(gpu.api.cuMemPoolExportPointer(new Uint8Array(64), allocFrom(gpu, plain, 64)), 1);
  assertEquals(gpu.api.cuMemPoolExportPointer(new Uint8Array(64), gpu.alloc(64)), 1);
});

testOnLinux("cuMemPoolImportPointer() refuses memory of another pool, or freed", () => {
  const [one, two] = [new SimulatedGpu(), new SimulatedGpu()];
  const [pool, other] = [makePool(one), makePool(one)];
  const address = allocFrom(one, pool, 64);
  const data = new Uint8Array(64);
  const imported = importPool(one, pool, two);
  assertEquals(one.api.cuMemPoolExportPointer(data, address), 0);
  const cell = new BigUint64Array(1);
  assertEquals(two.api.cuMemPoolImportPointer(cell, importPool(one, other, two), data), 1);
  assertEquals(two.api.cuMemPoolImportPointer(cell, imported, new Uint8Array(64)), 1);
  assertEquals(two.api.cuMemPoolImportPointer(cell, makePool(two), data), 1);
  one.api.cuMemFreeAsync(address, 0n);
  one.api.cuCtxSynchronize();
  assertEquals(two.api.cuMemPoolImportPointer(cell, imported, data), 1);
});

testOnLinux("cuMemPoolImportPointer() opens its machine's memory, not in its pool", () => {
  const gpu = new SimulatedGpu();
  const pool = makePool(gpu);
  const address = allocFrom(gpu, pool, 64);
  gpu.write(address, new Uint8Array(64).fill(3));
  const imported = importPool(gpu, pool, gpu);
  const data = new Uint8Array(64);
  assertEquals(gpu.api.cuMemPoolExportPointer(data, address), 0);
  assertEquals(gpu.api.cuMemPoolImportPointer(new BigUint64Array(1), pool, data), 1);
  const again = out((cell) => gpu.api.cuMemPoolImportPointer(cell, imported, data));
  assertEquals(gpu.read(again + 60n, 4), Uint8Array.of(3, 3, 3, 3));
  assertEquals(gpu.api.cuMemFree_v2(again), 0);
  assertEquals(gpu.read(address, 1), Uint8Array.of(3));
  assertEquals(gpu.api.cuMemPoolDestroy(imported), 0);
});

testOnLinux("cuMemPoolImportFromShareableHandle() refuses descriptors of other files", () => {
  const gpu = new SimulatedGpu();
  using file = Deno.openSync("/dev/null");
  const cell = new BigUint64Array(1);
  for (const descriptor of [-1, 0, 1, 10_000]) {
    const handle = BigInt.asUintN(64, BigInt(descriptor));
    assertEquals(gpu.api.cuMemPoolImportFromShareableHandle(cell, handle, 1, 0n), 999);
  }
  assertEquals(file.isTerminal(), false);
  assertEquals(cell[0], 0n);
});
