// Page-locked host memory: the copy engine reads and writes it at the speed of the bus.

import { CU_MEMHOSTALLOC } from "../../ffi/constants.ts";
import type { Context } from "../context.ts";
import { take64 } from "../driver.ts";
import { contextOf, type ContextOwner, type MemoryResource } from "./memory_resource.ts";
import { describeResource } from "./describe_resource.ts";

/** Page-locked host memory, exactly as much as asked for, usable by every device (cuMemHostAlloc). */
export class PinnedHostMemoryResource implements MemoryResource {
  readonly context: Context;
  readonly isDeviceAccessible = true;
  readonly isHostAccessible = true;

  /** Takes memory through a device's context. */
  constructor(owner: ContextOwner) {
    this.context = contextOf(owner, "make a PinnedHostMemoryResource of");
  }

  /** Allocates now, whatever the stream has queued; takes about 0.1 ms for each MiB. */
  allocate(byteLength: number): bigint {
    const { PORTABLE } = CU_MEMHOSTALLOC;
    return take64(this.context, "cuMemHostAlloc", BigInt(byteLength), PORTABLE);
  }

  /** Frees now: the caller has made sure that no queued copy still needs the memory. */
  deallocate(address: bigint): void {
    this.context.giveBack("cuMemFreeHost", address);
  }

  /** Shows the resource and its upstreams on a console, with their counters. */
  [Symbol.for("Deno.customInspect")](): string {
    return describeResource(this);
  }
}
