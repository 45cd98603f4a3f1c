// Buffers that were uploaded together: views of one block, freed together.

import type { DType, DTypeOf, HostArray } from "../dtype.ts";
import { DisposedError } from "../words/errors.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import { Owned } from "../words/owned.ts";
import { comesFrom, type Parts, partsOf } from "../words/parts.ts";
import { refuseCloning } from "../words/uncloneable.ts";
import { refuseIndicesOf } from "./array_habits.ts";
import type { DeviceBuffer } from "./device_buffer.ts";

/** The buffers of a list of arrays, one for each array, of its element type. */
export type BuffersOf<A extends readonly HostArray[]> = {
  readonly [I in keyof A]: DeviceBuffer<DTypeOf<A[I]>>;
};

/**
 * Buffers in one block of device memory, as {@link CudaDevice.uploadAll} returns them. Each buffer
 * is a view of the block; disposing this object frees them all.
 */
export class PackedBuffers<B extends readonly DeviceBuffer<DType>[] = readonly DeviceBuffer[]>
  extends Owned {
  readonly #block: DeviceBuffer<"uint8">;
  readonly #buffers: B;

  static {
    refuseIndicesOf(PackedBuffers.prototype, "buffers");
  }

  /** @ignore Adopts a block and the views of it. */
  constructor(parts: Parts<{ readonly block: DeviceBuffer<"uint8">; readonly buffers: B }>) {
    super();
    const { block, buffers } = partsOf(parts, new.target);
    refuseCloning(this);
    this.#block = block;
    this.#buffers = buffers;
  }

  /** The buffers, in the order of the arrays. Each starts at a multiple of 256 bytes. */
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

  /** Tells whether it was disposed. */
  get disposed(): boolean {
    return this.#block.disposed;
  }

  /** Iterates over the buffers, in the order of the arrays. */
  [Symbol.iterator](): ArrayIterator<B[number]> {
    return this.buffers[Symbol.iterator]();
  }

  /** Frees the block and disposes every buffer in it. A second call does nothing. */
  dispose(): void {
    this.#block.dispose();
  }

  /** Returns its name for messages: `PackedBuffers(1000 buffers, 15.6 MiB)`. */
  override toString(): string {
    return `PackedBuffers(${formatCount(this.length, "buffer")}, ${formatBytes(this.byteLength)})`;
  }
}

comesFrom(PackedBuffers, "gpu.uploadAll()");
