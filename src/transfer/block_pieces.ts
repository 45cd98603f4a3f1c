// Cuts one array or a range of a file, and the device memory on its other side, into pieces.

import { PAGE_BYTES } from "../lanes/fresh_pages.ts";
import type { HostBytes } from "../memory/host_memory.ts";
import type { Piece, RingRequest } from "./ring_transfer.ts";

/** The host's side of a transfer: memory at an address, or an open file that is read. */
export type HostSide =
  | { readonly address: bigint; readonly bytes: HostBytes }
  | { readonly fileDescriptor: number; readonly fileOffset: number; readonly path: string };

/** Bytes that follow each other on both sides. */
export interface Block {
  /** Direction of the transfer. */
  readonly direction: "upload" | "download";
  /** Address on the device. */
  readonly deviceAddress: bigint;
  /** The host's side; memory must stay referenced until the transfer is over. */
  readonly host: HostSide;
  /** Number of bytes. */
  readonly byteLength: number;
  /** Whether the host's memory is fresh: nothing has touched it yet. */
  readonly isFresh?: boolean;
}

/** One piece more of so many costs less than it brings. */
const MANY_PIECES = 16;

/** Tells how to cut a block, for a {@link RingRequest}. */
export function cutBlock(block: Block): RingRequest["cut"] {
  return (pieceBytes) => piecesOf(block, pieceBytes);
}

function* piecesOf(block: Block, pieceBytes: number): Generator<Piece, void> {
  for (let offset = 0; offset < block.byteLength;) {
    const largest = offset === 0 ? firstPieceBytes(block, pieceBytes) : pieceBytes;
    const byteLength = Math.min(largest, block.byteLength - offset);
    yield pieceAt(block, { offset, byteLength });
    offset += byteLength;
  }
}

/**
 * Memory is cut where its pages begin: V8's large arrays begin 16 bytes behind that, and copies of bytes
 * that lie across lines of the cache brought an eighth less to two devices. That makes one more piece, so
 * there are to be many. Fresh memory is cut where large pages begin, so that no two lanes clear the same one.
 */
function firstPieceBytes({ host, isFresh, byteLength }: Block, pieceBytes: number): number {
  if (!("address" in host)) return pieceBytes;
  if (isFresh !== true && byteLength < MANY_PIECES * pieceBytes) return pieceBytes;
  const step = isFresh === true ? pieceBytes : Math.min(pieceBytes, PAGE_BYTES);
  return pieceBytes - Number(host.address % BigInt(step));
}

function pieceAt(
  { direction, deviceAddress, host }: Block,
  { offset, byteLength }: { offset: number; byteLength: number },
): Piece {
  const isUpload = direction === "upload";
  const device = deviceAddress + BigInt(offset);
  const copies = (slot: bigint) => [
    isUpload
      ? { destination: device, source: slot, byteLength }
      : { destination: slot, source: device, byteLength },
  ];
  if ("address" in host) {
    const address = host.address + BigInt(offset);
    const bytes = host.bytes.subarray(offset, offset + byteLength);
    return {
      byteLength,
      copies,
      laneTask: (slot) =>
        isUpload
          ? { operation: "copy", direction, bytes, destination: slot, source: address, byteLength }
          : { operation: "copy", direction, bytes, destination: address, source: slot, byteLength },
      laneError: () => new Error(`Cannot copy ${byteLength} bytes: the lane failed`),
    };
  }
  const file = BigInt(host.fileDescriptor);
  const fileOffset = host.fileOffset + offset;
  return {
    byteLength,
    copies,
    laneTask: (slot) => {
      return { operation: "read", destination: slot, source: file, byteLength, fileOffset };
    },
    laneError: () =>
      new Error(
        `Cannot read ${byteLength} bytes at ${fileOffset} of ${host.path}: it ended early or failed`,
      ),
  };
}
