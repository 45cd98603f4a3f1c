// The contents of a new buffer: a typed array or bytes as they are, or plain numbers, packed.

import {
  type DType,
  dtypeOf,
  elementBytes,
  type HostArray,
  type HostValue,
  mayHold,
} from "../dtype.ts";
import { bytesOf, type HostMemory, isHostMemory, looksLikeBuffer } from "../memory/host_memory.ts";
import { describeValue } from "../words/format.ts";
import { isIterable } from "../words/options.ts";
import type { Uploadable } from "./gpu_buffer.ts";
import { type HostValues, packValues } from "./host_values.ts";
import { countOf, type Shape, toShape } from "./shape.ts";

/** An array to upload, with the type and shape of the buffer it needs. */
interface UploadSource<D extends DType> {
  readonly array: Uploadable<D>;
  readonly dtype: D;
  readonly shape: Shape;
}

/**
 * Returns the elements, type and shape of a source.
 *
 * @throws TypeError when bytes, or rows in typed arrays but Float32Array, come without an element type;
 *   plain numbers are float32.
 * @throws RangeError when the source has another number of elements than the shape.
 */
export function uploadSource<D extends DType>(
  source: HostMemory | HostValues,
  options: { readonly dtype?: D | undefined; readonly shape?: number | Shape | undefined },
): UploadSource<D> {
  const own = ArrayBuffer.isView(source) ? dtypeOf(source) as D | undefined : undefined;
  const isPlain = own === undefined && !isHostMemory(source);
  const dtype = options.dtype ?? (isPlain ? PLAIN_DTYPE as D : own);
  if (dtype === undefined) {
    throw new TypeError(
      `Cannot upload ${describeValue(source)}: its bytes need an element type, pass { dtype }`,
    );
  }
  const { array, shape } = isPlain
    ? packed(source as HostValues, dtype, { isTyped: options.dtype !== undefined })
    : heldBy(source as HostMemory, { dtype, own });
  const wanted = toShape(options.shape ?? shape);
  if (countOf(wanted) !== countOf(shape)) {
    throw new RangeError(
      `Cannot upload ${countOf(shape)} elements as [${wanted.join(", ")}]: the shape has ` +
        `${countOf(wanted)}`,
    );
  }
  return { array: array as Uploadable<D>, dtype, shape: wanted };
}

/** The type of plain numbers that come without one: the type that GPUs compute with most. */
const PLAIN_DTYPE: DType = "float32";

/**
 * Checks that no typed arrays in a list lose their element type.
 *
 * @throws TypeError for the first that would.
 */
function requirePlain([lost]: ReadonlySet<DType>): void {
  if (lost === undefined) return;
  throw new TypeError(
    `Cannot upload rows of ${lost} as ${PLAIN_DTYPE}, which lists are: pass { dtype: "${lost}" }, ` +
      "or another",
  );
}

/**
 * Checks that numbers without a type keep their values: whole numbers up to 2^53, which may be counts or
 * ids, must stay exact, and large ones finite. Whole numbers beyond 2^53 are taken for measurements and
 * rounded.
 *
 * @throws RangeError for the first that does not.
 */
function requireExact(values: readonly HostValue[]): void {
  const lost = values.find((value) => {
    if (typeof value !== "number") return false;
    const kept = Math.fround(value);
    return Number.isSafeInteger(value) && kept !== value ||
      Number.isFinite(value) && !Number.isFinite(kept);
  });
  if (lost === undefined) return;
  throw new RangeError(
    `Cannot upload ${lost} as ${PLAIN_DTYPE}, which plain numbers are: it would become ` +
      `${Math.fround(Number(lost))}; pass { dtype: "float64" }, or another`,
  );
}

/** Packs plain values; those that come without a type must lose nothing. */
function packed(source: HostValues, dtype: DType, { isTyped }: { readonly isTyped: boolean }) {
  const elements = packValues(iterableOf(source), dtype);
  if (isTyped) return elements;
  requirePlain(elements.rowTypes);
  requireExact(elements.values);
  return elements;
}

/** Returns the elements in memory: a typed array of a type of its `own`, or bytes. */
function heldBy(
  source: HostMemory,
  { dtype, own }: { readonly dtype: DType; readonly own: DType | undefined },
) {
  const { byteLength } = bytesOf(source, "upload");
  const isSame = own === undefined || own === dtype || mayHold(dtype, own);
  const length = byteLength / elementBytes(isSame ? dtype : own);
  if (Number.isInteger(length)) {
    const isArray = own !== undefined;
    return { array: source, shape: isArray ? shapeBeside(source as HostArray, length) : [length] };
  }
  throw new RangeError(
    `Cannot upload ${byteLength} bytes as ${dtype}: they do not divide into elements of ` +
      `${elementBytes(dtype)} bytes`,
  );
}

/** The shape that an array brings along, as Python's do; one axis where that is no shape of it. */
function shapeBeside(source: HostArray, length: number): Shape {
  const { shape } = source as { readonly shape?: unknown };
  const isShape = Array.isArray(shape) && shape.every((size) => Number.isSafeInteger(size)) &&
    shape.every((size) => size >= 0) && countOf(shape) === length;
  return isShape ? shape as number[] : [length];
}

function iterableOf(source: HostValues): HostValues {
  if (looksLikeBuffer(source)) {
    throw new TypeError(
      `Cannot upload ${describeValue(source)}: it is no memory of the host; slice() copies it, ` +
        "and copyFrom() copies it into another buffer",
    );
  }
  if (isIterable(source)) return source;
  throw new TypeError(
    `Cannot upload ${describeValue(source)}: expected a typed array, an array or an iterable of ` +
      `numbers${isStreamed(source) ? "; gpu.from() takes it" : ""}`,
  );
}

/** Returns whether the bytes of a value arrive later, so that `from()` takes it. */
function isStreamed(source: unknown): boolean {
  return [Response, Request, ReadableStream, Blob].some((Kind) => source instanceof Kind);
}
