// Moves bytes between files and device memory: large ones by many lanes through page-locked slots,
// straight from the page cache; small ones by one read and one copy.

import { checkRoute, type MemorySpan } from "../copies/copy.ts";
import type { DiskFile } from "../disk/disk_file.ts";
import { factsOf } from "../disk/file_facts.ts";
import type { FilePath } from "../disk/file_path.ts";
import { requireUnrecorded } from "../memory/captured_memory.ts";
import type { CudaStream } from "../order/stream.ts";
import { checkSize, visibleText } from "../words/format.ts";
import { gatherInto, placedPlan } from "./gathered_transfer.ts";
import { noteTransfer, transfer } from "./host_transfer.ts";
import { PendingTransfer, type TransferOptions } from "./pending_transfer.ts";
import { isOneRun, oneRow, type Rows } from "./pieces.ts";
import { produceFile, type WritingOptions } from "./produce_file.ts";
import { MIN_FILE_RING_BYTES } from "./ways.ts";

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

/** Device memory and the part of an open file that goes into it. */
export interface FileTransfer
  extends Omit<FileSection, "rows">, Omit<SectionsTransfer, "sections"> {
  /** Offset in the file, in bytes. */
  readonly fileOffset: number;
}

/** Device memory and the file on its other side. */
export interface FileRequest extends TransferOptions, WritingOptions {
  /** The device's side. */
  readonly span: MemorySpan;
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
  /** Path of the file. */
  readonly path: FilePath;
  /** Offset in the file, in bytes. */
  readonly fileOffset?: number | undefined;
}

/**
 * Writes device memory into a file, with its contents after all earlier calls; keeps the memory
 * meanwhile. See {@link produceFile} for the file after a failure.
 */
export async function writeFileFrom(request: FileRequest): Promise<void> {
  const { span, stream, onProgress, signal } = request;
  const fileOffset = checkSize(request.fileOffset ?? 0, "file offset");
  checkDownload(span, stream);
  const uses = [{ ...span, access: "read", stream } as const];
  await produceFile({ ...request, byteLength: span.byteLength, uses }, (file) => {
    return gatherInto({ parts: [{ span, fileOffset }], stream, file, onProgress, signal });
  });
}

/**
 * Checks that memory can be written into a file, before the file is touched.
 *
 * @throws DisposedError when the memory or the stream was disposed.
 * @throws TypeError when the stream belongs to another device or is being captured, and for memory
 *   that a graph has not allocated yet.
 */
export function checkDownload({ allocation, byteLength }: MemorySpan, stream: CudaStream): void {
  checkRoute({ destination: allocation, source: allocation, stream });
  if (byteLength === 0) return;
  requireUnrecorded(allocation, stream, "write a file");
  allocation.checkUse("read");
}

/** Fills new device memory, which only the caller knows, with a part of an open file. */
export async function uploadFrom({ span, file, fileOffset, ...task }: FileTransfer): Promise<void> {
  const rows = oneRow(span.byteLength, fileOffset);
  await uploadSections({ ...task, sections: [{ span, file, rows }] });
}

/**
 * Fills new device memory, which only the caller knows, with sections of open files, as one transfer: a
 * model's tensors are mostly too small for transfers of their own, each of which begins and ends with a
 * ring that has nothing to do. The transfer is in no stream's order, because later work of a stream
 * could otherwise wait forever for the files.
 */
export async function uploadSections(task: SectionsTransfer): Promise<void> {
  const sections = task.sections.filter(({ span }) => span.byteLength > 0);
  const [first, ...others] = sections;
  if (first === undefined) return;
  const isSmall = others.length === 0 && isOneRun(first.rows) &&
    first.span.byteLength < MIN_FILE_RING_BYTES;
  try {
    await (isSmall ? uploadSmall(first, task) : uploadThroughRing({ ...task, sections }));
  } catch (error) {
    if (task.signal?.aborted !== true) { for (const each of sections) requireWhole(each, error); }
    throw error;
  }
}

/** Says that a file is shorter than a section, where it is. */
function requireWhole({ span, file, rows }: FileSection, cause: unknown): void {
  const { offset, rowCount, pitch, rowBytes } = rows;
  const end = offset + (rowCount - 1) * pitch + rowBytes;
  const { byteLength } = factsOf(file.descriptor, file.path);
  if (byteLength >= end) return;
  const place = isOneRun(rows) ? `at ${offset}` : `up to ${end}`;
  throw new RangeError(
    `Cannot read ${span.byteLength} bytes ${place} of ${visibleText(file.path)}: it shrank to ` +
      `${byteLength} meanwhile`,
    { cause },
  );
}

async function uploadSmall(
  { span, file, rows }: FileSection,
  { stream, onProgress, signal }: SectionsTransfer,
): Promise<void> {
  signal?.throwIfAborted();
  const memory = new Uint8Array(span.byteLength);
  await file.read(memory, rows.offset);
  const options = { stream, onProgress, signal, isPlaced: true };
  await transfer({ ...options, span, direction: "upload", host: { memory } });
}

async function uploadThroughRing(
  { sections, stream, onProgress, signal }: SectionsTransfer,
): Promise<void> {
  signal?.throwIfAborted();
  const direction = "upload";
  const canLend = sections.every(({ rows }) => isOneRun(rows)); // other rows are not lent
  const ring = {
    direction,
    sections: sections.map(({ file, ...section }) => ({ ...section, host: { file } })),
    canLend,
  } as const;
  await new PendingTransfer({
    ...placedPlan(direction, sections, { stream, onProgress, signal }),
    steps: () => {
      for (const { span } of sections) noteTransfer({ direction, span, stream });
      return [{ begin: () => ring }];
    },
  }).promise;
}
