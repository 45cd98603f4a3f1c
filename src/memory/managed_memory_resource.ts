// Managed memory: one address for the CPU and all GPUs, and pages migrate to where they are used.

import { CUmemAttach_flags } from "../../ffi/constants.ts";
import { take64 } from "../driver/driver.ts";
import { CudaUnavailableError } from "../words/errors.ts";
import { BaseMemoryResource, requireBytes } from "./base_memory_resource.ts";
import { contextOf, type ContextOwner } from "./memory_resource.ts";

/** Managed (unified) memory (cuMemAllocManaged). It may be larger than the device. */
export class ManagedMemoryResource extends BaseMemoryResource {
  /**
   * Takes memory through a device's context.
   *
   * @throws CudaUnavailableError when the device has no managed memory.
   */
  constructor(owner: ContextOwner) {
    const context = contextOf(owner, "make a ManagedMemoryResource of");
    // On other systems an access by the CPU while the GPU works ends the process.
    const isConcurrent = context.attribute("CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS") === 1;
    super({ context }, { isHostAccessible: isConcurrent });
    if (context.attribute("CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY") === 1) return;
    throw new CudaUnavailableError(
      "not-supported",
      `Cannot use managed memory on device ${context.ordinal}: the device has none; ` +
        `use a device or staged buffer`,
    );
  }

  /** Allocates at once, without waiting for the stream; pages appear where they are first used. */
  allocate(byteLength: number): bigint {
    requireBytes(byteLength);
    const { CU_MEM_ATTACH_GLOBAL } = CUmemAttach_flags;
    return take64(this.context, "cuMemAllocManaged", BigInt(byteLength), CU_MEM_ATTACH_GLOBAL);
  }

  /** Frees once all work of the device that may use the memory is done (cuMemFree waits for it). */
  deallocate(address: bigint): void {
    this.context.giveBack("cuMemFree_v2", address);
  }
}
