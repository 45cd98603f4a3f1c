// A resource that hands out addresses and no memory, keeps books, and fails when it is told to:
// the upstream that adaptors are checked against, with millions of steps or with faults.

import { CUresult } from "../../ffi/constants.ts";
import type { Context } from "../../src/driver/context.ts";
import type { ContextOwner, MemoryResource } from "../../src/memory/memory_resource.ts";
import { CudaError } from "../../src/words/errors.ts";

/** Addresses only; nothing must be queued on them. */
export class LedgerResource implements MemoryResource {
  readonly context: Context;
  readonly isDeviceAccessible = true;
  readonly isHostAccessible = false;
  /** The sizes of the blocks that are out, by address. */
  readonly live = new Map<bigint, number>();
  /** The most bytes that may be out; as if the device were that large. */
  capacityBytes = Infinity;
  /** Thrown by the next calls of a kind while it is set. */
  readonly fault: { allocate?: Error | undefined; deallocate?: Error | undefined } = {};
  /** The number of allocations it gave. */
  allocationCount = 0;
  /** The number of bytes that are out. */
  liveBytes = 0;
  #next = 2n ** 44n;

  /** Belongs to a device's context, and never calls it. */
  constructor(owner: ContextOwner) {
    this.context = owner.context;
  }

  allocate(byteLength: number): bigint {
    if (this.fault.allocate !== undefined) throw this.fault.allocate;
    if (this.liveBytes + byteLength > this.capacityBytes) throw shortage();
    const address = this.#next;
    this.#next += BigInt(Math.ceil(byteLength / 256) * 256);
    this.live.set(address, byteLength);
    this.liveBytes += byteLength;
    this.allocationCount++;
    return address;
  }

  deallocate(address: bigint, byteLength: number): void {
    if (this.fault.deallocate !== undefined) throw this.fault.deallocate;
    if (this.live.get(address) !== byteLength) {
      throw new TypeError(`Cannot free ${byteLength} bytes at ${address}: not given like this`);
    }
    this.live.delete(address);
    this.liveBytes -= byteLength;
  }
}

/** Makes the error of a driver that has no memory. */
export function shortage(): CudaError {
  const code = CUresult.CUDA_ERROR_OUT_OF_MEMORY;
  return new CudaError("Cannot allocate: as the test wants it", { code, call: "cuMemAlloc_v2" });
}
