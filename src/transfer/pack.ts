// Where many small arrays lie in a page-locked slab, and how few copies then move all of them.
// Arithmetic only: nothing is copied here.

import type { MemorySpan } from "./copy.ts";

/** Where arrays start, as device memory itself does: the GPU reads such places fastest. */
export const PACK_ALIGNMENT_BYTES = 256;

/** One array, and the device memory on its other side. */
export interface PackPiece {
  /** The device's side. */
  readonly span: MemorySpan;
  /** The host's side, of the same size. */
  readonly bytes: Uint8Array<ArrayBufferLike>;
}

/** An array's place in a slab. */
export interface PlacedPiece extends PackPiece {
  /** Where it starts in the slab, in bytes. */
  readonly slabOffset: number;
}

/** Bytes that one copy moves between a slab and the device. */
export interface PackedRun {
  /** The device's side. */
  readonly span: MemorySpan;
  /** Where they start in the slab. */
  readonly slabOffset: number;
}

/** What one slab carries. */
export interface SlabLoad {
  /** The arrays in it. */
  readonly pieces: readonly PlacedPiece[];
  /** The copies, in the order of the arrays. */
  readonly runs: readonly PackedRun[];
}

/** How to pack. */
export interface PackOptions {
  /** Bytes of a slab; no piece has more. */
  readonly slabBytes: number;
  /**
   * Whether a copy may also move the padding between neighbours: always right for reading, and for
   * writing when nothing else lies there.
   */
  readonly takesPadding: boolean;
}

/** Packs pieces into slabs, in their order; neighbours on the device become one copy. */
export function packPieces(pieces: readonly PackPiece[], options: PackOptions): SlabLoad[] {
  const loads: SlabLoad[] = [];
  let placed: PlacedPiece[] = [];
  let end = 0;
  const close = () => {
    if (placed.length > 0) loads.push({ pieces: placed, runs: joinPieces(placed, options) });
    placed = [];
    end = 0;
  };
  for (const piece of pieces) {
    const { byteLength } = piece.span;
    if (byteLength === 0) continue;
    if (placeAfter(placed.at(-1), piece, end) + byteLength > options.slabBytes) close();
    const slabOffset = placeAfter(placed.at(-1), piece, end);
    placed.push({ ...piece, slabOffset });
    end = slabOffset + byteLength;
  }
  close();
  return loads;
}

/** Rounds up to the next place where an array may start. */
export function alignPacked(offset: number): number {
  return Math.ceil(offset / PACK_ALIGNMENT_BYTES) * PACK_ALIGNMENT_BYTES;
}

/** Neighbours on the device keep their distance in the slab, so that one copy can take both. */
function placeAfter(last: PlacedPiece | undefined, piece: PackPiece, end: number): number {
  const padding = last === undefined ? undefined : paddingBetween(last.span, piece.span);
  return padding === undefined ? alignPacked(end) : end + padding;
}

/** Bytes between two neighbours; undefined when they are none. */
function paddingBetween(first: MemorySpan, second: MemorySpan): number | undefined {
  if (first.allocation !== second.allocation) return undefined;
  const padding = Number(second.address - first.address) - first.byteLength;
  return padding >= 0 && padding < PACK_ALIGNMENT_BYTES ? padding : undefined;
}

function joinPieces(pieces: readonly PlacedPiece[], { takesPadding }: PackOptions): PackedRun[] {
  const runs: PackedRun[] = [];
  for (const { span, slabOffset } of pieces) {
    const last = runs.at(-1);
    const padding = last && paddingBetween(last.span, span);
    if (last === undefined || padding === undefined || (padding > 0 && !takesPadding)) {
      runs.push({ span, slabOffset });
      continue;
    }
    const byteLength = last.span.byteLength + padding + span.byteLength;
    runs[runs.length - 1] = { ...last, span: { ...last.span, byteLength } };
  }
  return runs;
}
