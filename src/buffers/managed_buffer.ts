// Memory that migrates between the host and the devices, and the hints that say where it should be.

import { ALLOCATE_LIKE, streamFor } from "./gpu_buffer.ts";
import type { BitsOf, DType } from "../dtype.ts";
import { CudaUnavailableError } from "../errors.ts";
import { Allocation } from "../memory/allocation.ts";
import { showToHost } from "../memory/host_bytes.ts";
import {
  adviseRange,
  discardRange,
  type ManagedAdvice,
  type ManagedHint,
  type ManagedPlace,
  prefetchRange,
  readAdvice,
} from "./managed_range.ts";
import type { DeviceBufferRequest } from "./device_buffer.ts";
import { STREAM_CHOICE, type StreamChoice } from "../stream_choice.ts";
import { HostBuffer } from "./host_buffer.ts";
import { byteLengthOf, toShape } from "./shape.ts";

/**
 * Managed (unified) memory: `array` on the host and `ptr` on every device are the same bytes. What a
 * hint, a prefetch or a discard is given, views narrow down: `u.subarray(0, 1000).prefetch(gpu)`.
 */
export class ManagedBuffer<D extends DType = DType> extends HostBuffer<D> {
  /** Allocates managed memory; the elements are whatever was there before. */
  static allocate<D extends DType>(request: DeviceBufferRequest<D>): ManagedBuffer<D> {
    const { dtype, resource, stream, label } = request;
    const shape = toShape(request.shape);
    const byteLength = byteLengthOf(dtype, shape);
    const allocation = Allocation.create({ kind: "managed", byteLength, resource, stream, label });
    const bytes = showToHost(allocation);
    const token = { allocation };
    allocation.guard(token);
    const fields = { allocation, token, dtype, shape, byteOffset: 0, isView: false };
    return new ManagedBuffer({ ...fields, bytes });
  }

  /**
   * The elements as a typed array over the memory itself; see {@link HostBuffer.array}.
   *
   * @throws CudaUnavailableError where the host must not touch managed memory while the GPU works:
   * there a single read could end the process. `download()` and `upload()` work everywhere.
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

  /** Queues moving the pages to a device or to the host, before they are used there. */
  prefetch(place: ManagedPlace, options: StreamChoice = {}): this {
    STREAM_CHOICE.read(options, "prefetch");
    prefetchRange(this.span, place, streamFor(this, options));
    return this;
  }

  /**
   * Gives a hint that holds until it is taken back: `"readMostly"` (copies of the pages may be kept in
   * several places), `"preferredLocation"` or `"accessedBy"` with the place (cuMemAdvise).
   */
  advise(hint: ManagedHint, place?: ManagedPlace): this {
    adviseRange(this.span, hint, { place, isSet: true });
    return this;
  }

  /** Takes a hint back; `"accessedBy"` for one place (cuMemAdvise). */
  unadvise(hint: ManagedHint, place?: ManagedPlace): this {
    adviseRange(this.span, hint, { place, isSet: false });
    return this;
  }

  /** The hints that hold for all of its pages, and where they were sent last. */
  get advice(): ManagedAdvice {
    return readAdvice(this.span);
  }

  /**
   * Queues giving up the contents: pages that are elsewhere come to the stream's device without being
   * copied (cuMemDiscardBatchAsync, cuMemPrefetchAsync). Write them before they are read again.
   *
   * @throws CudaUnavailableError when the driver is older than CUDA 13.0.
   */
  discard(options: StreamChoice = {}): this {
    STREAM_CHOICE.read(options, "discard");
    discardRange(this.span, streamFor(this, options));
    return this;
  }

  /** Shows the same bytes as another element type; see {@link HostBuffer.as}. */
  override as<E extends DType>(dtype: E): ManagedBuffer<E> {
    return super.as(dtype) as ManagedBuffer<E>;
  }

  /**
   * Allocates a buffer of the same kind.
   *
   * @internal
   */
  protected [ALLOCATE_LIKE](request: DeviceBufferRequest<D>): ManagedBuffer<D> {
    return ManagedBuffer.allocate(request);
  }
}
