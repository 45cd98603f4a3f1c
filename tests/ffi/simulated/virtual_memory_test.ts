// Virtual memory of the simulated driver: reserving, mapping, access, and the way back.
// A buffer that grows in place rests on this.

import { assertEquals, assertThrows } from "@std/assert";
import { SimulationError } from "../../../ffi/simulated/driver.ts";
import { CUmemAccessDesc, CUmemAllocationProp } from "../../../ffi/structs.ts";
import { out, SimulatedGpu } from "../../support/simulated_gpu.ts";

const STEP = 2n << 20n;
const PROPERTIES = CUmemAllocationProp.encode({ type: 1, location: { type: 1, id: 0 } });

function open(): { gpu: SimulatedGpu; address: bigint; grow(index: bigint): bigint } {
  const gpu = new SimulatedGpu();
  const address = out((cell) => gpu.api.cuMemAddressReserve(cell, 4n * STEP, 0n, 0n, 0n));
  return {
    gpu,
    address,
    grow(index) {
      const handle = out((cell) => gpu.api.cuMemCreate(cell, STEP, PROPERTIES, 0n));
      assertEquals(gpu.api.cuMemMap(address + index * STEP, STEP, 0n, handle, 0n), 0);
      return handle;
    },
  };
}

function permit(gpu: SimulatedGpu, address: bigint, byteLength: bigint): void {
  const access = CUmemAccessDesc.encode({ location: { type: 1, id: 0 }, flags: 3 });
  assertEquals(gpu.api.cuMemSetAccess(address, byteLength, access, 1n), 0);
}

Deno.test("cuMemMap() lets one copy cross two mappings", () => {
  const { gpu, address, grow } = open();
  grow(0n);
  grow(1n);
  permit(gpu, address, 2n * STEP);
  const bytes = Uint8Array.from({ length: 4096 }, (_, index) => index % 251);
  gpu.write(address + STEP - 2048n, bytes);
  assertEquals(gpu.read(address + STEP - 2048n, 4096), bytes);
});

Deno.test("cuMemSetAccess() must come before any use", () => {
  const { gpu, address, grow } = open();
  grow(0n);
  assertThrows(() => gpu.api.cuMemsetD8Async(address, 1, 16n, 0n), SimulationError, "no right");
});

Deno.test("cuMemsetD8Async() throws on reserved addresses without memory", () => {
  const { gpu, address, grow } = open();
  grow(0n);
  permit(gpu, address, STEP);
  assertThrows(
    () => gpu.api.cuMemsetD8Async(address, 1, STEP + 1n, 0n),
    SimulationError,
    "no memory is mapped",
  );
});

Deno.test("cuMemRelease() returns memory when nothing maps it any more", () => {
  const { gpu, address, grow } = open();
  const before = gpu.freeBytes();
  const handle = grow(0n);
  assertEquals(gpu.api.cuMemRelease(handle), 0);
  assertEquals(before - gpu.freeBytes(), Number(STEP));
  assertEquals(gpu.api.cuMemUnmap(address, STEP), 0);
  assertEquals(gpu.freeBytes(), before);
});

Deno.test("cuMemUnmap() throws while queued work uses the memory", () => {
  const { gpu, address, grow } = open();
  grow(0n);
  permit(gpu, address, STEP);
  gpu.api.cuMemsetD8Async(address, 1, 16n, gpu.stream());
  assertThrows(() => gpu.api.cuMemUnmap(address, STEP), SimulationError, "still needs");
});
