// The host's side of a transfer: which arrays fit an element type, and bfloat16's conversion.

import {
  allocateBits,
  type DType,
  dtypeOf,
  elementBytes,
  fromBfloat16,
  toBfloat16,
} from "../dtype.ts";
import { type Action, type HostMemory, type HostView, viewOf } from "../transfer/host_memory.ts";

/** Elements on the device's side of a transfer. */
export interface ElementSpan {
  /** The element type. */
  readonly dtype: DType;
  /** How many elements. */
  readonly length: number;
}

/** Host memory that a transfer fills, and what to do once it is full. */
export interface HostDestination {
  /** The memory to fill. */
  readonly bytes: HostView;
  /** Converts when needed, and returns what the caller gets. */
  finish(): HostMemory;
}

/** Typed arrays that hold an element type's bits beside its own one. */
const SAME_BITS: Partial<Record<DType, DType>> = {
  bool: "uint8",
  float16: "uint16",
  bfloat16: "uint16",
};

/**
 * Shows host memory as the bytes of `span.length` elements; Float32Array narrows to bfloat16.
 *
 * @throws TypeError when the array holds another element type, was detached or can be resized.
 * @throws RangeError when it is shorter or longer than the span.
 */
export function sourceBytes(
  span: ElementSpan,
  source: HostMemory,
  action: Action,
): HostView {
  const bytes = viewOf(source, action);
  if (span.dtype === "bfloat16" && source instanceof Float32Array) {
    checkLength(span, source.length * elementBytes(span.dtype), action);
    return toBfloat16(source);
  }
  checkType(span.dtype, source, action);
  checkLength(span, bytes.byteLength, action);
  return bytes;
}

/**
 * Prepares the memory that `span.length` elements are copied into: `destination`, or a new array.
 *
 * @throws TypeError when the array holds another element type, was detached or can be resized.
 * @throws RangeError when it is shorter or longer than the span.
 */
export function destinationBytes(
  span: ElementSpan,
  destination: HostMemory | undefined,
  action: Action,
): HostDestination {
  const { dtype, length } = span;
  const widen = dtype === "bfloat16" &&
    (destination === undefined || destination instanceof Float32Array);
  if (widen) return widening(length, destination, action);
  if (destination !== undefined) {
    return { bytes: sourceBytes(span, destination, action), finish: () => destination };
  }
  const fresh = allocateBits(dtype, length);
  return { bytes: fresh, finish: () => fresh };
}

function widening(
  length: number,
  destination: Float32Array<ArrayBufferLike> | undefined,
  action: Action,
): HostDestination {
  if (destination !== undefined) {
    viewOf(destination, action);
    checkLength({ dtype: "bfloat16", length }, destination.length * 2, action);
  }
  const bits = new Uint16Array(length);
  const finish = () => {
    const values = fromBfloat16(bits);
    if (destination === undefined) return values;
    destination.set(values);
    return destination;
  };
  return { bytes: bits, finish };
}

function checkType(dtype: DType, memory: HostMemory, action: Action): void {
  if (!ArrayBuffer.isView(memory) || memory instanceof DataView) return;
  const held = dtypeOf(memory);
  if (held === dtype || held === SAME_BITS[dtype]) return;
  throw new TypeError(
    `Cannot ${action}: ${memory.constructor.name} does not hold ${dtype}; convert it, or pass ` +
      `its buffer to copy the bytes as they are`,
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
