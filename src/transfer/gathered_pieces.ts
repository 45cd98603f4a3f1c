// Cuts a range of a file into pieces whose bytes lie in many places of a device: several copies fill
// a slot, which then goes to the file in one write.

import type { MemorySpan } from "../copies/copy.ts";
import type { ByteCopy } from "../copies/copy_many.ts";
import type { Piece, RingRequest } from "./ring_transfer.ts";
import { visibleText } from "../words/format.ts";

/** Device memory and its place in a file. */
export interface FilePart {
  /** The device's side. */
  readonly span: MemorySpan;
  /** Offset in the file. */
  readonly fileOffset: number;
}

/** The open file that pieces are written into. */
export interface GatherTarget {
  /** The C library's descriptor. */
  readonly descriptor: number;
  /** Path of the file, for errors. */
  readonly path: string;
}

/** Number of copies queued in 4 milliseconds; then others have their turn. */
const MOST_COPIES = 1024;

/** Tells how to cut parts, given in the order of the file, for a {@link RingRequest}. */
export function cutGathered(parts: readonly FilePart[], target: GatherTarget): RingRequest["cut"] {
  return (pieceBytes) => piecesOf(parts, { ...target, pieceBytes });
}

function* piecesOf(
  parts: readonly FilePart[],
  { pieceBytes, ...target }: GatherTarget & { readonly pieceBytes: number },
): Generator<Piece, void> {
  let load: OpenLoad | undefined;
  for (const part of parts) {
    for (let taken = 0; taken < part.span.byteLength;) {
      if (load !== undefined && !load.takes(part, taken)) {
        yield load.close(target);
        load = undefined;
      }
      load ??= new OpenLoad(part.fileOffset + taken, pieceBytes);
      taken += load.add(part.span, taken);
    }
  }
  if (load !== undefined) yield load.close(target);
}

/** The load of one slot: contiguous bytes of the file. */
class OpenLoad {
  readonly #fileOffset: number;
  readonly #mostBytes: number;
  /** The copies, with the place in the slot for a destination. */
  readonly #copies: ByteCopy[] = [];
  #last: MemorySpan["allocation"] | undefined;
  #byteLength = 0;

  constructor(fileOffset: number, mostBytes: number) {
    this.#fileOffset = fileOffset;
    this.#mostBytes = mostBytes;
  }

  /** Returns whether a part can continue here from its byte `taken`. */
  takes({ fileOffset }: FilePart, taken: number): boolean {
    return this.#byteLength < this.#mostBytes && this.#copies.length < MOST_COPIES &&
      this.#fileOffset + this.#byteLength === fileOffset + taken;
  }

  /** Adds as much of a span from `from` on as there is room for, and returns the number of bytes. */
  add({ allocation, address, byteLength: whole }: MemorySpan, from: number): number {
    const byteLength = Math.min(whole - from, this.#mostBytes - this.#byteLength);
    const source = address + BigInt(from);
    const last = this.#copies.at(-1);
    if (this.#last === allocation && last !== undefined && endOf(last) === source) {
      this.#copies[this.#copies.length - 1] = { ...last, byteLength: last.byteLength + byteLength };
    } else {
      this.#copies.push({ destination: BigInt(this.#byteLength), source, byteLength });
    }
    this.#last = allocation;
    this.#byteLength += byteLength;
    return byteLength;
  }

  /** Returns the finished piece. */
  close({ descriptor, path }: GatherTarget): Piece {
    const byteLength = this.#byteLength;
    const fileOffset = this.#fileOffset;
    const copies = this.#copies;
    return {
      byteLength,
      copies: (slot) =>
        copies.map(({ destination, ...copy }) => ({ ...copy, destination: slot + destination })),
      laneTask: (slot) => ({
        operation: "write",
        destination: BigInt(descriptor),
        source: slot,
        byteLength,
        fileOffset,
      }),
      laneError: () =>
        new Error(
          `Cannot write ${byteLength} bytes at ${fileOffset} of ${
            visibleText(path)
          }: the disk is full or failed`,
        ),
    };
  }
}

function endOf({ source, byteLength }: ByteCopy): bigint {
  return source + BigInt(byteLength);
}
