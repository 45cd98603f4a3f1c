// Cuts a part of an array or of a file whose bytes lie there in rows, and side by side on the device,
// into pieces: a lane packs the rows of a slot, or takes them apart.

import type { DiskFile } from "../disk/disk_file.ts";
import type { Piece, RingRequest } from "./ring_transfer.ts";
import { copiesAt, pieceAt, type PieceSides } from "./run_pieces.ts";
import { visibleText } from "../words/format.ts";

/** Rows of equal size at equal distances. */
export interface Rows {
  /** Bytes before the first row. */
  readonly offset: number;
  /** Bytes of one row. */
  readonly rowBytes: number;
  /** Bytes from the start of a row to the next. */
  readonly pitch: number;
  /** Number of rows. */
  readonly rowCount: number;
}

/** Rows, and the device memory on their other side. */
export interface RowSides extends PieceSides {
  /** The rows on the host's side. */
  readonly rows: Rows;
}

/** Some whole rows, or a part of one. */
interface RowRun {
  /** Offset on the device. */
  readonly deviceOffset: number;
  /** Offset on the host. */
  readonly hostOffset: number;
  readonly rowBytes: number;
  readonly rowCount: number;
}

/** Returns the number of bytes of rows. */
export function bytesOfRows({ rowBytes, rowCount }: Rows): number {
  return rowBytes * rowCount;
}

/** Returns whether rows are one run of bytes. */
export function isOneRun({ rowBytes, pitch, rowCount }: Rows): boolean {
  return rowCount <= 1 || rowBytes === pitch;
}

/** Tells how to cut rows, for a {@link RingRequest}. */
export function cutRows(sides: RowSides): RingRequest["cut"] {
  return (pieceBytes) => piecesOf(sides, pieceBytes);
}

function* piecesOf(sides: RowSides, pieceBytes: number): Generator<Piece, void> {
  for (const run of runsOf(sides.rows, pieceBytes)) yield pieceOf(sides, run);
}

function* runsOf(
  { offset, rowBytes, pitch, rowCount }: Rows,
  most: number,
): Generator<RowRun, void> {
  const rowsAtOnce = Math.floor(most / rowBytes);
  for (let row = 0; row < rowCount;) {
    const hostOffset = offset + row * pitch;
    const deviceOffset = row * rowBytes;
    if (rowsAtOnce > 0) {
      const count = Math.min(rowsAtOnce, rowCount - row);
      yield { deviceOffset, hostOffset, rowBytes, rowCount: count };
      row += count;
      continue;
    }
    for (let from = 0; from < rowBytes; from += most) {
      yield {
        deviceOffset: deviceOffset + from,
        hostOffset: hostOffset + from,
        rowBytes: Math.min(most, rowBytes - from),
        rowCount: 1,
      };
    }
    row++;
  }
}

function pieceOf(sides: RowSides, run: RowRun): Piece {
  const { host, rows: { pitch } } = sides;
  const { deviceOffset, hostOffset, rowBytes, rowCount } = run;
  const byteLength = rowBytes * rowCount;
  if (rowCount === 1) return pieceAt(sides, { deviceOffset, hostOffset, byteLength });
  const copies = copiesAt(sides, { deviceOffset, byteLength });
  const rows = { offset: hostOffset, rowBytes, pitch, rowCount };
  const work = "file" in host
    ? readingOf(host.file, rows)
    : packingOf(host.address, rows, sides.direction);
  return { byteLength, copies, ...work };
}

/** The work of a lane on the host's side of a piece. */
type LaneWork = Pick<Piece, "laneTask" | "laneError">;

/** Reads rows of a file into a slot. */
function readingOf(
  { descriptor, path }: Pick<DiskFile, "descriptor" | "path">,
  { offset, rowBytes, pitch, rowCount }: Rows,
): LaneWork {
  const source = BigInt(descriptor);
  const byteLength = rowBytes * rowCount;
  return {
    laneTask: (slot) => ({
      operation: "readRows",
      destination: slot,
      source,
      byteLength,
      fileOffset: offset,
      rowBytes,
      sourcePitch: pitch,
    }),
    laneError: () =>
      new Error(
        `Cannot read ${rowCount} rows of ${rowBytes} bytes from ${offset} of ${
          visibleText(path)
        } on: it ended ` +
          `early or failed`,
      ),
  };
}

/** Packs rows of an array into a slot, or takes them apart. */
function packingOf(
  start: bigint,
  { offset, rowBytes, pitch, rowCount }: Rows,
  direction: RowSides["direction"],
): LaneWork {
  const rows = start + BigInt(offset);
  const task = { operation: "copyRows", byteLength: rowBytes * rowCount, rowBytes } as const;
  const [sourcePitch, destinationPitch] = direction === "upload"
    ? [pitch, rowBytes]
    : [rowBytes, pitch];
  return {
    laneTask(slot) {
      const [source, destination] = direction === "upload" ? [rows, slot] : [slot, rows];
      return { ...task, source, destination, sourcePitch, destinationPitch };
    },
    laneError: () => new Error(`Cannot copy ${rowCount} rows: the lane failed`),
  };
}
