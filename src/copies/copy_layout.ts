// Two strided layouts of one shape, for copies between them wherever they lie. To find how they are copied
// takes longer than to queue a copy, so it is found once for a copy that a program repeats.

import {
  callsOf,
  type CopyAxis,
  type CopyPlan,
  planCopy,
  type Reach,
  reachOf,
} from "./copy_plan.ts";

/** Elements in some order, in elements. */
interface Elements {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

/** The two sides of a copy. */
interface Ends {
  readonly to: Elements;
  readonly from: Elements;
  readonly elementBytes: number;
}

/** The layouts of both sides of a copy, in bytes. */
export class CopyLayout {
  readonly elementBytes: number;
  /** The axes of the shape, with both sides' strides. */
  readonly axes: readonly CopyAxis[];
  /** The calls that the driver needs. */
  readonly plan: CopyPlan;
  /** Time of these calls beside the bytes, in calls. */
  readonly callCount: number;
  readonly byteLength: number;
  /** The bytes from the first to the last element that is written. */
  readonly destination: Reach;
  /** The bytes from the first to the last element that is read. */
  readonly source: Reach;

  /** Plans copies between two layouts of the same shape. */
  constructor({ to, from, elementBytes }: Ends) {
    this.elementBytes = elementBytes;
    this.axes = to.shape.map((size, axis) => ({
      size,
      destinationStride: (to.strides[axis] ?? 0) * elementBytes,
      sourceStride: (from.strides[axis] ?? 0) * elementBytes,
    }));
    this.plan = planCopy(elementBytes, this.axes);
    this.callCount = callsOf(this.plan);
    this.byteLength = this.axes.reduce((product, { size }) => product * size, elementBytes);
    const reach = (stride: "destinationStride" | "sourceStride") =>
      reachOf(this.axes.map((axis) => ({ size: axis.size, stride: axis[stride] })), elementBytes);
    this.destination = reach("destinationStride");
    this.source = reach("sourceStride");
  }

  /** Returns whether these are the layouts of two sides, which may have different shapes. */
  isOf({ to, from, elementBytes }: Ends): boolean {
    const { axes } = this;
    if (elementBytes !== this.elementBytes) return false;
    if (to.shape.length !== axes.length || from.shape.length !== axes.length) return false;
    for (let at = 0; at < axes.length; at++) {
      const axis = axes[at];
      if (axis === undefined || axis.size !== to.shape[at] || axis.size !== from.shape[at]) {
        return false;
      }
      if (axis.destinationStride !== (to.strides[at] ?? 0) * elementBytes) return false;
      if (axis.sourceStride !== (from.strides[at] ?? 0) * elementBytes) return false;
    }
    return true;
  }
}
