// What a new buffer is filled from: a typed array as it is, or plain numbers packed into one.

import { type DType, dtypeOf, type HostArray } from "../dtype.ts";
import { type HostValues, packValues } from "./host_values.ts";
import { countOf, type Shape, toShape } from "./shape.ts";
import type { Uploadable } from "./transferable_buffer.ts";

/** An array to upload, and the buffer it needs. */
export interface UploadSource<D extends DType> {
  /** The elements. */
  readonly array: Uploadable<D>;
  /** The element type. */
  readonly dtype: D;
  /** Sizes along each axis. */
  readonly shape: Shape;
}

/**
 * Finds the elements, type and shape that a source stands for.
 *
 * @throws TypeError when plain numbers come without an element type.
 * @throws RangeError when the shape has another number of elements than the source.
 */
export function uploadSource<D extends DType>(
  source: HostArray | HostValues,
  options: { readonly dtype?: D | undefined; readonly shape?: number | Shape | undefined },
): UploadSource<D> {
  const dtype = options.dtype ??
    (ArrayBuffer.isView(source) ? dtypeOf(source) as D | undefined : undefined);
  if (dtype === undefined) {
    throw new TypeError("Cannot upload: expected a typed array, or pass { dtype }");
  }
  const { array, shape } = ArrayBuffer.isView(source)
    ? { array: source, shape: [source.length] }
    : packValues(iterableOf(source), dtype);
  const wanted = toShape(options.shape ?? shape);
  if (countOf(wanted) !== array.length) {
    throw new RangeError(
      `Cannot upload ${array.length} elements as [${wanted.join(", ")}]: the shape has ` +
        `${countOf(wanted)}`,
    );
  }
  return { array: array as Uploadable<D>, dtype, shape: wanted };
}

function iterableOf(source: HostValues): HostValues {
  if (typeof source?.[Symbol.iterator] === "function" && typeof source !== "string") return source;
  throw new TypeError("Cannot upload: expected a typed array, an array or an iterable of numbers");
}
