// A block whose memory is allocated at first use: its record exists before, and holds no bytes.

import { nameOf } from "../accounting/ledger.ts";
import { type CudaStream, defaultStreamOf } from "../order/stream.ts";
import { DisposedError } from "../words/errors.ts";
import { Allocation, type AllocationRequest, returnMemory, takeMemory } from "./allocation.ts";
import { capturedMemory } from "./captured_memory.ts";
import { takeAfterCollection } from "./out_of_memory.ts";

/** Fills new memory that nothing else can reach yet. */
export type Filling<R> = (block: Allocation, stream: CudaStream) => R;

/** A block of memory that may not be allocated yet. */
export class LazyAllocation extends Allocation {
  readonly #request: AllocationRequest;
  readonly #fill: Filling<void> | undefined;

  /**
   * Remembers what to allocate, and allocates nothing.
   *
   * @param fill Fills the memory before anybody sees it.
   * @ignore
   */
  constructor(request: AllocationRequest, fill?: Filling<void>) {
    super({ ...request, byteLength: 0 }, 0n);
    this.#request = request;
    this.#fill = fill;
  }

  get requestedBytes(): number {
    return this.#request.byteLength;
  }

  /** Tells whether its memory was allocated; a block of 0 bytes needs none. */
  get isAllocated(): boolean {
    return this.address !== 0n || this.requestedBytes === 0;
  }

  /**
   * Allocates the memory unless that was done; does nothing for a block that was released.
   *
   * @throws OutOfMemoryError with all amounts; a later call tries again.
   * @throws TypeError while a stream is being captured: launches would not repeat the call.
   */
  ensure(): void {
    if (this.isAllocated || this.released) return;
    if (capturedMemory() !== undefined) {
      throw new TypeError(
        `Cannot use ${nameOf(this)} during a capture: it takes its memory at its first use; call ` +
          `its ensureAllocated() before the capture`,
      );
    }
    const { byteLength } = this.#request;
    const stream = this.#stream;
    if (this.#fill !== undefined) {
      const block = this.#take(stream);
      try {
        this.#fill(block, stream);
      } catch (error) {
        block.release();
        throw error;
      }
      return this.#adopt(block);
    }
    const request = { ...this.#request, stream };
    const address = takeMemory(request);
    if (!this.#isWanted) return returnMemory(request, address);
    this.place({ address, byteLength }); // first, so that it is given back whatever fails next
    this.usage.order(stream, "write");
  }

  /** Allocates and fills the memory without blocking, unless it is there, or released meanwhile. */
  async fill(fill: Filling<Promise<void>>): Promise<void> {
    if (this.isAllocated || this.released) return;
    const stream = this.#stream;
    const block = await takeAfterCollection(this.context, () => this.#take(stream));
    try {
      await fill(block, stream);
    } catch (error) {
      block.release();
      throw error;
    }
    if (block.released) throw new DisposedError(nameOf(this));
    this.#adopt(block);
  }

  /** Tells whether it still lacks its memory: code of a program's resource may have used or disposed it. */
  get #isWanted(): boolean {
    return !this.isAllocated && !this.released;
  }

  get #stream(): CudaStream {
    const { stream } = this.#request;
    return stream.disposed ? defaultStreamOf(this.context) : stream;
  }

  #take(stream: CudaStream): Allocation {
    return Allocation.create({ ...this.#request, stream });
  }

  /** Takes over memory that was filled, unless it is no longer wanted. */
  #adopt(block: Allocation): void {
    if (!this.#isWanted) return block.release();
    const { byteLength } = block;
    this.place({ address: block.giveAway(), byteLength });
    this.usage.order(this.#stream, "write");
  }
}
