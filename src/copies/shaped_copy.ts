// Copies between strided layouts, queued as rectangles and boxes with pitches, without waiting.

import { CUmemorytype } from "../../ffi/constants.ts";
import { CUDA_MEMCPY2D, CUDA_MEMCPY3D } from "../../ffi/structs.ts";
import { comesAfterNothing, type MemoryUse, queueInOrder } from "../memory/in_order.ts";
import { queueOf } from "../order/stream.ts";
import { copyBytes, type CopyRoute, crossesDevices, noteCopy, orderCopy } from "./copy.ts";
import {
  axesAround,
  type CopyAxis,
  type CopyOffset,
  type CopyPlan,
  hullOf,
  offsetsOf,
} from "./copy_plan.ts";

/** A copy between two layouts of the same shape. */
export interface ShapedCopy extends CopyRoute {
  /** Address of the first element that is written. */
  readonly destinationAddress: bigint;
  /** Address of the first element that is read. */
  readonly sourceAddress: bigint;
  /** Bytes of one element. */
  readonly elementBytes: number;
  /** The axes of the shape, with both sides' strides. */
  readonly axes: readonly CopyAxis[];
  /** The calls that the driver needs. */
  readonly plan: CopyPlan;
}

/** The addresses of one call. */
interface Ends {
  readonly destination: bigint;
  readonly source: bigint;
}

/**
 * Queues a copy between strided layouts and does not wait (cuMemcpyAsync, cuMemcpy2DAsync or
 * cuMemcpy3DAsync, as few as the layouts allow). Both blocks are kept until it is done. The route is
 * checked.
 */
export function queueShapedCopy(copy: ShapedCopy): void {
  const { stream, destination, source } = copy;
  if (comesAfterNothing(stream, destination, source)) return queueShapedCopyNow(copy);
  if (bytesOf(copy) > 0) queueInOrder(stream, usesOf(copy), () => queueShapedCopyNow(copy));
}

/** Queues a copy whose turn has come; see {@link queueShapedCopy}. */
export function queueShapedCopyNow(copy: ShapedCopy): void {
  const byteLength = bytesOf(copy);
  if (byteLength === 0) return;
  orderCopy(copy);
  if (crossesDevices(copy)) copyRows(copy);
  else copyBoxes(copy);
  noteCopy(copy, byteLength);
}

/** Returns the bytes of all elements of a copy. */
export function bytesOf({ axes, elementBytes }: ShapedCopy): number {
  return axes.reduce((product, { size }) => product * size, elementBytes);
}

/** Returns the uses of the bytes from the first to the last element on each side of a copy. */
export function usesOf(copy: ShapedCopy): [destination: MemoryUse, source: MemoryUse] {
  const { axes, elementBytes } = copy;
  const destination = {
    address: copy.destinationAddress,
    axes: axes.map(({ size, destinationStride: stride }) => ({ size, stride })),
  };
  const source = {
    address: copy.sourceAddress,
    axes: axes.map(({ size, sourceStride: stride }) => ({ size, stride })),
  };
  return [
    { allocation: copy.destination, ...hullOf(destination, elementBytes), access: "write" },
    { allocation: copy.source, ...hullOf(source, elementBytes), access: "read" },
  ];
}

/** The driver copies no boxes between devices, so each row is one copy. */
function copyRows(copy: ShapedCopy): void {
  const byteLength = BigInt(copy.plan.widthBytes);
  for (const offset of offsetsOf(axesAround(copy.plan))) {
    copyBytes(copy, { ...endsAt(copy, offset), byteLength });
  }
}

function copyBoxes(copy: ShapedCopy): void {
  for (const offset of offsetsOf(copy.plan.loops)) copyBox(copy, endsAt(copy, offset));
}

function copyBox(copy: ShapedCopy, ends: Ends): void {
  const { widthBytes, rows, slices } = copy.plan;
  const { context, handle } = queueOf(copy.stream);
  if (rows === undefined) return copyBytes(copy, { ...ends, byteLength: BigInt(widthBytes) });
  const rectangle = {
    srcMemoryType: CUmemorytype.CU_MEMORYTYPE_UNIFIED,
    srcDevice: ends.source,
    srcPitch: BigInt(rows.sourceStride),
    dstMemoryType: CUmemorytype.CU_MEMORYTYPE_UNIFIED,
    dstDevice: ends.destination,
    dstPitch: BigInt(rows.destinationStride),
    WidthInBytes: BigInt(widthBytes),
    Height: BigInt(rows.size),
  };
  if (slices === undefined) {
    return context.call("cuMemcpy2DAsync_v2", CUDA_MEMCPY2D.encode(rectangle), handle);
  }
  const box = CUDA_MEMCPY3D.encode({
    ...rectangle,
    srcHeight: BigInt(slices.sourceStride / rows.sourceStride),
    dstHeight: BigInt(slices.destinationStride / rows.destinationStride),
    Depth: BigInt(slices.size),
  });
  context.call("cuMemcpy3DAsync_v2", box, handle);
}

function endsAt(copy: ShapedCopy, offset: CopyOffset): Ends {
  return {
    destination: copy.destinationAddress + BigInt(offset.destination),
    source: copy.sourceAddress + BigInt(offset.source),
  };
}
