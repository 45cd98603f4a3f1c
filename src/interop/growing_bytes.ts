// Device memory for a stream of unknown length: doubled by copies on the device as bytes arrive.

import type { DeviceAllocator, DeviceBuffer } from "../buffers/device_buffer.ts";
import type { AllocateOptions } from "../buffers/place_options.ts";
import type { MemorySpan } from "../copies/copy.ts";
import type { CudaStream } from "../order/stream.ts";
import type { StreamTarget } from "../transfer/staged_writer.ts";

/** Size of the first block: a server has hundreds of short streams at a time. */
const FIRST_BYTES = 64 * 2 ** 10;

/** Up to this size a new block is four times as large, to move seldom, and beyond it twice. */
const FAST_BYTES = 4 * 2 ** 20;

/** Bytes on the device that grow with a stream. */
export class GrowingBytes implements StreamTarget, Disposable {
  readonly stream: CudaStream;
  readonly expectedBytes = undefined;
  readonly #gpu: DeviceAllocator;
  readonly #options: AllocateOptions;
  #buffer: DeviceBuffer<"uint8"> | undefined;
  #byteLength = 0;

  /** Starts empty; memory is allocated with the first byte. */
  constructor(gpu: DeviceAllocator, options: AllocateOptions & { readonly stream: CudaStream }) {
    this.#gpu = gpu;
    this.#options = options;
    this.stream = options.stream;
  }

  /** A view of the bytes so far; the next change makes it stale. */
  get contents(): DeviceBuffer<"uint8"> | undefined {
    return this.#buffer?.subarray(0, this.#byteLength);
  }

  /** Number of bytes in all, once the stream has ended. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /** Makes room for `endBytes` bytes, and moves the first `queuedBytes`, which are there. */
  spanFor(endBytes: number, queuedBytes: number): MemorySpan {
    const former = this.#buffer;
    if (former !== undefined && endBytes <= former.byteLength) return former.span;
    const formerBytes = former?.byteLength ?? 0;
    const growth = formerBytes < FAST_BYTES ? 4 : 2;
    const byteLength = Math.max(endBytes, FIRST_BYTES, growth * formerBytes);
    const grown = this.#gpu.alloc("uint8", byteLength, this.#options);
    this.#buffer = grown; // first, so that it is given back whatever fails next
    using _former = former;
    former?.subarray(0, queuedBytes).copyTo(grown.subarray(0, queuedBytes), {
      stream: this.stream,
    });
    return grown.span;
  }

  /** Notes the final length. */
  finish(byteLength: number): void {
    this.#byteLength = byteLength;
  }

  abandon(): void {
    this.#buffer?.dispose();
  }

  /** Same as {@link GrowingBytes.abandon}, for `using`. */
  [Symbol.dispose](): void {
    this.abandon();
  }

  /** Returns the name of the buffer for messages. */
  toString(): string {
    return "device memory that grows";
  }
}
