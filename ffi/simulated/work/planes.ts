// The shape of a copy: planes of rows; contiguous bytes are a plane of one row. Planes may not meet: the
// driver copies in no certain order. Host bytes are the same bytes wherever their address is the same.

import { hex } from "../errors.ts";
import { endOf, type Extent, overlap } from "../model/access_history.ts";
import type { Machine } from "../model/machine.ts";
import type { Region } from "../model/region.ts";
import type { Storage } from "../model/storage.ts";

/** One side of a plane: its bounding region and the distance between rows. */
export interface Side {
  /** Bytes from the first row's start to the last row's end. */
  readonly region: Region;
  /** Distance between the starts of two rows. */
  readonly pitchBytes: number;
}

/** Rows to copy. */
export interface Plane {
  readonly destination: Side;
  readonly source: Side;
  readonly widthBytes: number;
  readonly rowCount: number;
}

/** Describes a copy of bytes that follow each other. */
export function linearPlane(destination: Region, source: Region): Plane {
  const widthBytes = source.byteLength;
  return {
    destination: { region: destination, pitchBytes: widthBytes },
    source: { region: source, pitchBytes: widthBytes },
    widthBytes,
    rowCount: 1,
  };
}

export function extentOf(plane: Plane, side: Side): Extent {
  const { widthBytes, rowCount } = plane;
  return { start: 0, widthBytes, pitchBytes: side.pitchBytes, rowCount };
}

export function byteLengthOf(planes: readonly Plane[]): number {
  return planes.reduce((sum, plane) => sum + plane.widthBytes * plane.rowCount, 0);
}

/** Bytes in one storage of a device, or in the host's memory. */
interface Part {
  readonly storage: Storage | "host";
  readonly extent: Extent;
}

/** Throws when the source of one of the planes of a copy shares bytes with a destination. */
export function requirePlanesApart(machine: Machine, planes: readonly Plane[]): void {
  const sources = planes.flatMap((plane) => partsOf(plane, plane.source));
  const targets = planes.flatMap((plane) => partsOf(plane, plane.destination));
  // Most copies are far apart as a whole, so that thousands of slices need no look at each pair.
  const isNear = sources.some(({ storage }) =>
    meet(boundsIn(sources, storage), boundsIn(targets, storage))
  );
  const [first] = planes;
  if (!isNear || first === undefined) return;
  if (!targets.some((target) => sources.some((source) => sharesBytes(source, target)))) return;
  machine.site.fail(
    "overlap",
    `source and destination overlap, ${byteLengthOf(planes)} bytes from ` +
      `${hex(first.source.region.address)} to ${hex(first.destination.region.address)}`,
  );
}

/** Throws when two copies of a batch share bytes and one of them writes those. */
export function requireCopiesApart(
  machine: Machine,
  copies: readonly { destination: bigint; source: bigint; byteLength: bigint }[],
): void {
  const uses = copies.flatMap(({ destination, source, byteLength }, index) => [
    { start: destination, end: destination + byteLength, isWritten: true, index },
    { start: source, end: source + byteLength, isWritten: false, index },
  ]);
  uses.sort((a, b) => a.start < b.start ? -1 : Number(a.start > b.start));
  let reaching: typeof uses = [];
  for (const use of uses) {
    reaching = reaching.filter(({ end }) => end > use.start);
    const met = reaching.find((other) =>
      other.index !== use.index && (other.isWritten || use.isWritten)
    );
    if (met !== undefined) {
      machine.site.fail(
        "overlap",
        `copies ${met.index} and ${use.index} of the batch share bytes at ${hex(use.start)}`,
      );
    }
    reaching.push(use);
  }
}

function partsOf(plane: Plane, side: Side): Part[] {
  const { region } = side;
  const extent = extentOf(plane, side);
  if (region.kind !== "device") {
    return [{ storage: "host", extent: { ...extent, start: region.address + extent.start } }];
  }
  return region.extents(extent).map((part) => ({
    storage: part.segment.storage,
    extent: part.extent,
  }));
}

function boundsIn(parts: readonly Part[], storage: Part["storage"]) {
  const bounds = { start: Infinity, end: -Infinity };
  for (const part of parts) {
    if (part.storage !== storage) continue;
    bounds.start = Math.min(bounds.start, part.extent.start);
    bounds.end = Math.max(bounds.end, endOf(part.extent));
  }
  return bounds;
}

function meet(a: { start: number; end: number }, b: { start: number; end: number }): boolean {
  return a.start < b.end && b.start < a.end;
}

function sharesBytes(a: Part, b: Part): boolean {
  return a.storage === b.storage && overlap(a.extent, b.extent);
}
