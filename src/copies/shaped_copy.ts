// Copies between strided layouts, queued as rectangles and boxes with pitches, without waiting.

import { CUmemorytype } from "../../ffi/constants.ts";
import { CUDA_MEMCPY2D, CUDA_MEMCPY3D } from "../../ffi/structs.ts";
import { comesAfterNothing, type MemoryUse, queueInOrder } from "../memory/in_order.ts";
import { queueOf } from "../order/stream.ts";
import { copyBytes, type CopyRoute, crossesDevices, noteCopy, orderCopy } from "./copy.ts";
import type { CopyLayout } from "./copy_layout.ts";
import { axesAround, type CopyOffset, hullOf, offsetsOf } from "./copy_plan.ts";

/** A copy between two layouts of the same shape. */
export interface ShapedCopy extends CopyRoute {
  /** Address of the first element that is written. */
  readonly destinationAddress: bigint;
  /** Address of the first element that is read. */
  readonly sourceAddress: bigint;
  readonly layout: CopyLayout;
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
  if (copy.layout.byteLength > 0) {
    queueInOrder(stream, usesOf(copy), () => queueShapedCopyNow(copy));
  }
}

/** Queues a copy whose turn has come; see {@link queueShapedCopy}. */
export function queueShapedCopyNow(copy: ShapedCopy): void {
  const { byteLength } = copy.layout;
  if (byteLength === 0) return;
  orderCopy(copy);
  if (crossesDevices(copy)) copyRows(copy);
  else {
    for (const offset of offsetsOf(copy.layout.plan.loops)) copyBox(copy, endsAt(copy, offset));
  }
  noteCopy(copy, byteLength);
}

/** Returns the uses of the bytes from the first to the last element on each side of a copy. */
export function usesOf(
  { destination, destinationAddress, source, sourceAddress, layout }: ShapedCopy,
): [destination: MemoryUse, source: MemoryUse] {
  const [to, from] = [
    hullOf(destinationAddress, layout.destination),
    hullOf(sourceAddress, layout.source),
  ];
  return [
    { allocation: destination, ...to, access: "write" },
    { allocation: source, ...from, access: "read" },
  ];
}

/** The driver copies no boxes between devices, so each row is one copy. */
function copyRows(copy: ShapedCopy): void {
  const byteLength = BigInt(copy.layout.plan.widthBytes);
  for (const offset of offsetsOf(axesAround(copy.layout.plan))) {
    copyBytes(copy, { ...endsAt(copy, offset), byteLength });
  }
}

function copyBox(copy: ShapedCopy, ends: Ends): void {
  const { widthBytes, rows, slices } = copy.layout.plan;
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
