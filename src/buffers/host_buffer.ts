// Buffers in memory that the CPU reaches too: a typed array over the memory itself, without a copy.

import { type BitsOf, type DType, viewBits } from "../dtype.ts";
import { DisposedError } from "../errors.ts";
import type { BufferFields } from "./gpu_buffer.ts";
import { TransferableBuffer } from "./transferable_buffer.ts";

/** What a buffer that the CPU reaches is made of. */
export interface HostBufferFields<D extends DType> extends BufferFields<D> {
  /** The whole block as bytes of the host. */
  readonly memory: ArrayBufferLike;
}

/** Typed memory that both the CPU and the GPU reach. */
export abstract class HostBuffer<D extends DType = DType> extends TransferableBuffer<D> {
  /** The whole block as bytes of the host. */
  protected readonly memory: ArrayBufferLike;
  #array: BitsOf<D> | undefined;

  /** Adopts memory. */
  constructor(fields: HostBufferFields<D>) {
    super(fields);
    this.memory = fields.memory;
  }

  /**
   * The elements as a typed array over the memory itself (bfloat16: its bits). Wait for queued copies
   * before reading or writing it. When the buffer is disposed its length becomes 0.
   */
  get array(): BitsOf<D> {
    if (this.disposed) throw new DisposedError(this.toString());
    const { dtype, byteOffset, length } = this;
    return this.#array ??= viewBits(dtype, { buffer: this.memory, byteOffset, length });
  }
}

/** Shows `byteLength` bytes at an address as an ArrayBuffer without a copy; make only one over a block. */
export function hostMemoryAt(address: bigint, byteLength: number): ArrayBuffer {
  const pointer = Deno.UnsafePointer.create(address);
  return pointer === null || byteLength === 0
    ? new ArrayBuffer(0)
    : Deno.UnsafePointerView.getArrayBuffer(pointer, byteLength);
}
