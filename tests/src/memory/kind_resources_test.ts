// Runs the contract of memory resources over those behind mapped, managed, growing and padded memory.

import { assertEquals, assertThrows } from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { ManagedMemoryResource } from "../../../src/memory/managed_memory_resource.ts";
import { MappedHostMemoryResource } from "../../../src/memory/mapped_host_memory_resource.ts";
import { PitchedMemoryResource } from "../../../src/memory/pitched_memory_resource.ts";
import { VirtualMemoryResource } from "../../../src/memory/virtual_memory_resource.ts";
import { OutOfMemoryError } from "../../../src/words/errors.ts";
import { testResource } from "../../support/resource_contract.ts";
import { freeBytes, testOnDevice, withDevice } from "../../support/with_device.ts";

testResource({
  name: "MappedHostMemoryResource",
  make: (gpu) => new MappedHostMemoryResource(gpu),
});
testResource({ name: "ManagedMemoryResource", make: (gpu) => new ManagedMemoryResource(gpu) });
testResource({ name: "VirtualMemoryResource", make: (gpu) => new VirtualMemoryResource(gpu) });
testResource({ name: "PitchedMemoryResource", make: (gpu) => new PitchedMemoryResource(gpu) });

const MIB = 2 ** 20;

testOnDevice(
  "VirtualMemoryResource cuts small blocks out of one chunk, and gives it back",
  (gpu) => {
    const resource = new VirtualMemoryResource(gpu);
    gpu.alloc("uint8", 1, { resource }).dispose(); // page tables stay
    const before = freeBytes(gpu);
    const blocks = Array.from({ length: 100 }, () => gpu.zeros("uint8", 1000, { resource }));
    assertEquals(before - freeBytes(gpu), 64 * MIB);
    for (const block of blocks) block.dispose();
    assertEquals(freeBytes(gpu), before);
  },
);

testOnDevice("VirtualMemoryResource gives a large block a chunk of its own", (gpu) => {
  const resource = new VirtualMemoryResource(gpu);
  gpu.alloc("uint8", 32 * MIB, { resource }).dispose();
  const before = freeBytes(gpu);
  using large = gpu.alloc("uint8", 34 * MIB - 1000, { resource });
  using _small = gpu.alloc("uint8", 500, { resource });
  assertEquals(before - freeBytes(gpu), (34 + 64) * MIB);
  large.dispose();
  assertEquals(before - freeBytes(gpu), 64 * MIB);
});

testOnDevice("VirtualMemoryResource uses gaps again, and joins those side by side", async (gpu) => {
  const resource = new VirtualMemoryResource(gpu);
  const blocks = Array.from({ length: 4 }, (_, value) => {
    return gpu.alloc("uint8", 15 * MIB, { resource }).fill(value);
  });
  const [, second, third] = blocks;
  const address = second?.ptr;
  second?.dispose();
  third?.dispose();
  gpu.synchronizeSync();
  using wide = gpu.alloc("uint8", 30 * MIB, { resource });
  assertEquals(wide.ptr, address);
  wide.fill(9);
  for (const at of [0, 3]) {
    assertEquals(await blocks[at]?.at(-1), at);
    assertEquals(await blocks[at]?.at(0), at);
    blocks[at]?.dispose();
  }
});

Deno.test("VirtualMemoryResource takes less than a chunk where a device has no more", async () => {
  const driver = simulateDriver({ memoryBytes: 16 * MIB });
  await withDevice((gpu) => {
    const resource = new VirtualMemoryResource(gpu);
    using small = gpu.zeros("uint8", 2 * MIB, { resource });
    using _other = gpu.zeros("uint8", 14 * MIB, { resource });
    assertThrows(() => gpu.alloc("uint8", MIB, { resource }), OutOfMemoryError);
    small.dispose();
    gpu.synchronizeSync();
    gpu.alloc("uint8", MIB, { resource }).dispose();
  }, { driver });
});

testOnDevice("VirtualMemoryResource.deallocate() refuses what it did not allocate", (gpu) => {
  const resource = new VirtualMemoryResource(gpu);
  assertThrows(
    () => resource.deallocate(0x1000n, 16, gpu.stream),
    RangeError,
    "Cannot free 0x1000: this resource did not allocate it",
  );
});
