// Cuts one array or a range of a file, and the device memory on its other side, into pieces.

import type { DiskFile } from "../disk/disk_file.ts";
import { PAGE_BYTES } from "../lanes/fresh_pages.ts";
import type { HostBytes } from "../memory/host_memory.ts";
import type { Piece, RingRequest } from "./ring_transfer.ts";
import { visibleText } from "../words/format.ts";

/** The host's side of a piece: memory at an address, or an open file that is read. */
export type PieceSide =
  | { readonly address: bigint; readonly bytes: HostBytes }
  | { readonly file: Pick<DiskFile, "descriptor" | "path"> };

/** The two sides of pieces. */
export interface PieceSides {
  /** Direction of the transfer. */
  readonly direction: "upload" | "download";
  /** Address on the device. */
  readonly deviceAddress: bigint;
  /** The host's side; memory must stay referenced until the transfer is over. */
  readonly host: PieceSide;
}

/** Bytes that follow each other on both sides. */
export interface Run extends PieceSides {
  /** Offset on the host's side at which they begin; 0 when left out. */
  readonly hostOffset?: number;
  /** Number of bytes. */
  readonly byteLength: number;
  /** Whether the host's memory is fresh: nothing has touched it yet. */
  readonly isFresh?: boolean;
}

/** The place of a piece on both sides. */
export interface PiecePlace {
  /** Offset on the device. */
  readonly deviceOffset: number;
  /** Offset on the host. */
  readonly hostOffset: number;
  /** Number of bytes. */
  readonly byteLength: number;
}

/** From so many pieces on, one more costs less than it brings. */
const MANY_PIECES = 16;

/** Tells how to cut a run, for a {@link RingRequest}. */
export function cutRun(run: Run): RingRequest["cut"] {
  return (pieceBytes) => piecesOf(run, pieceBytes);
}

function* piecesOf(run: Run, pieceBytes: number): Generator<Piece, void> {
  const { hostOffset = 0 } = run;
  for (let offset = 0; offset < run.byteLength;) {
    const largest = offset === 0 ? firstPieceBytes(run, pieceBytes) : pieceBytes;
    const byteLength = Math.min(largest, run.byteLength - offset);
    yield pieceAt(run, { deviceOffset: offset, hostOffset: hostOffset + offset, byteLength });
    offset += byteLength;
  }
}

/**
 * Memory is cut where its pages begin: V8's large arrays begin 16 bytes behind that, and copies of bytes
 * that lie across lines of the cache brought an eighth less to two devices. That makes one more piece, so
 * there are to be many. Fresh memory is cut where large pages begin, so that no two lanes clear the same one.
 */
function firstPieceBytes({ host, isFresh, byteLength }: Run, pieceBytes: number): number {
  if (!("address" in host)) return pieceBytes;
  if (isFresh !== true && byteLength < MANY_PIECES * pieceBytes) return pieceBytes;
  const step = isFresh === true ? pieceBytes : Math.min(pieceBytes, PAGE_BYTES);
  return pieceBytes - Number(host.address % BigInt(step));
}

/** Makes the piece for bytes that follow each other on both sides. */
export function pieceAt(sides: PieceSides, place: PiecePlace): Piece {
  const { direction, host } = sides;
  const { hostOffset, byteLength } = place;
  const copies = copiesAt(sides, place);
  if ("file" in host) {
    const { descriptor, path } = host.file;
    const source = BigInt(descriptor);
    return {
      byteLength,
      copies,
      laneTask: (slot) => ({
        operation: "read",
        destination: slot,
        source,
        byteLength,
        fileOffset: hostOffset,
      }),
      laneError: () =>
        new Error(
          `Cannot read ${byteLength} bytes at ${hostOffset} of ${
            visibleText(path)
          }: it ended early or failed`,
        ),
    };
  }
  const address = host.address + BigInt(hostOffset);
  const bytes = host.bytes.subarray(hostOffset, hostOffset + byteLength);
  return {
    byteLength,
    copies,
    laneTask: (slot) =>
      direction === "upload"
        ? { operation: "copy", direction, bytes, destination: slot, source: address, byteLength }
        : { operation: "copy", direction, bytes, destination: address, source: slot, byteLength },
    laneError: () => new Error(`Cannot copy ${byteLength} bytes: the lane failed`),
  };
}

/** Makes the copy between a slot and the place of a piece on the device. */
export function copiesAt(
  { direction, deviceAddress }: PieceSides,
  { deviceOffset, byteLength }: Pick<PiecePlace, "deviceOffset" | "byteLength">,
): Piece["copies"] {
  const device = deviceAddress + BigInt(deviceOffset);
  return direction === "upload"
    ? (slot) => [{ destination: device, source: slot, byteLength }]
    : (slot) => [{ destination: slot, source: device, byteLength }];
}
