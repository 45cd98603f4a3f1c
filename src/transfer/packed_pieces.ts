// Many small arrays and the device memory on their other sides, as pieces of one transfer: a lane
// gathers or scatters the arrays of a slot, and few copies move it.

import { MOST_COPIES } from "../lanes/lane_program.ts";
import { packArrays, type PackedArray, type SlotLoad } from "./pack.ts";
import type { Piece, RingRequest } from "./ring_transfer.ts";

/** Options for packing arrays. */
export interface PackedCut {
  /** Direction of the transfer. */
  readonly direction: "upload" | "download";
  /** Bytes of the largest array; a slot has room for it. */
  readonly largestBytes: number;
  /** Whether copies may move the padding between neighbours too. */
  readonly takesPadding: boolean;
}

/** Tells how to cut arrays, for a {@link RingRequest}. */
export function cutPacked(arrays: readonly PackedArray[], options: PackedCut): RingRequest["cut"] {
  const { direction, largestBytes, takesPadding } = options;
  return (pieceBytes) => {
    const slotBytes = Math.max(pieceBytes, largestBytes);
    const loads = packArrays(arrays, { slotBytes, arrayCount: MOST_COPIES, takesPadding });
    return loads.map((load) => pieceOf(load, direction)).values();
  };
}

function pieceOf({ places, runs, byteLength }: SlotLoad, direction: "upload" | "download"): Piece {
  const isUpload = direction === "upload";
  return {
    byteLength,
    laneTask: (slot) => ({
      operation: "copyEach",
      copies: places.map(({ hostAddress, byteLength, slotOffset }) => {
        const place = slot + BigInt(slotOffset);
        return isUpload
          ? { destination: place, source: hostAddress, byteLength }
          : { destination: hostAddress, source: place, byteLength };
      }),
    }),
    copies: (slot) =>
      runs.map(({ span, slotOffset }) => {
        const place = slot + BigInt(slotOffset);
        return isUpload
          ? { destination: span.address, source: place, byteLength: span.byteLength }
          : { destination: place, source: span.address, byteLength: span.byteLength };
      }),
    laneError: () => new Error(`Cannot copy ${places.length} arrays: the lane failed`),
  };
}
