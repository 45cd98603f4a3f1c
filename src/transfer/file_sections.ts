// Moves sections of open files into the memory of one device as one transfer: a model's tensors are mostly
// too small for transfers of their own, each of which begins and ends with a ring that has nothing to do.

import type { MemorySpan } from "../copies/copy.ts";
import type { DiskFile } from "../disk/disk_file.ts";
import { factsOf } from "../disk/file_facts.ts";
import type { CudaStream } from "../order/stream.ts";
import { cutBlock } from "./block_pieces.ts";
import { readThroughRing, uploadFrom } from "./file_transfer.ts";
import type { TransferOptions } from "./pending_transfer.ts";
import type { Piece, RingRequest } from "./ring_transfer.ts";
import { cutRows, isOneRun, type Rows } from "./row_pieces.ts";
import { wayForFile } from "./ways.ts";

/** Device memory, and the bytes of an open file that fill it. */
export interface FileSection {
  /** The device's side. */
  readonly span: MemorySpan;
  /** The open file; it stays open until the transfer is over. */
  readonly file: DiskFile;
  /** The bytes in the file: one run of them, or rows, which lie side by side on the device. */
  readonly rows: Rows;
}

/** Sections of files, and the device that they fill. */
export interface SectionsTransfer extends TransferOptions {
  /** The sections, all of one device. */
  readonly sections: readonly FileSection[];
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
}

/** Fills new device memory, which only the caller knows, with sections of open files. */
export async function uploadSections(task: SectionsTransfer): Promise<void> {
  const sections = task.sections.filter(({ span }) => span.byteLength > 0);
  const [first] = sections;
  if (first === undefined) return;
  const { span, file, rows } = first;
  if (sections.length === 1 && isOneRun(rows) && wayForFile(span.byteLength) !== "ring") {
    return await uploadFrom({ ...task, span, file, fileOffset: rows.offset });
  }
  const reads = {
    cut: cutSections(sections),
    files: [...new Set(sections.map(({ file }) => file))],
    canLend: sections.every(({ rows }) => isOneRun(rows)), // other rows are not lent
  };
  try {
    await readThroughRing({ ...task, spans: sections.map(({ span }) => span) }, reads);
  } catch (error) {
    if (task.signal?.aborted !== true) { for (const each of sections) requireWhole(each, error); }
    throw error;
  }
}

/** Says that a file is shorter than a section, where it is. */
function requireWhole({ span, file, rows }: FileSection, cause: unknown): void {
  const end = rows.offset + (rows.rowCount - 1) * rows.pitch + rows.rowBytes;
  const { byteLength } = factsOf(file.descriptor, file.path);
  if (byteLength >= end) return;
  throw new RangeError(
    `Cannot read ${span.byteLength} bytes up to ${end} of ${file.path}: it shrank to ${byteLength} ` +
      `meanwhile`,
    { cause },
  );
}

/** Tells how to cut sections, one after the other. */
function cutSections(sections: readonly FileSection[]): RingRequest["cut"] {
  return (pieceBytes) => piecesOf(sections, pieceBytes);
}

function* piecesOf(sections: readonly FileSection[], pieceBytes: number): Generator<Piece, void> {
  for (const section of sections) {
    const pieces = cutOf(section)(pieceBytes);
    for (let next = pieces.next(); next.done !== true; next = pieces.next()) yield next.value;
  }
}

function cutOf({ span, file, rows }: FileSection): RingRequest["cut"] {
  const { address: deviceAddress, byteLength } = span;
  const sides = { direction: "upload", deviceAddress, host: { file } } as const;
  if (!isOneRun(rows)) return cutRows({ ...sides, rows });
  return cutBlock({ ...sides, hostOffset: rows.offset, byteLength });
}
