// Device memory with a page-locked mirror: write to the mirror, push, let the GPU work, pull, read.

import { queueCopy } from "../copies/copy.ts";
import type { BitsOf, DType, HostValue, ScalarOf } from "../dtype.ts";
import { Allocation } from "../memory/allocation.ts";
import { requireHostMemory, showToHost } from "../memory/host_bytes.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import { kindOf } from "../memory/resource_kind.ts";
import { STREAM, type StreamChoice } from "../order/stream_choice.ts";
import type { TransferChoice } from "../transfer/transfer_choice.ts";
import { DisposedError } from "../words/errors.ts";
import { NUMBER, OptionSet } from "../words/options.ts";
import { comesFrom, Parts } from "../words/parts.ts";
import type { BufferRequest } from "./buffer_request.ts";
import {
  ALLOCATE_LIKE,
  type AsTypeOptions,
  type BufferFields,
  GpuBuffer,
  ownerOf,
  streamFor,
  type Uploadable,
} from "./gpu_buffer.ts";
import type { HostValues } from "./host_values.ts";
import { PinnedBuffer } from "./pinned_buffer.ts";
import { QueuedWork } from "./queued_work.ts";
import { setElements } from "./set_elements.ts";
import { byteLengthOf, requestedShape } from "./shape.ts";

/** The parts of a staged buffer. */
export interface StagedBufferFields<D extends DType> extends BufferFields<D> {
  readonly mirrorAllocation: Allocation;
  /** The page-locked half as the CPU sees it. */
  readonly mirrorBytes: Uint8Array<ArrayBufferLike>;
}

/** The stream and elements of {@link StagedBuffer.push} and {@link StagedBuffer.pull}. */
export interface StagedRange extends StreamChoice {
  /** The first element; negative counts from the end. */
  readonly start?: number | undefined;
  /** The element after the last; negative counts from the end. */
  readonly end?: number | undefined;
}

const STAGED_RANGE = new OptionSet<StagedRange>({ stream: STREAM, start: NUMBER, end: NUMBER });

/**
 * Device memory with a page-locked mirror of the same size on the host. Use it for data that both
 * sides change: `push()` copies the mirror to the device, `pull()` copies it back. All other calls,
 * such as copies, fills, uploads and downloads, use only the device's half.
 * {@link CudaDevice.staged} creates one.
 */
export class StagedBuffer<D extends DType = DType> extends GpuBuffer<D> {
  /** The mirror as a buffer, for further copies; disposing it frees nothing. */
  readonly mirror: PinnedBuffer<D>;
  readonly #mirrorAllocation: Allocation;

  /** @ignore Adopts both halves. */
  constructor(parts: Parts<StagedBufferFields<D>>) {
    super(parts);
    const { mirrorAllocation: allocation, mirrorBytes: bytes, ...fields } = parts.value;
    // A typed array over the mirror keeps the device's half alive too.
    const owner = ownerOf(this);
    this.mirror = new PinnedBuffer(new Parts({ ...fields, owner, allocation, bytes }));
    this.#mirrorAllocation = allocation;
  }

  /**
   * The mirror's elements as a typed array (bfloat16: its bits). Wait for a push or a pull before
   * reading or writing them. Its length becomes 0 when the buffer is disposed.
   */
  get contents(): BitsOf<D> {
    if (this.disposed) throw new DisposedError(this.toString());
    return this.mirror.array;
  }

  /** Queues copying the mirror, or a range of it, to the device; `await` it to wait as well. */
  push(options: StagedRange = {}): QueuedWork {
    options = STAGED_RANGE.read(options, "push");
    const part = this.#part(options);
    const stream = streamFor(this, options);
    queueCopy(part.span, part.mirror.span, stream);
    return new QueuedWork(stream);
  }

  /** Queues copying the device's elements, or a range, to the mirror; `await` it before reading. */
  pull(options: StagedRange = {}): QueuedWork {
    options = STAGED_RANGE.read(options, "pull");
    const part = this.#part(options);
    const { span } = part;
    const stream = streamFor(this, options);
    queueCopy(part.mirror.span, span, stream);
    return new QueuedWork(stream);
  }

  /** Shows the same bytes as another element type, in both halves; see {@link GpuBuffer.as}. */
  override as<E extends DType>(dtype: E): StagedBuffer<E> {
    return super.as(dtype) as StagedBuffer<E>;
  }

  /** Queues converting the elements, into a buffer of the same kind; see {@link GpuBuffer.astype}. */
  override astype<E extends DType, B = undefined>(
    dtype: E,
    options?: AsTypeOptions<NoInfer<E>, B>,
  ): B extends object ? B : StagedBuffer<E> {
    return super.astype(dtype, options) as B extends object ? B : StagedBuffer<E>;
  }

  /**
   * Copies host values into the elements from `offset` on, by TypedArray.set's rules: a typed array of
   * the element type, or plain numbers. Resolves when they are there.
   *
   * @throws RangeError when they do not fit in, also a number that the element type does not hold.
   * @throws TypeError for an array of another type.
   */
  async set(
    source: Uploadable<D> | HostValues<ScalarOf<D> | HostValue<D>>,
    offset: number = 0,
    options: TransferChoice = {},
  ): Promise<this> {
    await setElements(this, { source, offset }, options);
    return this;
  }

  /** @ignore Allocates a buffer of the same kind. */
  protected [ALLOCATE_LIKE](request: BufferRequest<D>): StagedBuffer<D> {
    const { resource: pinnedResource } = this.#mirrorAllocation;
    return allocateStagedBuffer({ ...request, pinnedResource });
  }

  #part({ start, end }: StagedRange): StagedBuffer<D> {
    return start === undefined && end === undefined ? this : this.subarray(start, end);
  }
}

comesFrom(StagedBuffer, "gpu.staged()");

/** Allocates both halves, or neither. The elements keep whatever was there before. */
export function allocateStagedBuffer<D extends DType>(
  request: BufferRequest<D> & { readonly pinnedResource: MemoryResource },
): StagedBuffer<D> {
  const { dtype, resource, pinnedResource, stream, label } = request;
  const shape = requestedShape(request);
  requireHostMemory(pinnedResource, "allocate page-locked memory");
  const block = { byteLength: byteLengthOf(dtype, shape), stream, label };
  const allocation = Allocation.create({ ...block, kind: kindOf(resource), resource });
  try {
    const mirrorAllocation = Allocation.create({
      ...block,
      kind: "pinned",
      resource: pinnedResource,
    });
    const mirrorBytes = showToHost(mirrorAllocation);
    allocation.releaseWith(mirrorAllocation);
    return new StagedBuffer(new Parts({ allocation, dtype, shape, mirrorAllocation, mirrorBytes }));
  } catch (error) {
    allocation.release();
    throw error;
  }
}
