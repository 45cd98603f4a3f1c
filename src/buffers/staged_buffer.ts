// Device memory with a page-locked mirror: write to the mirror, push, let the GPU work, pull, read.

import { queueCopy } from "../copies/copy.ts";
import type { BitsOf, DType } from "../dtype.ts";
import { Allocation } from "../memory/allocation.ts";
import { requireHostMemory, showToHost } from "../memory/host_bytes.ts";
import { type MemoryResource, RESOURCE } from "../memory/memory_resource.ts";
import { kindOf } from "../memory/resource_kind.ts";
import type { CudaStream } from "../order/stream.ts";
import { STREAM, type StreamChoice } from "../order/stream_choice.ts";
import { DisposedError } from "../words/errors.ts";
import { NUMBER, OptionSet } from "../words/options.ts";
import { comesFrom, Parts } from "../words/parts.ts";
import { ALLOCATE_LIKE, type BufferFields, ownerOf, streamFor } from "./gpu_buffer.ts";
import { PinnedBuffer } from "./pinned_buffer.ts";
import { ALLOCATE_KINDS, type AllocateOptions, type BufferRequest } from "./place_options.ts";
import { RemoteBuffer } from "./remote_buffer.ts";
import type { BUFFER_KIND } from "./retyped.ts";
import { byteLengthOf, requestedShape } from "./shape.ts";

/** Options for allocating a staged buffer. */
export interface StagedOptions extends AllocateOptions {
  /** Resource that allocates the page-locked half; the device's default one when left out. */
  readonly pinnedResource?: MemoryResource | undefined;
}

/** The options, by name and kind. */
export const STAGED_OPTIONS: OptionSet<StagedOptions> = new OptionSet({
  ...ALLOCATE_KINDS,
  pinnedResource: RESOURCE,
});

/**
 * Work queued on a stream, as {@link StagedBuffer.push} returns it. It runs whether or not it is
 * awaited; `await` waits until it is done.
 */
export class QueuedWork implements PromiseLike<void> {
  readonly #stream: CudaStream;

  /** @ignore Creates an object for the work that `stream` has queued so far. */
  constructor(stream: CudaStream) {
    this.#stream = stream;
  }

  /** Waits until the work is done, for `await`; rejects with the work's error. */
  then<A = void, B = never>(
    onDone?: (() => A | PromiseLike<A>) | null,
    onFailed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#stream.synchronize().then(onDone, onFailed);
  }

  /** Blocks until the work is done. */
  synchronizeSync(): void {
    this.#stream.synchronizeSync();
  }
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
export class StagedBuffer<D extends DType = DType> extends RemoteBuffer<D> {
  /** @ignore Its kind, for types. */
  declare readonly [BUFFER_KIND]: "staged";
  /** The mirror as a buffer, for further copies; disposing it frees nothing. */
  readonly mirror: PinnedBuffer<D>;
  readonly #mirrorAllocation: Allocation;

  /** @ignore Adopts both halves; `mirrorBytes` are the page-locked one as the CPU sees it. */
  constructor(
    parts: Parts<
      & BufferFields<D>
      & { readonly mirrorAllocation: Allocation; readonly mirrorBytes: Uint8Array<ArrayBufferLike> }
    >,
  ) {
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
    return this.#queue(options, ({ span, mirror }, stream) => queueCopy(span, mirror.span, stream));
  }

  /** Queues copying the device's elements, or a range, to the mirror; `await` it before reading. */
  pull(options: StagedRange = {}): QueuedWork {
    options = STAGED_RANGE.read(options, "pull");
    return this.#queue(options, ({ span, mirror }, stream) => queueCopy(mirror.span, span, stream));
  }

  /** @ignore Allocates a buffer of the same kind. */
  protected [ALLOCATE_LIKE](request: BufferRequest<D>): StagedBuffer<D> {
    const { resource: pinnedResource } = this.#mirrorAllocation;
    return allocateStagedBuffer({ ...request, pinnedResource });
  }

  #queue(
    options: StagedRange,
    copy: (part: StagedBuffer<D>, stream: CudaStream) => void,
  ): QueuedWork {
    const { start, end } = options;
    const stream = streamFor(this, options);
    copy(start === undefined && end === undefined ? this : this.subarray(start, end), stream);
    return new QueuedWork(stream);
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
