// Page-locked memory that packed arrays pass through, from the pool that every context keeps.

import { Fence } from "../fence.ts";
import { ContextPinnedPool } from "../memory/context_pinned_pool.ts";
import type { CudaStream } from "../stream.ts";
import type { MemorySpan } from "../transfer/copy.ts";
import { queueCopyBatch, queueIndependentCopies } from "../transfer/copy_batch.ts";
import type { SlabLoad } from "../transfer/pack.ts";
import { nextTurn } from "../waiting.ts";
import { PinnedBuffer } from "./pinned_buffer.ts";

/** Small enough to stay in a core's cache between being filled and being read by the GPU. */
export const SLAB_BYTES = 2 * 2 ** 20;

/** One slab, in use by one transfer at a time. */
export class StagingSlab implements Disposable {
  readonly #buffer: PinnedBuffer<"uint8">;
  readonly #stream: CudaStream;
  readonly #fence: Fence;

  /** Takes a slab for copies on `stream`. */
  constructor(stream: CudaStream) {
    const resource = ContextPinnedPool.of(stream.context);
    this.#stream = stream;
    this.#buffer = PinnedBuffer.allocate({ dtype: "uint8", shape: SLAB_BYTES, resource, stream });
    this.#fence = new Fence(stream.context);
  }

  /** Resolves when the GPU is done with what was queued last; the event loop has a turn meanwhile. */
  async whenDone(): Promise<void> {
    await nextTurn();
    if (!this.#fence.poll()) await this.#stream.synchronize();
  }

  /** Copies the arrays of a load in and queues the copies to the device. */
  send(load: SlabLoad): void {
    const { array } = this.#buffer;
    for (const { bytes, slabOffset } of load.pieces) array.set(bytes, slabOffset);
    const copies = this.#pairs(load).map(([device, slab]) => ({
      destination: device,
      source: slab,
    }));
    queueCopyBatch(copies, this.#stream); // buffers of the caller's may overlap: the last one wins
    this.#fence.set(this.#stream.handle);
  }

  /** Queues the copies of a load from the device. */
  fetch(load: SlabLoad): void {
    const copies = this.#pairs(load).map(([device, slab]) => ({
      destination: slab,
      source: device,
    }));
    queueIndependentCopies(copies, this.#stream);
    this.#fence.set(this.#stream.handle);
  }

  /** Copies what was fetched into the arrays of the load. */
  unpack(load: SlabLoad): void {
    const { array } = this.#buffer;
    for (const { bytes, slabOffset } of load.pieces) {
      bytes.set(array.subarray(slabOffset, slabOffset + bytes.byteLength));
    }
  }

  /** Gives the slab back; it is used again once its copies are done. */
  [Symbol.dispose](): void {
    this.#buffer.dispose();
    this.#fence.dispose();
  }

  /** Both sides of each copy of a load: the device's, and its place in the slab. */
  #pairs({ runs }: SlabLoad): (readonly [device: MemorySpan, slab: MemorySpan])[] {
    const { allocation, address } = this.#buffer.span;
    return runs.map(({ span, slabOffset }) => {
      const { byteLength } = span;
      return [span, { allocation, address: address + BigInt(slabOffset), byteLength }];
    });
  }
}
