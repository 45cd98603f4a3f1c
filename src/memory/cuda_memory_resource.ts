// Plain device memory: cuMemAlloc and cuMemFree. Other processes can open it.

import { take64 } from "../driver/driver.ts";
import { BaseMemoryResource, requireBytes } from "./base_memory_resource.ts";
import type { ContextOwner } from "./memory_resource.ts";

/** Device memory straight from the driver; each call takes tens of microseconds (cuMemAlloc). */
export class CudaMemoryResource extends BaseMemoryResource {
  /** Takes memory from a device. */
  constructor(owner: ContextOwner) {
    super(owner);
  }

  /** Allocates at once, without waiting for the stream (cuMemAlloc). */
  allocate(byteLength: number): bigint {
    requireBytes(byteLength);
    return take64(this.context, "cuMemAlloc_v2", BigInt(byteLength));
  }

  /** Frees once all work of the device that may use the memory is done (cuMemFree waits for it). */
  deallocate(address: bigint): void {
    this.context.giveBack("cuMemFree_v2", address);
  }
}
