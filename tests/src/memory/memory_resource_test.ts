// Runs the contract of memory resources over the kit's plain ones and over one that a user wrote.

import { assertEquals, assertThrows } from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaAsyncMemoryResource } from "../../../src/memory/cuda_async_memory_resource.ts";
import { CudaMemoryResource } from "../../../src/memory/cuda_memory_resource.ts";
import type { MemoryResource } from "../../../src/memory/memory_resource.ts";
import { PinnedHostMemoryResource } from "../../../src/memory/pinned_host_memory_resource.ts";
import type { CudaStream } from "../../../src/order/stream.ts";
import { CudaUnavailableError } from "../../../src/words/errors.ts";
import { testResource } from "../../support/resource_contract.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

/** A user's resource: every block of another resource gets a border on both sides. */
class BorderedResource implements MemoryResource {
  static readonly BORDER_BYTES = 256;
  readonly context;
  readonly isDeviceAccessible;
  readonly isHostAccessible;
  readonly #upstream: MemoryResource;

  constructor(upstream: MemoryResource) {
    this.context = upstream.context;
    this.isDeviceAccessible = upstream.isDeviceAccessible;
    this.isHostAccessible = upstream.isHostAccessible;
    this.#upstream = upstream;
  }

  allocate(byteLength: number, stream: CudaStream): bigint {
    const { BORDER_BYTES } = BorderedResource;
    return this.#upstream.allocate(byteLength + 2 * BORDER_BYTES, stream) + BigInt(BORDER_BYTES);
  }

  deallocate(address: bigint, byteLength: number, stream: CudaStream): void {
    const { BORDER_BYTES } = BorderedResource;
    const outer = address - BigInt(BORDER_BYTES);
    this.#upstream.deallocate(outer, byteLength + 2 * BORDER_BYTES, stream);
  }
}

testResource({ name: "CudaMemoryResource", make: (gpu) => new CudaMemoryResource(gpu) });
testResource({ name: "CudaAsyncMemoryResource", make: (gpu) => new CudaAsyncMemoryResource(gpu) });
testResource({
  name: "PinnedHostMemoryResource",
  make: (gpu) => new PinnedHostMemoryResource(gpu),
});
testResource({
  name: "A user's resource",
  isForeign: true,
  make: (gpu) => new BorderedResource(new CudaMemoryResource(gpu)),
});

testOnDevice("MemoryResource of a user gives back the address and the size that it gave", (gpu) => {
  const taken = new Map<bigint, number>();
  const upstream = new CudaMemoryResource(gpu);
  const resource: MemoryResource = {
    context: gpu.context,
    isDeviceAccessible: true,
    isHostAccessible: false,
    allocate(byteLength) {
      const address = upstream.allocate(byteLength);
      taken.set(address, byteLength);
      return address;
    },
    deallocate(address, byteLength) {
      assertEquals(taken.get(address), byteLength);
      taken.delete(address);
      upstream.deallocate(address);
    },
  };
  const buffers = [1, 1000, 4096].map((size) => gpu.alloc("uint8", size, { resource }));
  assertEquals(taken.size, 3);
  for (const buffer of buffers) buffer.dispose();
  assertEquals(taken.size, 0);
});

Deno.test("CudaAsyncMemoryResource says what to use where there are no pools", () =>
  withDevice((gpu) => {
    assertThrows(
      () => new CudaAsyncMemoryResource(gpu),
      CudaUnavailableError,
      "it has no memory pools; use CudaMemoryResource",
    );
  }, { driver: simulateDriver({ poolsSupported: false }) }));

Deno.test("CudaDevice takes plain memory where there are no pools", () =>
  withDevice((gpu) => {
    assertEquals(gpu.memoryResource.constructor, CudaMemoryResource);
    using buffer = gpu.zeros("uint8", 16);
    assertEquals(buffer.downloadSync(), new Uint8Array(16));
  }, { driver: simulateDriver({ poolsSupported: false }) }));

testOnDevice("CudaDevice takes stream-ordered memory where there are pools", (gpu) => {
  assertEquals(gpu.memoryResource.constructor, CudaAsyncMemoryResource);
});
