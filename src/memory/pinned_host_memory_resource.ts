// Page-locked host memory: the copy engine reads and writes it at the speed of the bus.

import { CU_MEMHOSTALLOC } from "../../ffi/constants.ts";
import { take64 } from "../driver/driver.ts";
import { BaseMemoryResource, requireBytes } from "./base_memory_resource.ts";
import type { ContextOwner } from "./memory_resource.ts";

/** Page-locked host memory, exactly as much as asked for, usable by every device (cuMemHostAlloc). */
export class PinnedHostMemoryResource extends BaseMemoryResource {
  readonly #flags: number;

  /** Takes memory through a device's context; a kind of its own has other flags of cuMemHostAlloc. */
  constructor(owner: ContextOwner, flags: number = CU_MEMHOSTALLOC.PORTABLE) {
    super(owner, { isHostAccessible: true });
    this.#flags = flags;
  }

  /** Allocates now, whatever the stream has queued; takes about 0.1 ms for each MiB. */
  allocate(byteLength: number): bigint {
    requireBytes(byteLength);
    return take64(this.context, "cuMemHostAlloc", BigInt(byteLength), this.#flags);
  }

  /** Frees at once; the caller has made sure that no queued copy still needs the memory. */
  deallocate(address: bigint): void {
    this.context.giveBack("cuMemFreeHost", address);
  }
}
