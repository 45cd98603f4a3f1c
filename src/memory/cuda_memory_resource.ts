// Plain device memory: cuMemAlloc and cuMemFree. What other processes can open comes from here.

import type { Context } from "../context.ts";
import { take64 } from "../driver.ts";
import { contextOf, type ContextOwner, type MemoryResource } from "./memory_resource.ts";
import { describeResource } from "./describe_resource.ts";

/** Device memory straight from the driver; each call takes tens of microseconds (cuMemAlloc). */
export class CudaMemoryResource implements MemoryResource {
  readonly context: Context;
  readonly isDeviceAccessible = true;
  readonly isHostAccessible = false;

  /** Takes memory from a device. */
  constructor(owner: ContextOwner) {
    this.context = contextOf(owner, "make a CudaMemoryResource of");
  }

  /** Allocates now, whatever the stream has queued (cuMemAlloc). */
  allocate(byteLength: number): bigint {
    return take64(this.context, "cuMemAlloc_v2", BigInt(byteLength));
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
