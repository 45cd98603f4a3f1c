// Fills that the GPU makes by itself: one element's bytes over a range, or over rows with gaps.

import type { Allocation } from "../memory/allocation.ts";
import { comesAfterNothing, queueInOrder } from "../memory/in_order.ts";
import { isStripedOver } from "../memory/striped_memory_resource.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import { DisposedError } from "../words/errors.ts";
import type { MemorySpan } from "./copy.ts";
import { hullOf, offsetsOf, planCopy, reachOf } from "./copy_plan.ts";

/** Elements at regular distances. */
interface StridedSpan {
  readonly allocation: Allocation;
  /** Address of the first. */
  readonly address: bigint;
  /** Number of steps along each axis, and the bytes of a step. */
  readonly axes: readonly { readonly size: number; readonly stride: number }[];
}

/** The bits of one element: its first 4 bytes, and the 4 behind them where it has 8. */
export interface ElementBits {
  readonly byteLength: number;
  /** The first bytes, as an unsigned number of up to 32 bits. */
  readonly low: number;
  /** The last 4 bytes of 8. */
  readonly high: number;
}

export const ZERO_BYTE: ElementBits = { byteLength: 1, low: 0, high: 0 };

/** Bytes that one driver call fills with: those of an element, or half of 8. */
type Width = 1 | 2 | 4;

const RECTANGLE_FILLS = {
  1: "cuMemsetD2D8Async",
  2: "cuMemsetD2D16Async",
  4: "cuMemsetD2D32Async",
} as const satisfies Record<Width, string>;

/**
 * Queues a fill of a range and does not wait (cuMemsetD8Async and its wider relatives).
 *
 * @throws TypeError when the stream belongs to another device.
 */
export function queueFill(span: MemorySpan, element: ElementBits, stream: CudaStream): void {
  const { allocation, byteLength } = span;
  checkStream(allocation, stream);
  if (byteLength === 0) return;
  if (comesAfterNothing(stream, allocation)) return fillRange(span, element, stream);
  const use = { ...span, access: "write" } as const;
  queueInOrder(stream, [use], () => fillRange(span, element, stream));
}

/** Queues a fill of a range whose turn has come, by one call unless the halves of 8 bytes differ. */
function fillRange(span: MemorySpan, element: ElementBits, stream: CudaStream): void {
  const { allocation, address, byteLength } = span;
  const { low, high } = element;
  if (element.byteLength === 8 && low !== high) {
    return fillElements(
      { allocation, address, axes: [{ size: byteLength / 8, stride: 8 }] },
      element,
      stream,
    );
  }
  const width = widthOf(element);
  allocation.order(stream, "write");
  fillLine({ address, width, value: low, count: byteLength / width }, stream);
}

/**
 * Queues a fill of elements at regular distances and does not wait (cuMemsetD2D8Async and its wider
 * relatives, once for each step that no rectangle covers).
 *
 * @throws TypeError when the stream belongs to another device.
 */
export function queueStridedFill(
  span: StridedSpan,
  element: ElementBits,
  stream: CudaStream,
): void {
  const { allocation } = span;
  checkStream(allocation, stream);
  if (span.axes.some(({ size }) => size === 0)) return;
  if (comesAfterNothing(stream, allocation)) return fillElements(span, element, stream);
  const hull = hullOf(span.address, reachOf(span.axes, element.byteLength));
  const use = { allocation, ...hull, access: "write" } as const;
  queueInOrder(stream, [use], () => fillElements(span, element, stream));
}

/** Queues a fill of elements whose turn has come; one of 8 bytes is filled as two of 4. */
function fillElements(span: StridedSpan, element: ElementBits, stream: CudaStream): void {
  const { allocation, address, axes } = span;
  const { low, high } = element;
  const width = widthOf(element);
  allocation.order(stream, "write");
  if (element.byteLength < 8) return fill({ address, axes, width, value: low }, stream);
  if (low === high) {
    const halves = [...axes, { size: 2, stride: 4 }];
    return fill({ address, axes: halves, width, value: low }, stream);
  }
  fill({ address, axes, width, value: low }, stream);
  fill({ address: address + 4n, axes, width, value: high }, stream);
}

/** One value at regular distances. */
interface Filling extends Pick<StridedSpan, "address" | "axes"> {
  readonly width: Width;
  readonly value: number;
}

function fill({ address, axes, width, value }: Filling, stream: CudaStream): void {
  const plan = planCopy(
    width,
    axes.map(({ size, stride }) => ({ size, destinationStride: stride, sourceStride: stride })),
  );
  const count = plan.widthBytes / width;
  const loops = plan.slices === undefined ? plan.loops : [...plan.loops, plan.slices];
  for (const { destination } of offsetsOf(loops)) {
    const start = address + BigInt(destination);
    if (plan.rows === undefined) {
      fillLine({ address: start, width, value, count }, stream);
      continue;
    }
    const { context, handle } = queueOf(stream);
    const [pitch, height] = [BigInt(plan.rows.destinationStride), BigInt(plan.rows.size)];
    context.call(RECTANGLE_FILLS[width], start, pitch, value, BigInt(count), height, handle);
  }
}

/** A value so many times in a row. */
interface Line extends Pick<Filling, "address" | "width" | "value"> {
  readonly count: number;
}

/** Queues one call, by its name: that is faster than by a table. */
function fillLine({ address, width, value, count }: Line, stream: CudaStream): void {
  const { context, handle } = queueOf(stream);
  const { api } = context.driver;
  const length = BigInt(count);
  if (width === 1) {
    const status = api.cuMemsetD8Async(address, value, length, handle);
    return context.settle(status, "cuMemsetD8Async", address, value, length, handle);
  }
  if (width === 2) {
    const status = api.cuMemsetD16Async(address, value, length, handle);
    return context.settle(status, "cuMemsetD16Async", address, value, length, handle);
  }
  const status = api.cuMemsetD32Async(address, value, length, handle);
  context.settle(status, "cuMemsetD32Async", address, value, length, handle);
}

function widthOf({ byteLength }: ElementBits): Width {
  return byteLength === 1 || byteLength === 2 ? byteLength : 4;
}

function checkStream({ context, resource }: Allocation, stream: CudaStream): void {
  if (stream.disposed) throw new DisposedError(stream.toString());
  if (context === stream.context || isStripedOver(resource, stream.context)) return;
  throw new TypeError(
    `Cannot use memory of device ${context.ordinal} on ${stream} of device ` +
      `${stream.context.ordinal}: use a stream of the same device`,
  );
}
