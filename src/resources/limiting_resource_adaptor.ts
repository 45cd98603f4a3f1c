// A budget: a request that would exceed it is rejected before the driver is called.

import { roundUp } from "../../ffi/alignment.ts";
import { requireBytes } from "../memory/base_memory_resource.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import { parseLimit } from "../memory/out_of_memory.ts";
import { PassingAdaptor } from "../memory/resource_adaptor.ts";
import type { CudaStream } from "../order/stream.ts";
import { MemoryLimitError } from "../words/errors.ts";
import type { ByteSize } from "../words/format.ts";
import { OptionSet, SIZE } from "../words/options.ts";

/** Every allocation takes at least this much, and a multiple of it. */
const ALIGNMENT_BYTES = 256;

/** Options for {@link LimitingResourceAdaptor}. */
export interface LimitingOptions {
  /** Most bytes in use at once: bytes, `"2 GiB"`, or `"40%"` of the device's memory. */
  readonly limitSize: ByteSize;
}

const LIMITING_OPTIONS = new OptionSet<LimitingOptions>({ limitSize: SIZE });

/** Refuses allocations that would take more than a limit from the upstream, in multiples of 256 bytes. */
export class LimitingResourceAdaptor extends PassingAdaptor {
  /** Most bytes in use at once. */
  readonly limitBytes: number;
  #usedBytes = 0;

  /**
   * Limits a resource.
   *
   * @throws RangeError when the limit is not a size, such as a bare `"64k"`, or is more than 100 %.
   * @throws TypeError when the limit is missing.
   */
  constructor(upstream: MemoryResource, options: LimitingOptions) {
    super(upstream);
    const { limitSize } = LIMITING_OPTIONS.read(options, "new LimitingResourceAdaptor");
    this.limitBytes = parseLimit(limitSize, this.context.totalBytes);
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
    requireBytes(byteLength);
    const accounted = roundUp(byteLength, ALIGNMENT_BYTES);
    if (this.#usedBytes + accounted > this.limitBytes) {
      const { limitBytes } = this;
      const amounts = { requestedBytes: byteLength, heldBytes: this.#usedBytes, limitBytes };
      throw new MemoryLimitError("LimitingResourceAdaptor", amounts);
    }
    const address = super.allocate(byteLength, stream);
    this.#usedBytes += accounted;
    return address;
  }

  /** Gives memory back, which makes room within the limit. */
  override deallocate(address: bigint, byteLength: number, stream: CudaStream): void {
    super.deallocate(address, byteLength, stream);
    this.#usedBytes -= roundUp(byteLength, ALIGNMENT_BYTES);
  }
}
