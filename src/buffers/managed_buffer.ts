// Managed memory, which migrates between the host and the devices, and the hints that guide it.

import type { BitsOf, DType } from "../dtype.ts";
import { STREAM_CHOICE, type StreamChoice } from "../order/stream_choice.ts";
import { CudaUnavailableError } from "../words/errors.ts";
import { comesFrom, Parts } from "../words/parts.ts";
import { ALLOCATE_LIKE, streamFor } from "./gpu_buffer.ts";
import { HostBuffer, hostFields } from "./host_buffer.ts";
import {
  adviseRange,
  discardRange,
  type ManagedAdvice,
  type ManagedHint,
  type ManagedPlace,
  prefetchRange,
  readAdvice,
} from "./managed_range.ts";
import type { BufferRequest } from "./place_options.ts";
import type { BUFFER_KIND } from "./retyped.ts";

/**
 * Managed (unified) memory: `array` on the host and `ptr` on every device are the same bytes, and
 * pages migrate to where they are used. Use it for data larger than the device's memory, or used by
 * host and device in turn. Hints, prefetches and discards of a view affect only its pages:
 * `u.subarray(0, 1000).prefetch(gpu)`. {@link CudaDevice.managed} creates one.
 */
export class ManagedBuffer<D extends DType = DType> extends HostBuffer<D> {
  /** @ignore Its kind, for types. */
  declare readonly [BUFFER_KIND]: "host managed";
  /**
   * The elements as a typed array over the memory itself; see {@link HostBuffer.array}.
   *
   * @throws CudaUnavailableError on systems where the host must not touch managed memory while the
   *   GPU works: a single read could end the process there. `download()` and `upload()` work
   *   everywhere.
   */
  override get array(): BitsOf<D> {
    const array = super.array;
    if (this.isHostAccessible) return array;
    throw new CudaUnavailableError(
      "not-supported",
      `Cannot show ${this} to the host: device ${this.deviceOrdinal} does not let the host touch ` +
        `managed memory while the GPU works; use download() and upload(), or a mapped buffer`,
    );
  }

  /** Queues moving the pages to a device or the host before they are used (cuMemPrefetchAsync). */
  prefetch(place: ManagedPlace, options: StreamChoice = {}): this {
    options = STREAM_CHOICE.read(options, "prefetch");
    prefetchRange(this.span, place, streamFor(this, options));
    return this;
  }

  /**
   * Sets a hint, which holds until {@link ManagedBuffer.unadvise}: `"readMostly"` (several places
   * may keep copies of the pages), or `"preferredLocation"` or `"accessedBy"` with a place
   * (cuMemAdvise).
   */
  advise(hint: ManagedHint, place?: ManagedPlace): this {
    adviseRange(this.span, hint, { place, isSet: true });
    return this;
  }

  /** Removes a hint; `"accessedBy"` needs the place that it was set for (cuMemAdvise). */
  unadvise(hint: ManagedHint, place?: ManagedPlace): this {
    adviseRange(this.span, hint, { place, isSet: false });
    return this;
  }

  /** The hints that hold for all of its pages, and the place of the last prefetch. */
  get advice(): ManagedAdvice {
    return readAdvice(this.span);
  }

  /**
   * Queues discarding the contents, and moves the pages to the stream's device without copying them
   * (cuMemDiscardAndPrefetchBatchAsync). Write the elements before reading them again.
   *
   * @throws CudaUnavailableError when the driver is older than CUDA 13.0.
   */
  discard(options: StreamChoice = {}): this {
    options = STREAM_CHOICE.read(options, "discard");
    discardRange(this.span, streamFor(this, options));
    return this;
  }

  /** @ignore Allocates a buffer of the same kind. */
  protected [ALLOCATE_LIKE](request: BufferRequest<D>): ManagedBuffer<D> {
    return allocateManagedBuffer(request);
  }
}

comesFrom(ManagedBuffer, "gpu.managed()");

/** Allocates managed memory. The elements keep whatever was there before. */
export function allocateManagedBuffer<D extends DType>(
  request: BufferRequest<D>,
): ManagedBuffer<D> {
  return new ManagedBuffer(new Parts(hostFields(request, "managed")));
}
