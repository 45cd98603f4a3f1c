// Physical memory that goes by file descriptors, on the simulated driver: it lives as long as a handle, a
// mapping or a descriptor, whichever process has that, and takes room from every machine of one name.

import { assertEquals, assertThrows } from "@std/assert";
import { openHost } from "../../../ffi/host.ts";
import { SimulationError } from "../../../ffi/simulated/driver.ts";
import { CUmemAccessDesc, CUmemAllocationProp } from "../../../ffi/structs.ts";
import { out, SimulatedGpu } from "../../support/simulated_gpu.ts";
import { testOnLinux } from "../../support/test_unless.ts";

const STEP = 2n << 20n;
const POSIX = 1;

/** A name that no other test uses. */
function newMachine(): string {
  return `test ${crypto.randomUUID()}`;
}

function create(gpu: SimulatedGpu, { ordinal = 0, type = POSIX, byteLength = STEP } = {}): bigint {
  const location = { type: 1, id: ordinal };
  const properties = CUmemAllocationProp.encode({
    type: 1,
    requestedHandleTypes: type,
    location,
  });
  return out((cell) => gpu.api.cuMemCreate(cell, byteLength, properties, 0n));
}

function exported(gpu: SimulatedGpu, handle: bigint): number {
  const cell = new Int32Array(1);
  assertEquals(gpu.api.cuMemExportToShareableHandle(cell, handle, POSIX, 0n), 0);
  return cell[0] ?? -1;
}

function imported(gpu: SimulatedGpu, descriptor: number): bigint {
  return out((cell) => gpu.api.cuMemImportFromShareableHandle(cell, BigInt(descriptor), POSIX));
}

/** Maps memory at new addresses, and leaves it to the mapping. */
function map(gpu: SimulatedGpu, handle: bigint, ordinal = 0): bigint {
  const address = out((cell) => gpu.api.cuMemAddressReserve(cell, STEP, 0n, 0n, 0n));
  assertEquals(gpu.api.cuMemMap(address, STEP, 0n, handle, 0n), 0);
  assertEquals(gpu.api.cuMemRelease(handle), 0);
  const access = CUmemAccessDesc.encode({ location: { type: 1, id: ordinal }, flags: 3 });
  assertEquals(gpu.api.cuMemSetAccess(address, STEP, access, 1n), 0);
  return address;
}

function close(descriptor: number): void {
  assertEquals(openHost().close(descriptor), 0);
}

testOnLinux("cuMemImportFromShareableHandle() shows another machine's bytes, to both", () => {
  const [one, two] = [new SimulatedGpu(), new SimulatedGpu()];
  const address = map(one, create(one));
  one.write(address + 5n, Uint8Array.of(1, 2, 3));
  const handle = out((cell) => one.api.cuMemRetainAllocationHandle(cell, address));
  const descriptor = exported(one, handle);
  assertEquals(one.api.cuMemRelease(handle), 0);
  const theirs = map(two, imported(two, descriptor));
  close(descriptor);
  assertEquals(two.read(theirs + 5n, 3), Uint8Array.of(1, 2, 3));
  two.write(theirs + STEP - 2n, Uint8Array.of(8, 9));
  assertEquals(one.read(address + STEP - 2n, 2), Uint8Array.of(8, 9));
  assertEquals(one.api.cuMemUnmap(address, STEP), 0);
  assertEquals(two.read(theirs + 6n, 1), Uint8Array.of(2));
});

testOnLinux("A descriptor alone keeps memory and takes its room, until it is closed", () => {
  const machine = newMachine();
  const [one, two] = [new SimulatedGpu({ machine }), new SimulatedGpu({ machine })];
  const other = new SimulatedGpu({ machine: newMachine() });
  const [before, otherBefore] = [two.freeBytes(), other.freeBytes()];
  const address = map(one, create(one));
  assertEquals(two.freeBytes(), before); // what a process allocates for itself is its own
  one.write(address, Uint8Array.of(7));
  const handle = out((cell) => one.api.cuMemRetainAllocationHandle(cell, address));
  const descriptor = exported(one, handle);
  const rest = before - Number(STEP);
  assertEquals([one.freeBytes(), two.freeBytes(), other.freeBytes()], [rest, rest, otherBefore]);
  assertEquals(one.api.cuMemRelease(handle), 0);
  assertEquals(one.api.cuMemUnmap(address, STEP), 0);
  assertEquals([one.freeBytes(), two.freeBytes()], [rest, rest]);
  const theirs = map(two, imported(two, descriptor));
  assertEquals([one.freeBytes(), two.freeBytes()], [rest, rest]); // once, whoever has it
  close(descriptor);
  assertEquals(two.read(theirs, 1), Uint8Array.of(7));
  assertEquals(two.api.cuMemUnmap(theirs, STEP), 0);
  assertEquals([one.freeBytes(), two.freeBytes()], [before, before]);
});

testOnLinux("cuMemCreate() refuses what descriptors leave no room for", () => {
  const memoryBytes = 64 << 20;
  const machine = newMachine();
  const [one, two] = [
    new SimulatedGpu({ machine, memoryBytes }),
    new SimulatedGpu({ machine, memoryBytes }),
  ];
  const descriptor = exported(one, create(one, { byteLength: 16n * STEP }));
  const properties = CUmemAllocationProp.encode({ type: 1, location: { type: 1, id: 0 } });
  const cell = new BigUint64Array(1);
  assertEquals(two.api.cuMemCreate(cell, 17n * STEP, properties, 0n), 2);
  assertEquals(two.api.cuMemCreate(cell, 16n * STEP, properties, 0n), 0);
  assertEquals(one.api.cuMemAlloc_v2(cell, 1n), 0); // what the other took for itself is its own
  close(descriptor);
});

testOnLinux("cuMemImportFromShareableHandle() puts memory on its device", () => {
  const [one, two] = [new SimulatedGpu(), new SimulatedGpu()];
  const descriptor = exported(one, create(one, { ordinal: 1 }));
  const address = map(two, imported(two, descriptor), 0);
  close(descriptor);
  two.api.cuMemsetD8Async(address, 3, 16n, 0n); // device 0 may use it: it was given access
  assertEquals(two.api.cuCtxSynchronize(), 0);
  const own = two.freeBytes();
  assertEquals(two.api.cuMemUnmap(address, STEP), 0);
  assertEquals(two.freeBytes(), own); // it took nothing from device 0
});

testOnLinux("cuMemImportFromShareableHandle() finds memory of its own machine", () => {
  const gpu = new SimulatedGpu();
  const before = gpu.freeBytes();
  const address = map(gpu, create(gpu));
  const handle = out((cell) => gpu.api.cuMemRetainAllocationHandle(cell, address));
  const descriptor = exported(gpu, handle);
  const again = map(gpu, imported(gpu, descriptor));
  close(descriptor);
  gpu.write(again, Uint8Array.of(4));
  assertEquals(gpu.read(address, 1), Uint8Array.of(4));
  assertEquals(before - gpu.freeBytes(), Number(STEP));
  assertEquals(gpu.api.cuMemRelease(handle), 0);
  for (const place of [address, again]) assertEquals(gpu.api.cuMemUnmap(place, STEP), 0);
  assertEquals(gpu.freeBytes(), before);
  assertThrows(() => gpu.read(again, 1), SimulationError, "no memory is mapped");
});

testOnLinux("cuMemExportToShareableHandle() refuses memory that was made for one process", () => {
  const gpu = new SimulatedGpu();
  const handle = create(gpu, { type: 0 });
  const cell = new Int32Array(1);
  assertEquals(gpu.api.cuMemExportToShareableHandle(cell, handle, POSIX, 0n), 1);
  const own = create(gpu);
  assertEquals(gpu.api.cuMemExportToShareableHandle(cell, own, 2, 0n), 1);
  assertEquals(gpu.api.cuMemExportToShareableHandle(cell, own, POSIX, 1n), 1);
  assertEquals(gpu.api.cuMemExportToShareableHandle(cell, 0n, POSIX, 0n), 1);
  assertEquals(gpu.api.cuMemExportToShareableHandle(null, own, POSIX, 0n), 1);
  assertEquals(cell[0], 0);
});

testOnLinux("cuMemImportFromShareableHandle() refuses descriptors of other files", () => {
  const gpu = new SimulatedGpu();
  using _file = Deno.openSync("/dev/null");
  const cell = new BigUint64Array(1);
  for (const descriptor of [-1, 0, 1, 10_000]) {
    const handle = BigInt.asUintN(64, BigInt(descriptor));
    const status = descriptor === 0 ? 1 : 999;
    assertEquals(gpu.api.cuMemImportFromShareableHandle(cell, handle, POSIX), status);
  }
  assertEquals(cell[0], 0n);
});

Deno.test("cuMemRetainAllocationHandle() refuses addresses without physical memory", () => {
  const gpu = new SimulatedGpu();
  const cell = new BigUint64Array(1);
  const reserved = out((cell) => gpu.api.cuMemAddressReserve(cell, STEP, 0n, 0n, 0n));
  for (const address of [0n, 5n, reserved, gpu.alloc(64)]) {
    assertEquals(gpu.api.cuMemRetainAllocationHandle(cell, address), 1);
  }
});
