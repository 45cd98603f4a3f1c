// A budget: a request that would pass it is rejected before the driver is asked.

import type { ByteSize } from "../format.ts";
import type { CudaStream } from "../stream.ts";
import { MemoryLimitError, parseLimit } from "./byte_limit.ts";
import { allocateFrom, type MemoryResource } from "./memory_resource.ts";
import { ResourceAdaptor } from "./resource_adaptor.ts";

/** Every allocation takes at least this much, and a multiple of it. */
const ALIGNMENT_BYTES = 256;

/** Rejects requests that pass a limit; sizes count in multiples of 256. */
export class LimitingResourceAdaptor extends ResourceAdaptor {
  /** Most bytes in use at once. */
  readonly limitBytes: number;
  #usedBytes = 0;

  /**
   * Limits a resource to a number of bytes, to `"2 GiB"`, or to `"40%"` of the device's memory.
   *
   * @throws RangeError for a text that is not a size, such as a bare `"64k"`, and above 100 %.
   */
  constructor(upstream: MemoryResource, limit: ByteSize) {
    super(upstream);
    this.limitBytes = parseLimit(limit, this.context.totalBytes);
  }

  /** Bytes in use. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /**
   * Allocates within the limit.
   *
   * @throws MemoryLimitError when the limit does not allow it.
   */
  override allocate(byteLength: number, stream: CudaStream): bigint {
    const accounted = roundUp(byteLength);
    if (this.#usedBytes + accounted > this.limitBytes) {
      const { limitBytes } = this;
      const amounts = { requestedBytes: byteLength, heldBytes: this.#usedBytes, limitBytes };
      throw new MemoryLimitError("LimitingResourceAdaptor", amounts);
    }
    const address = allocateFrom(this.upstream, byteLength, stream);
    this.#usedBytes += accounted;
    return address;
  }

  /** Gives memory back, and room within the limit with it. */
  override deallocate(address: bigint, byteLength: number, stream: CudaStream): void {
    this.upstream.deallocate(address, byteLength, stream);
    this.#usedBytes -= roundUp(byteLength);
  }
}

function roundUp(byteLength: number): number {
  return Math.ceil(byteLength / ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
}
