// Runs the contract of memory resources over those behind mapped, managed, growing and padded memory.

import { assertEquals, assertThrows } from "@std/assert";
import { ManagedMemoryResource } from "../../../src/memory/managed_memory_resource.ts";
import { MappedHostMemoryResource } from "../../../src/memory/mapped_host_memory_resource.ts";
import { PitchedMemoryResource } from "../../../src/memory/pitched_memory_resource.ts";
import { VirtualMemoryResource } from "../../../src/memory/virtual_memory_resource.ts";
import { testResource } from "../../support/resource_contract.ts";
import { freeBytes, testOnDevice } from "../../support/with_device.ts";

testResource({
  name: "MappedHostMemoryResource",
  make: (gpu) => new MappedHostMemoryResource(gpu),
});
testResource({ name: "ManagedMemoryResource", make: (gpu) => new ManagedMemoryResource(gpu) });
testResource({ name: "VirtualMemoryResource", make: (gpu) => new VirtualMemoryResource(gpu) });
testResource({ name: "PitchedMemoryResource", make: (gpu) => new PitchedMemoryResource(gpu) });

testOnDevice("VirtualMemoryResource takes whole steps and gives them back", (gpu) => {
  const resource = new VirtualMemoryResource(gpu);
  gpu.alloc("uint8", 2 ** 22, { resource }).dispose(); // page tables stay
  const before = freeBytes(gpu);
  const block = gpu.alloc("uint8", 2 ** 21 + 1, { resource });
  assertEquals(before - freeBytes(gpu), 2 ** 22);
  block.dispose();
  assertEquals(freeBytes(gpu), before);
});

testOnDevice("VirtualMemoryResource.deallocate() refuses what it did not allocate", (gpu) => {
  const resource = new VirtualMemoryResource(gpu);
  assertThrows(
    () => resource.deallocate(0x1000n, 16, gpu.stream),
    RangeError,
    "Cannot free 0x1000: this resource did not allocate it",
  );
});
