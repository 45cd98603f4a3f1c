// A block whose memory is taken at first use: the record exists before, and holds no bytes.

import { defaultStreamOf } from "../order/stream.ts";
import { Allocation, type AllocationRequest, takeMemory } from "./allocation.ts";

/** A block of memory that may not be there yet. */
export class LazyAllocation extends Allocation {
  readonly #request: AllocationRequest;

  /**
   * Notes what to allocate, and takes no memory.
   *
   * @ignore
   */
  constructor(request: AllocationRequest) {
    super({ ...request, byteLength: 0 }, 0n);
    this.#request = request;
  }

  /** The bytes that it holds once it is allocated. */
  get requestedBytes(): number {
    return this.#request.byteLength;
  }

  /** Whether its memory was taken; a block of 0 bytes needs none. */
  get isAllocated(): boolean {
    return this.address !== 0n || this.requestedBytes === 0;
  }

  /**
   * Takes the memory unless that was done; a block that was released takes none.
   *
   * @throws OutOfMemoryError with all amounts; a later call tries again.
   */
  ensure(): void {
    if (this.isAllocated || this.released) return;
    const { stream: wanted, byteLength } = this.#request;
    const stream = wanted.disposed ? defaultStreamOf(this.context) : wanted;
    const address = takeMemory({ ...this.#request, stream });
    this.place({ address, byteLength }); // first, so that it is given back whatever fails next
    this.usage.order(stream, "write");
  }
}
