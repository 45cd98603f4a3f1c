// Moves bytes between files and device memory: large ones by many lanes through page-locked slots,
// straight from the page cache; small ones by one read and one copy.

import { checkRoute, type MemorySpan } from "../copies/copy.ts";
import type { DiskFile } from "../disk/disk_file.ts";
import { factsOf } from "../disk/file_facts.ts";
import type { FilePath } from "../disk/file_path.ts";
import type { Lending } from "../lanes/copy_lanes.ts";
import { requireUnrecorded } from "../memory/captured_memory.ts";
import type { CudaStream } from "../order/stream.ts";
import { checkSize } from "../words/format.ts";
import { cutBlock } from "./block_pieces.ts";
import { engineOf } from "./context_engine.ts";
import { gatherInto } from "./gathered_transfer.ts";
import { noteTransfer, transfer } from "./host_transfer.ts";
import { PendingTransfer, type TransferOptions } from "./pending_transfer.ts";
import { produceFile, type WritingOptions } from "./produce_file.ts";
import { RingMover } from "./ring_mover.ts";
import type { RingRequest } from "./ring_transfer.ts";
import { wayForFile } from "./ways.ts";

/** Device memory and the part of an open file that goes into it. */
export interface FileTransfer extends TransferOptions {
  /** The device's side. */
  readonly span: MemorySpan;
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
  /** The open file; it stays open until the transfer is over. */
  readonly file: DiskFile;
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

/**
 * Fills new device memory, which only the caller knows, from an open file. The transfer is in no
 * stream's order, because later work of a stream could otherwise wait forever for the file.
 */
export async function uploadFrom(task: FileTransfer): Promise<void> {
  const { file, fileOffset, span } = task;
  if (span.byteLength === 0) return;
  try {
    await (wayForFile(span.byteLength) === "ring" ? throughRing(task) : uploadSmall(task));
  } catch (error) {
    const { byteLength } = factsOf(file.descriptor, file.path);
    if (task.signal?.aborted || byteLength >= fileOffset + span.byteLength) throw error;
    throw new RangeError(
      `Cannot read ${span.byteLength} bytes at ${fileOffset} of ${file.path}: it shrank to ` +
        `${byteLength} meanwhile`,
      { cause: error },
    );
  }
}

async function uploadSmall(task: FileTransfer): Promise<void> {
  const { file, fileOffset, span, signal } = task;
  signal?.throwIfAborted();
  const memory = new Uint8Array(span.byteLength);
  await file.read(memory, fileOffset);
  await transfer({ ...task, direction: "upload", host: { memory }, isPlaced: true });
}

async function throughRing(task: FileTransfer): Promise<void> {
  const { span, file, fileOffset } = task;
  const { address: deviceAddress, byteLength } = span;
  const sides = { direction: "upload", deviceAddress, host: { file } } as const;
  const cut = cutBlock({ ...sides, hostOffset: fileOffset, byteLength });
  await readThroughRing({ ...task, spans: [span] }, { cut, canLend: true, files: [file] });
}

/** The pieces by which memory is filled from files, and the files that they are read from. */
export interface FileReads extends Pick<RingRequest, "cut">, Lending {
  /** The open files. */
  readonly files: readonly DiskFile[];
}

/** Fills device memory with pieces of open files, through the ring. */
export async function readThroughRing(
  { spans, stream, onProgress, signal }:
    & Pick<FileTransfer, "stream" | "onProgress" | "signal">
    & { readonly spans: readonly MemorySpan[] },
  { cut, canLend, files }: FileReads,
): Promise<void> {
  const byteLength = spans.reduce((sum, span) => sum + span.byteLength, 0);
  signal?.throwIfAborted();
  const direction = "upload";
  const keepOpen = () => {
    const held = files.map((file) => file.hold());
    return () => held.forEach((letGo) => letGo());
  };
  const ring = { direction, byteLength, cut, keepOpen } as const;
  await new PendingTransfer({
    stream,
    uses: spans.map((span) => ({ ...span, access: "write" })),
    arrays: [],
    byteLength,
    action: "read a file",
    isPlaced: true,
    onProgress,
    signal,
    start: (entry) => {
      const engine = engineOf(stream.context);
      engine.anticipate(byteLength, { canLend });
      for (const span of spans) noteTransfer({ direction, span, stream });
      return new RingMover(engine, ring, entry);
    },
  }).promise;
}
