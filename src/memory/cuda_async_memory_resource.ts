// The driver's stream-ordered pool: half a microsecond an allocation, and freed in stream order.

import type { Context } from "../context.ts";
import { CudaUnavailableError } from "../errors.ts";
import type { CudaStream } from "../stream.ts";
import type { ContextOwner, MemoryResource } from "./memory_resource.ts";

/**
 * The device's default pool (cuMemAllocAsync). Its release threshold stays as the driver sets it, 0:
 * memory that nothing uses returns to the device at the next synchronisation.
 */
export class CudaAsyncMemoryResource implements MemoryResource {
  readonly context: Context;
  readonly isDeviceAccessible = true;
  readonly isHostAccessible = false;
  readonly #cell = new BigUint64Array(1);

  /**
   * Takes memory from a device's default pool.
   *
   * @throws CudaUnavailableError when the device or its driver has no pools.
   */
  constructor(owner: ContextOwner) {
    this.context = owner.context;
    if (!CudaAsyncMemoryResource.isSupported(owner.context)) {
      throw new CudaUnavailableError(
        "driver-too-old",
        `Cannot use stream-ordered memory on device ${this.context.ordinal}: it has no memory ` +
          `pools; use CudaMemoryResource`,
      );
    }
  }

  /** Whether a device has stream-ordered pools. */
  static isSupported(context: Context): boolean {
    return context.driver.has("cuMemAllocAsync") &&
      context.attribute("CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED") === 1;
  }

  /** Allocates in the order of `stream` (cuMemAllocAsync). */
  allocate(byteLength: number, stream: CudaStream): bigint {
    this.context.driver.call("cuMemAllocAsync", this.#cell, BigInt(byteLength), stream.handle);
    return this.#cell[0] ?? 0n;
  }

  /** Frees in the order of `stream` (cuMemFreeAsync). */
  deallocate(address: bigint, _byteLength: number, stream: CudaStream): void {
    this.context.driver.call("cuMemFreeAsync", address, stream.handle);
  }
}
