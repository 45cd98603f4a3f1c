// Page-locked host memory: the copy engine reads and writes it at the speed of the bus.

import { CU_MEMHOSTALLOC } from "../../ffi/constants.ts";
import { take64 } from "../driver/driver.ts";
import { BaseMemoryResource, requireBytes } from "./base_memory_resource.ts";
import type { ContextOwner } from "./memory_resource.ts";

/** Page-locked host memory, exactly as much as asked for, usable by every device (cuMemHostAlloc). */
export class PinnedHostMemoryResource extends BaseMemoryResource {
  /** Takes memory through a device's context. */
  constructor(owner: ContextOwner) {
    super(owner, { isHostAccessible: true });
  }

  /** Allocates now, whatever the stream has queued; takes about 0.1 ms for each MiB. */
  allocate(byteLength: number): bigint {
    requireBytes(byteLength);
    const { PORTABLE } = CU_MEMHOSTALLOC;
    return take64(this.context, "cuMemHostAlloc", BigInt(byteLength), PORTABLE);
  }

  /** Frees at once; the caller has made sure that no queued copy still needs the memory. */
  deallocate(address: bigint): void {
    this.context.giveBack("cuMemFreeHost", address);
  }
}
