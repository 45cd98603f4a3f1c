// The host's side of a transfer: the arrays that fit an element type, and conversions of small
// floats.

import {
  allocateBits,
  type BitsOf,
  copyBits,
  type DType,
  dtypeOf,
  elementBytes,
  type HostArray,
  isNarrow,
  mayHold,
  narrowed,
  valuesIn,
  viewBits,
} from "../dtype.ts";
import { type Action, bytesOf, type HostBytes, type HostMemory } from "../memory/host_memory.ts";
import type { HostSide, UnmadeArray } from "../transfer/host_transfer.ts";

/** Elements on the device's side of a transfer. */
interface ElementSpan {
  readonly dtype: DType;
  readonly length: number;
}

/** Host memory that a transfer fills, and the value that the caller gets once it is full. */
export interface HostDestination extends HostSide {
  result(): HostMemory;
}

/**
 * Returns host memory as the bytes of `span.length` elements. A Float32Array is narrowed to smaller
 * floats when the transfer begins.
 *
 * @throws TypeError when the array holds another element type, was detached or can be resized.
 * @throws RangeError when it is shorter or longer than the span.
 */
export function hostSource(span: ElementSpan, source: HostMemory, action: Action): HostSide {
  const memory = bytesOf(source, action);
  const held = ArrayBuffer.isView(source) ? dtypeOf(source) : undefined; // undefined for a DataView
  if (held !== undefined && held !== span.dtype) {
    if (held === "float32" && isNarrow(span.dtype)) {
      checkLength(span, narrowedBytes(span, memory), action);
      return { memory, convert: () => bytesIn(narrowed(span.dtype, floatsIn(memory))) };
    }
    if (!mayHold(span.dtype, held)) throw otherElements(span, source as HostArray, action);
  }
  checkLength(span, memory.byteLength, action);
  return { memory };
}

/**
 * Returns the bytes of an array as elements of a type, however many there are.
 *
 * @throws TypeError when the array holds another element type, was detached or can be resized.
 */
export function patternBytes(dtype: DType, pattern: HostMemory, action: Action): HostBytes {
  const length = elementCountOf(dtype, pattern, action);
  const { memory, convert = () => memory } = hostSource({ dtype, length }, pattern, action);
  return convert();
}

/** Counts the elements that an array holds; a fraction when its bytes end inside one. */
export function elementCountOf(dtype: DType, source: HostMemory, action: Action): number {
  const { byteLength } = bytesOf(source, action);
  const isNarrowed = isNarrow(dtype) && isFloat32(source);
  return byteLength / (isNarrowed ? 4 : elementBytes(dtype));
}

/**
 * Prepares the memory that `span.length` elements are copied into: `destination`, or a new array.
 *
 * @throws TypeError when the array holds another element type, was detached or can be resized.
 * @throws RangeError when it is shorter or longer than the span.
 */
export function hostDestination(
  span: ElementSpan,
  destination: HostMemory | undefined,
  action: Action,
): HostDestination {
  const { dtype, length } = span;
  if (destination === undefined) return new NewArray(dtype, length);
  if (!isNarrow(dtype) || !isFloat32(destination)) {
    return { ...hostSource(span, destination, action), result: () => destination };
  }
  const memory = bytesOf(destination, action);
  checkLength(span, narrowedBytes(span, memory), action);
  return {
    memory,
    convert: () => new Uint8Array(length * elementBytes(dtype)),
    complete: ({ buffer, byteOffset }) => {
      const bits = viewBits(dtype, { buffer, byteOffset, length });
      floatsIn(memory).set(valuesIn(dtype, bits) as ArrayLike<number>);
    },
    result: () => destination,
  };
}

/** A new array for downloaded elements, which the transfer either makes or fills. */
class NewArray implements HostDestination, UnmadeArray {
  readonly #dtype: DType;
  readonly #length: number;
  #bits: BitsOf<DType> | undefined;

  constructor(dtype: DType, length: number) {
    this.#dtype = dtype;
    this.#length = length;
  }

  get memory(): HostBytes {
    return bytesIn(this.#filled);
  }

  get unmade(): UnmadeArray | undefined {
    return this.#bits === undefined ? this : undefined;
  }

  place(buffer: ArrayBuffer): void {
    this.#bits = viewBits(this.#dtype, { buffer });
  }

  land({ buffer, byteOffset }: HostBytes): void {
    this.#bits = copyBits(this.#dtype, { buffer, byteOffset, length: this.#length });
  }

  result(): HostMemory {
    return valuesIn(this.#dtype, this.#filled);
  }

  /** The array, made when it is first asked for. */
  get #filled(): BitsOf<DType> {
    return this.#bits ??= allocateBits<DType>(this.#dtype, this.#length);
  }
}

/** Bytes of the elements that an array of float32 becomes. */
function narrowedBytes({ dtype }: ElementSpan, { byteLength }: HostBytes): number {
  return byteLength / 4 * elementBytes(dtype);
}

function isFloat32(memory: HostMemory): boolean {
  return ArrayBuffer.isView(memory) && dtypeOf(memory) === "float32";
}

/** Shows bytes as floats of 32 bits. */
export function floatsIn(
  { buffer, byteOffset, byteLength }: HostBytes,
): Float32Array<ArrayBufferLike> {
  return new Float32Array(buffer, byteOffset, byteLength / 4);
}

function bytesIn({ buffer, byteOffset, byteLength }: HostArray): HostBytes {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function otherElements({ dtype }: ElementSpan, memory: HostArray, action: Action): TypeError {
  const isPart = memory.byteLength < memory.buffer.byteLength;
  return new TypeError(
    `Cannot ${action}: ${memory.constructor.name} does not hold ${dtype}; convert it, astype() ` +
      "does so on the GPU, or pass " +
      (isPart ? "new DataView(x.buffer, x.byteOffset, x.byteLength)" : "its buffer") +
      " to copy the bytes as they are",
  );
}

function checkLength(span: ElementSpan, byteLength: number, action: Action): void {
  const expected = span.length * elementBytes(span.dtype);
  if (byteLength === expected) return;
  throw new RangeError(
    `Cannot ${action}: the array has ${byteLength} bytes, the buffer ${expected} ` +
      `(${span.length} elements)`,
  );
}
