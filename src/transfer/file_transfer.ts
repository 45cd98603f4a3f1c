// Moves bytes between files and device memory: large ones by many lanes through page-locked slots,
// straight from the page cache; small ones by one read and one copy.

import { checkSize } from "../format.ts";
import { requireUnrecorded } from "../memory/captured_memory.ts";
import type { CudaStream } from "../stream.ts";
import { ArrayMover } from "./array_mover.ts";
import { cutBlock } from "./block_pieces.ts";
import { checkRoute, type MemorySpan } from "./copy.ts";
import type { DiskFile, FilePath } from "./disk_file.ts";
import { TransferEngine } from "./engine.ts";
import { noteTransfer, transfer } from "./host_transfer.ts";
import { PendingTransfer, PlacedWork, type TransferOptions } from "./pending_transfer.ts";
import { produceFile } from "./produce_file.ts";
import { RingMover } from "./ring_mover.ts";
import { wayForFile } from "./ways.ts";

/** Device memory and the part of an open file that goes into it, or comes out of it. */
export interface FileTransfer extends TransferOptions {
  /** The device's side. */
  readonly span: MemorySpan;
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
  /** The open file; it stays open until the transfer is over. */
  readonly file: DiskFile;
  /** Where in the file. */
  readonly fileOffset: number;
}

/** Device memory and the file on its other side. */
export interface FileRequest extends TransferOptions {
  /** The device's side. */
  readonly span: MemorySpan;
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
  /** Where the file lies. */
  readonly path: FilePath;
  /** Where in the file. */
  readonly offset?: number | undefined;
}

/**
 * Writes device memory into a file, as it is when all that was called before is done; holds it
 * meanwhile. What cannot be written leaves the file as it was; see {@link produceFile} for what a
 * later failure leaves.
 */
export async function writeFileFrom(request: FileRequest): Promise<void> {
  const { path, span, stream, offset, signal } = request;
  const fileOffset = checkSize(offset ?? 0, "file offset");
  checkDownload(span, stream);
  const target = { path, offset, byteLength: span.byteLength, signal };
  await new PlacedWork([{ ...span, access: "read", stream }], async () => {
    await produceFile(target, (file) => downloadInto({ ...request, file, fileOffset }));
  }).promise;
}

/**
 * Checks that memory can be written into a file: what fails here costs no file.
 *
 * @throws DisposedError when the memory or the stream was disposed.
 * @throws TypeError when the stream belongs to another device or is being captured, and for memory
 *   that a graph has not brought yet.
 */
export function checkDownload({ allocation, byteLength }: MemorySpan, stream: CudaStream): void {
  checkRoute({ destination: allocation, source: allocation, stream });
  if (byteLength === 0) return;
  requireUnrecorded(allocation, stream, "write a file");
  allocation.checkUse("read");
}

/** Fills device memory from an open file, and holds it from the call on. */
export async function uploadFrom(task: FileTransfer): Promise<void> {
  const { file, fileOffset, span } = task;
  if (span.byteLength === 0) return;
  try {
    await (wayForFile(span.byteLength) === "ring"
      ? throughRing("upload", task)
      : uploadSmall(task));
  } catch (error) {
    const byteLength = await currentSize(file);
    if (task.signal?.aborted || byteLength >= fileOffset + span.byteLength) throw error;
    throw new RangeError(
      `Cannot read ${span.byteLength} bytes at ${fileOffset} of ${file.path}: it shrank to ` +
        `${byteLength} meanwhile`,
      { cause: error },
    );
  }
}

/**
 * Writes device memory into an open file. Work under way has its place in the order and holds the
 * memory. The stream may be gone since then: the default one comes after its work.
 */
export async function downloadInto(request: FileTransfer): Promise<void> {
  const task = { ...request, stream: request.stream.orDefault() };
  const { byteLength } = task.span;
  if (byteLength === 0) return;
  await (wayForFile(byteLength) === "ring" ? throughRing("download", task) : downloadSmall(task));
}

async function uploadSmall(task: FileTransfer): Promise<void> {
  const { file, fileOffset, span, signal } = task;
  signal?.throwIfAborted();
  const memory = new Uint8Array(span.byteLength);
  await file.read(memory, fileOffset);
  await transfer({ ...task, direction: "upload", host: { memory } });
}

async function downloadSmall(task: FileTransfer): Promise<void> {
  const { stream, span, file, fileOffset, onProgress, signal } = task;
  const { byteLength } = span;
  const bytes = new Uint8Array(byteLength);
  await new PendingTransfer({
    stream,
    uses: [{ ...span, access: "read" }],
    arrays: [],
    byteLength,
    action: "write a file",
    isPlaced: true,
    signal,
    start: (entry) => {
      noteTransfer({ direction: "download", span, stream });
      return new ArrayMover({ direction: "download", span, bytes }, entry);
    },
  }).promise;
  await file.write(bytes, fileOffset);
  onProgress?.(byteLength, byteLength);
}

async function throughRing(direction: "upload" | "download", task: FileTransfer): Promise<void> {
  const { span, stream, file, fileOffset, onProgress, signal } = task;
  const { byteLength } = span;
  signal?.throwIfAborted();
  const host = { fileDescriptor: file.descriptor, fileOffset };
  const cut = cutBlock({ direction, deviceAddress: span.address, host, byteLength });
  const isUpload = direction === "upload";
  await new PendingTransfer({
    stream,
    uses: [{ ...span, access: isUpload ? "write" : "read" }],
    arrays: [],
    byteLength,
    action: isUpload ? "read a file" : "write a file",
    isPlaced: !isUpload,
    onProgress,
    signal,
    start: (entry) => {
      const engine = TransferEngine.of(stream.context);
      engine.anticipate(byteLength, { canLend: true });
      noteTransfer({ direction, span, stream });
      return new RingMover(
        engine,
        { direction, byteLength, cut, keepOpen: () => file.hold() },
        entry,
      );
    },
  }).promise;
}

/** The file's size by its path; Infinity when that cannot be told any more. */
async function currentSize({ path }: DiskFile): Promise<number> {
  try {
    return (await Deno.stat(path)).size;
  } catch {
    return Infinity;
  }
}
