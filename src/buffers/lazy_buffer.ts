// Device memory that is allocated on first use, for plans that name more buffers than they use.

import { nameOf } from "../accounting/ledger.ts";
import { MEMORY, type MemorySpan } from "../copies/copy.ts";
import { fileNameOf, type FilePath, PATH } from "../disk/file_path.ts";
import type { DType } from "../dtype.ts";
import { LazyAllocation } from "../memory/lazy_allocation.ts";
import { kindOf } from "../memory/resource_kind.ts";
import { requireNoCapture } from "../order/capture.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import { TRANSFER_OPTIONS } from "../transfer/transfer_choice.ts";
import { DisposedError } from "../words/errors.ts";
import { formatBytes } from "../words/format.ts";
import { NUMBER, OptionSet } from "../words/options.ts";
import { comesFrom, Parts } from "../words/parts.ts";
import { FileContents } from "./file_contents.ts";
import { ALLOCATE_LIKE, type BufferFields } from "./gpu_buffer.ts";
import { ALLOCATE_KINDS, type AllocateOptions, type BufferRequest } from "./place_options.ts";
import { RemoteBuffer } from "./remote_buffer.ts";
import type { BUFFER_KIND } from "./retyped.ts";
import { byteLengthOf, formatShape, requestedShape } from "./shape.ts";

/** Options for {@link CudaDevice.lazy}. */
export interface LazyOptions extends AllocateOptions {
  /** File that the elements are read from when they are first used; without one they are undefined. */
  readonly file?: FilePath | undefined;
  /** Offset of the first element in the file, in bytes; 0 by default. */
  readonly fileOffset?: number | undefined;
}

/** Checks the options above. */
export const LAZY_OPTIONS: OptionSet<LazyOptions> = new OptionSet({
  ...ALLOCATE_KINDS,
  file: PATH,
  fileOffset: NUMBER,
});

/**
 * Device memory that is allocated on first use: by the first copy, fill, transfer or kernel. Sizes,
 * views and printing do not allocate it; `ptr` and `span` throw before that, so that no field
 * blocks. Use it when a program plans more buffers than it may need. {@link CudaDevice.lazy} creates
 * one.
 *
 * With a file the first use reads the elements, and blocks until they are there;
 * {@link LazyBuffer.load} reads them before, without blocking. They get what the file holds at that moment.
 * A use that cannot read the file fails and allocates nothing; the next use tries again.
 */
export class LazyBuffer<D extends DType = DType> extends RemoteBuffer<D> {
  /** @ignore Its kind, for types. */
  declare readonly [BUFFER_KIND]: "lazy";
  readonly #allocation: LazyAllocation;
  readonly #contents: FileContents | undefined;

  /** @ignore Adopts a block. */
  constructor(
    parts: Parts<
      & BufferFields<D>
      & { readonly allocation: LazyAllocation; readonly contents: FileContents | undefined }
    >,
  ) {
    super(parts);
    this.#allocation = parts.value.allocation;
    this.#contents = parts.value.contents;
  }

  /** Path of the file that its elements come from, if any. */
  get file(): string | undefined {
    return this.#contents?.path;
  }

  /** Tells whether the memory was allocated; the same for a view and the whole block. */
  get isAllocated(): boolean {
    return this.#allocation.isAllocated;
  }

  /** Bytes of the whole block, also before it is allocated. */
  override get totalByteLength(): number {
    return this.#allocation.requestedBytes;
  }

  /**
   * The memory, for copies and kernels.
   *
   * @throws TypeError before the first use: to look at a field neither allocates nor reads.
   */
  override get span(): MemorySpan {
    if (this.isAllocated || this.disposed) return super.span;
    throw new TypeError(
      `Cannot tell the address of ${this}: it has no memory yet; call ensureAllocated(), or await ` +
        `load(), first`,
    );
  }

  /** @ignore Returns the memory for a use; allocates it before the first. */
  override [MEMORY](): MemorySpan {
    this.ensureAllocated();
    return super[MEMORY]();
  }

  /**
   * Allocates the memory now, unless that was done before. The elements keep whatever was there, or
   * are read from the file, which blocks.
   *
   * @throws OutOfMemoryError with all amounts when the device has too little memory; a later call
   *   tries again.
   * @throws RangeError when the file is too short.
   * @throws Deno.errors.NotFound when there is no file.
   * @throws TypeError for a file while a graph is being captured, and while an earlier call writes it.
   */
  ensureAllocated(): this {
    if (this.disposed) throw new DisposedError(this.toString());
    this.#allocation.ensure();
    return this;
  }

  /**
   * Allocates the memory and reads the file into it, unless that was done before; for the whole block,
   * also on a view. Does not block other work.
   *
   * @throws Error Those of {@link LazyBuffer.ensureAllocated}, and the signal's reason.
   */
  async load(options: TransferOptions = {}): Promise<this> {
    options = TRANSFER_OPTIONS.read(options, "load");
    const contents = this.#contents;
    if (contents === undefined || this.disposed) return this.ensureAllocated();
    requireNoCapture("load a file");
    await this.#allocation.fill((block, stream) =>
      contents.load({ block, stream, name: this }, options)
    );
    if (this.#allocation.released) throw new DisposedError(this.toString());
    return this;
  }

  /** Hands over the address, allocating the memory first; see {@link GpuBuffer.release}. */
  override release(): bigint {
    if (!this.isView) this.ensureAllocated();
    return super.release();
  }

  /** Returns the text that the console shows; allocates nothing. */
  [Symbol.for("Deno.customInspect")](): string {
    if (this.disposed) return `${this} disposed`;
    const missing = this.file === undefined ? "allocated" : "loaded";
    const state = this.isAllocated ? "" : `, not ${missing} yet`;
    return `${this} ${formatBytes(this.byteLength)} on device ${this.deviceOrdinal}${state}`;
  }

  /** @ignore Allocates a buffer of the same kind. */
  protected [ALLOCATE_LIKE](request: BufferRequest<D>): LazyBuffer<D> {
    return planLazyBuffer(request);
  }
}

comesFrom(LazyBuffer, "gpu.lazy()");

/**
 * Creates a buffer without allocating its memory, or looking at its file.
 *
 * @throws TypeError for a value that is not a path, and for an offset without a file.
 */
export function planLazyBuffer<D extends DType>(
  request: BufferRequest<D> & Pick<LazyOptions, "file" | "fileOffset">,
): LazyBuffer<D> {
  const { dtype, resource, stream, file, fileOffset } = request;
  if (file === undefined && fileOffset !== undefined) {
    throw new TypeError('Cannot plan a lazy buffer: option "fileOffset" needs a file');
  }
  const contents = file === undefined ? undefined : new FileContents(file, fileOffset);
  const { label = contents && fileNameOf(contents.path) } = request;
  const shape = requestedShape(request);
  const byteLength = byteLengthOf(dtype, shape);
  const kind = kindOf(resource);
  const block = { kind, byteLength, resource, stream, label };
  const allocation = new LazyAllocation(
    block,
    contents && ((memory, on) => {
      // The block must not refer to its buffer, which would then never be collected.
      const name = `LazyBuffer(${nameOf(memory)}, ${formatShape(dtype, shape)})`;
      contents.loadSync({ block: memory, stream: on, name });
    }),
  );
  return new LazyBuffer(new Parts({ allocation, contents, dtype, shape }));
}
