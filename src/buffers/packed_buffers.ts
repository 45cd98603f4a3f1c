// Buffers that were uploaded together: views of one block, given back together.

import type { DType, DTypeOf, HostArray } from "../dtype.ts";
import { DisposedError } from "../errors.ts";
import { formatBytes, formatCount } from "../format.ts";
import type { DeviceBuffer } from "./device_buffer.ts";

/** The buffers that arrays become, one for each, with its element type. */
export type BuffersOf<A extends readonly HostArray[]> = {
  readonly [I in keyof A]: DeviceBuffer<DTypeOf<A[I]>>;
};

/** Buffers in one block of device memory. Each is a view; disposing this frees them all. */
export class PackedBuffers<B extends readonly DeviceBuffer<DType>[] = readonly DeviceBuffer[]>
  implements Disposable, AsyncDisposable {
  readonly #block: DeviceBuffer<"uint8">;
  readonly #buffers: B;

  /** Adopts a block and the views of it. */
  constructor(block: DeviceBuffer<"uint8">, buffers: B) {
    this.#block = block;
    this.#buffers = buffers;
  }

  /** The buffers, in the order of the arrays; each starts at a multiple of 256 bytes. */
  get buffers(): B {
    if (this.disposed) throw new DisposedError(this.toString());
    return this.#buffers;
  }

  /** Number of buffers. */
  get length(): number {
    return this.#buffers.length;
  }

  /** Bytes of the block, with the padding between the buffers. */
  get byteLength(): number {
    return this.#block.byteLength;
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#block.disposed;
  }

  /** Walks the buffers, in the order of the arrays. */
  [Symbol.iterator](): ArrayIterator<B[number]> {
    return this.buffers[Symbol.iterator]();
  }

  /** Gives the block back; every buffer of it is disposed with it. */
  dispose(): void {
    this.#block.dispose();
  }

  /** Same as {@link PackedBuffers.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Same as {@link PackedBuffers.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
    return Promise.resolve();
  }

  /** Describes it: `PackedBuffers(1000 buffers, 15.6 MiB)`. */
  toString(): string {
    return `PackedBuffers(${formatCount(this.length, "buffer")}, ${formatBytes(this.byteLength)})`;
  }

  /** Shows it on a console. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this}${this.disposed ? " disposed" : ""}`;
  }
}
