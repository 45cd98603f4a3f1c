// Elements of one type as another, converted on the GPU: the checks, and the arguments of the kernels.

import { checkApart, type MemorySpan } from "../copies/copy.ts";
import { hullOf, reachOf } from "../copies/copy_plan.ts";
import { type DType, elementBytes, kernelCode } from "../dtype.ts";
import { u32, u64 } from "../launch/kernel_number.ts";
import { launchReady, reading, writing } from "../launch/ready_kernels.ts";
import type { CudaStream } from "../order/stream.ts";
import { countOf } from "./shape.ts";
import type { StridedLayout } from "./strides.ts";

/** The method by which a buffer converts its elements. Editors list no symbols. */
export const CONVERT: unique symbol = Symbol("convert");

/** A layout of a buffer's elements, with its name for messages. */
export interface NamedLayout extends StridedLayout {
  /** The buffer or the view. */
  readonly name: { toString(): string };
}

/** Elements to convert: a layout of those in some memory. */
interface ConversionSource extends StridedLayout {
  readonly span: MemorySpan;
  readonly dtype: DType;
}

/** The most axes that the kernel takes, after contiguous ones are joined. */
const MAX_KERNEL_AXES = 8;

/** The first code of types that only the slower kernel has: small floats and complex numbers. */
const FIRST_ANY = 16;

/** Elements that one thread converts at a time. */
const THREAD_ELEMENTS = 4;

/** One axis: its size, and the elements from one step to the next. */
interface Axis {
  readonly size: number;
  readonly stride: number;
}

/** Returns whether the kernels take a layout; others have to be made contiguous first. */
export function isConvertible(layout: StridedLayout): boolean {
  return joinedAxes(layout).length <= MAX_KERNEL_AXES;
}

/**
 * Queues converting elements, which are contiguous in the target, and does not wait.
 *
 * @throws TypeError when the GPU cannot use one of the two.
 * @throws RangeError when they overlap.
 */
export function queueConversion(
  target: { readonly span: MemorySpan; readonly dtype: DType },
  source: ConversionSource,
  stream: CudaStream,
): void {
  const count = countOf(source.shape);
  if (count === 0) return;
  const axes = joinedAxes(source);
  const bytes = elementBytes(source.dtype);
  const reach = reachOf(axes.map(({ size, stride }) => ({ size, stride: stride * bytes })), bytes);
  const first = source.span.address + BigInt(source.offset * bytes);
  const span = { ...source.span, ...hullOf(first, reach) };
  checkApart(target.span, span);
  // Equal types move bits, which unsigned integers are; packed elements go by bytes.
  const isSame = source.dtype === target.dtype;
  const moved = isSame ? count * bytes / Math.ceil(bytes) : count;
  const [toCode, fromCode] = [target, source]
    .map(({ dtype }) => isSame ? kernelCode(dtype) & 3 : kernelCode(dtype)) as [number, number];
  const args = [writing(target.span), reading(span), u64(moved), u32(toCode), u32(fromCode)];
  const isRun = axes.length === 0 || (axes.length === 1 && axes[0]?.stride === 1);
  const isAny = Math.max(toCode, fromCode) >= FIRST_ANY;
  if (isRun && !isAny) {
    const threads = Math.ceil(moved / THREAD_ELEMENTS);
    return launchReady(stream, { name: "vramkit_convert", count: threads, args });
  }
  const columns = [axes.map(({ size }) => size), axes.map(({ stride }) => stride)];
  launchReady(stream, {
    name: isAny ? "vramkit_convert_any" : "vramkit_convert_strided",
    count,
    args: [
      ...args,
      layoutBytes(columns, { starts: [-reach.lowest / bytes], axisCount: MAX_KERNEL_AXES }),
    ],
  });
}

/** Joins axes that are contiguous with each other, and leaves out those of size 1. */
function joinedAxes({ shape, strides }: StridedLayout): Axis[] {
  const axes: Axis[] = [];
  for (let at = shape.length - 1; at >= 0; at--) {
    const [size = 1, stride = 0] = [shape[at], strides[at]];
    if (size === 1) continue;
    const inner = axes[0];
    if (inner !== undefined && stride === inner.stride * inner.size) {
      axes[0] = { size: size * inner.size, stride: inner.stride };
    } else axes.unshift({ size, stride });
  }
  return axes;
}

/**
 * Encodes the axes for a kernel, the fastest one last: their sizes, other columns, and where to start. Axes
 * that are missing get size 1.
 */
export function layoutBytes(
  columns: readonly (readonly number[])[],
  { starts, axisCount }: { readonly starts: readonly number[]; readonly axisCount: number },
): Uint8Array {
  const words = new BigInt64Array(columns.length * axisCount + starts.length).fill(
    1n,
    0,
    axisCount,
  );
  for (const [at, column] of columns.entries()) {
    words.set(column.map(BigInt), (at + 1) * axisCount - column.length);
  }
  words.set(starts.map(BigInt), columns.length * axisCount);
  return new Uint8Array(words.buffer);
}
