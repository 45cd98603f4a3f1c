// Memory that migrates: one address for the CPU and all GPUs, and pages go where they are used.

import { CUmemAttach_flags } from "../../ffi/constants.ts";
import type { Context } from "../context.ts";
import { take64 } from "../driver.ts";
import { CudaUnavailableError } from "../errors.ts";
import { contextOf, type ContextOwner, type MemoryResource } from "./memory_resource.ts";
import { describeResource } from "./describe_resource.ts";

/** Managed (unified) memory (cuMemAllocManaged). It may be larger than the device. */
export class ManagedMemoryResource implements MemoryResource {
  readonly context: Context;
  readonly isDeviceAccessible = true;
  /** Whether the CPU can use it at any time: on some systems a touch while the GPU works is fatal. */
  readonly isHostAccessible: boolean;

  /**
   * Takes memory through a device's context.
   *
   * @throws CudaUnavailableError when the device has no managed memory.
   */
  constructor(owner: ContextOwner) {
    const context = contextOf(owner, "make a ManagedMemoryResource of");
    this.context = context;
    this.isHostAccessible =
      context.attribute("CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS") === 1;
    if (context.attribute("CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY") === 1) return;
    throw new CudaUnavailableError(
      "not-supported",
      `Cannot use managed memory on device ${context.ordinal}: the device has none; ` +
        `use a device or staged buffer`,
    );
  }

  /** Allocates now, whatever the stream has queued; pages appear where they are first used. */
  allocate(byteLength: number): bigint {
    const { CU_MEM_ATTACH_GLOBAL } = CUmemAttach_flags;
    return take64(this.context, "cuMemAllocManaged", BigInt(byteLength), CU_MEM_ATTACH_GLOBAL);
  }

  /** Frees once all work of the device that may use the memory is done (cuMemFree waits for it). */
  deallocate(address: bigint): void {
    this.context.giveBack("cuMemFree_v2", address);
  }

  /** Shows the resource on a console. */
  [Symbol.for("Deno.customInspect")](): string {
    return describeResource(this);
  }
}
