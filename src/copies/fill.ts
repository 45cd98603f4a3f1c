// Fills that the GPU makes by itself: one element's bytes over a range, or over rows with gaps.

import type { Context } from "../driver/context.ts";
import type { DriverArguments } from "../driver/driver.ts";
import type { Allocation } from "../memory/allocation.ts";
import { comesAfterNothing, queueInOrder } from "../memory/in_order.ts";
import { isStripedOver } from "../memory/striped_memory_resource.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import { DisposedError } from "../words/errors.ts";
import type { MemorySpan } from "./copy.ts";
import { hullOf, offsetsOf, planCopy } from "./copy_plan.ts";

/** Elements at regular distances. */
export interface StridedSpan {
  /** The block they lie in. */
  readonly allocation: Allocation;
  /** Address of the first. */
  readonly address: bigint;
  /** Number of steps along each axis, and the bytes of a step. */
  readonly axes: readonly { readonly size: number; readonly stride: number }[];
}

/** The driver's fills by element size; an element of 8 bytes is filled as two of 4. */
const FILLS = {
  1: { line: "cuMemsetD8Async", rectangle: "cuMemsetD2D8Async" },
  2: { line: "cuMemsetD16Async", rectangle: "cuMemsetD2D16Async" },
  4: { line: "cuMemsetD32Async", rectangle: "cuMemsetD2D32Async" },
} as const;

/**
 * Queues a fill of a range and does not wait (cuMemsetD8Async and its wider relatives).
 *
 * @throws TypeError when the stream belongs to another device.
 */
export function queueFill(
  span: MemorySpan,
  element: Uint8Array<ArrayBuffer>,
  stream: CudaStream,
): void {
  const { allocation, address, byteLength } = span;
  const stride = element.byteLength;
  const axes = [{ size: byteLength / stride, stride }];
  queueStridedFill({ allocation, address, axes }, element, stream);
}

/**
 * Queues a fill of elements at regular distances and does not wait (cuMemsetD2D8Async and its wider
 * relatives, once for each step that no rectangle covers).
 *
 * @throws TypeError when the stream belongs to another device.
 */
export function queueStridedFill(
  span: StridedSpan,
  element: Uint8Array<ArrayBuffer>,
  stream: CudaStream,
): void {
  const { allocation } = span;
  checkStream(allocation, stream);
  if (span.axes.some(({ size }) => size === 0)) return;
  if (comesAfterNothing(stream, allocation)) return queueCheckedFill(span, element, stream);
  const use = { allocation, ...hullOf(span, element.byteLength), access: "write" } as const;
  queueInOrder(stream, [use], () => queueCheckedFill(span, element, stream));
}

function queueCheckedFill(
  span: StridedSpan,
  element: Uint8Array<ArrayBuffer>,
  stream: CudaStream,
): void {
  span.allocation.order(stream, "write");
  const bits = new DataView(element.buffer);
  switch (element.byteLength) {
    case 1:
      return fill(span, { elementBytes: 1, value: bits.getUint8(0) }, stream);
    case 2:
      return fill(span, { elementBytes: 2, value: bits.getUint16(0, true) }, stream);
    case 4:
      return fill(span, { elementBytes: 4, value: bits.getUint32(0, true) }, stream);
  }
  const [low, high] = [bits.getUint32(0, true), bits.getUint32(4, true)];
  if (low === high) {
    const axes = [...span.axes, { size: 2, stride: 4 }];
    return fill({ ...span, axes }, { elementBytes: 4, value: low }, stream);
  }
  fill(span, { elementBytes: 4, value: low }, stream);
  fill({ ...span, address: span.address + 4n }, { elementBytes: 4, value: high }, stream);
}

function fill(
  { address, axes }: StridedSpan,
  pattern: { elementBytes: 1 | 2 | 4; value: number },
  stream: CudaStream,
): void {
  const { elementBytes, value } = pattern;
  const { context, handle } = queueOf(stream);
  const { line, rectangle } = FILLS[elementBytes];
  const [first] = axes;
  if (axes.length === 1 && first?.stride === elementBytes) {
    return queueLine(context, line, [address, value, BigInt(first.size), handle]);
  }
  const plan = planCopy(
    elementBytes,
    axes.map(({ size, stride }) => ({ size, destinationStride: stride, sourceStride: stride })),
  );
  const width = BigInt(plan.widthBytes / elementBytes);
  const loops = plan.slices === undefined ? plan.loops : [...plan.loops, plan.slices];
  for (const { destination } of offsetsOf(loops)) {
    const start = address + BigInt(destination);
    if (plan.rows === undefined) {
      queueLine(context, line, [start, value, width, handle]);
      continue;
    }
    const [pitch, height] = [BigInt(plan.rows.destinationStride), BigInt(plan.rows.size)];
    context.call(rectangle, start, pitch, value, width, height, handle);
  }
}

function queueLine(
  context: Context,
  name: (typeof FILLS)[keyof typeof FILLS]["line"],
  args: DriverArguments<typeof name>,
): void {
  context.settle(context.driver.status(name, ...args), name, ...args);
}

function checkStream({ context, resource }: Allocation, stream: CudaStream): void {
  if (stream.disposed) throw new DisposedError(stream.toString());
  if (context === stream.context || isStripedOver(resource, stream.context)) return;
  throw new TypeError(
    `Cannot use memory of device ${context.ordinal} on ${stream} of device ` +
      `${stream.context.ordinal}: use a stream of the same device`,
  );
}
