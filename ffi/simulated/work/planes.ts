// The shape of a copy: planes of rows. Contiguous bytes are a plane of one row.

import type { Extent } from "../model/access_history.ts";
import type { Region } from "../model/region.ts";

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
  /** Bytes of one row. */
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

/** Returns the bytes of one side of a plane. */
export function extentOf(plane: Plane, side: Side): Extent {
  const { widthBytes, rowCount } = plane;
  return { start: 0, widthBytes, pitchBytes: side.pitchBytes, rowCount };
}
