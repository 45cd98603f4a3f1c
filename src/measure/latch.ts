// Holds a stream until the host releases it, so that queueing is over before the first timed copy
// runs.

import { CUstreamWaitValue_flags } from "../../ffi/constants.ts";
import { allocatePinnedBuffer, type PinnedBuffer } from "../buffers/pinned_buffer.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";

/** A word of page-locked memory that a stream waits for (cuStreamWaitValue32). */
export class Latch {
  readonly #word: PinnedBuffer<"uint32"> | undefined;

  /** Uses a pinned buffer of one element, which the caller disposes; without one it holds nothing. */
  constructor(word: PinnedBuffer<"uint32"> | undefined) {
    this.#word = word;
  }

  /** Makes a latch with a word of its own, where the device can wait for one. */
  static onStream(
    resource: MemoryResource,
    { stream, resources }: { readonly stream: CudaStream; readonly resources: DisposableStack },
  ): Latch {
    const { context } = stream;
    const canWait = context.driver.has("cuStreamWaitValue32_v2") &&
      context.attribute("CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS") === 1;
    if (!canWait) return new Latch(undefined);
    const word = { dtype: "uint32", shape: 1, stream, resource } as const;
    return new Latch(resources.use(allocatePinnedBuffer(word)));
  }

  /**
   * Queues work behind the latch, then releases the stream, even when queueing throws: no stream
   * may be left waiting for a word that is never written.
   */
  hold(stream: CudaStream, queue: () => void): void {
    if (this.#word === undefined) return queue();
    const word = this.#word.array;
    word[0] = 0;
    stream.context.driver.call(
      "cuStreamWaitValue32_v2",
      queueOf(stream).handle,
      this.#word.ptr,
      1,
      CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_EQ,
    );
    try {
      queue();
    } finally {
      Atomics.store(word, 0, 1);
    }
  }
}
