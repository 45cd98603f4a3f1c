// Moves bytes between files and device memory: large ones by many lanes through page-locked slots,
// straight from the page cache; small ones by one read and one copy.

import type { CudaStream } from "../stream.ts";
import { checkRoute, type MemorySpan } from "./copy.ts";
import { checkSize } from "../format.ts";
import type { DiskFile } from "./disk_file.ts";
import { factsOf } from "./file_facts.ts";
import type { FilePath } from "./file_path.ts";
import { produceFile, type WritingOptions } from "./produce_file.ts";
import { cutBlock } from "./block_pieces.ts";
import { TransferEngine } from "./engine.ts";
import { noteTransfer, orderTransfer, transfer, type TransferOptions } from "./host_transfer.ts";
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
export interface FileRequest extends TransferOptions, WritingOptions {
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
 * Writes device memory into a file, and holds it meanwhile; see {@link produceFile} for what is there
 * when it fails.
 */
export async function writeFileFrom(request: FileRequest): Promise<void> {
  const { path, span, stream, offset, inPlace, sync, signal } = request;
  const fileOffset = checkSize(offset ?? 0, "file offset");
  using _hold = holdForDownload(span, stream);
  await produceFile(
    { path, offset, byteLength: span.byteLength, inPlace, sync, signal },
    (file) => downloadInto({ ...request, file, fileOffset }),
  );
}

/**
 * Checks that memory can be written into a file, and holds it. Opening the file takes a while, so
 * this comes first: the memory may be disposed meanwhile, and what fails here costs no file.
 *
 * @throws DisposedError when the memory or the stream was disposed.
 * @throws TypeError when the stream belongs to another device or is being captured, and for memory
 *   that a graph has not brought yet.
 */
export function holdForDownload(span: MemorySpan, stream: CudaStream): Disposable {
  const { allocation, byteLength } = span;
  checkRoute({ destination: allocation, source: allocation, stream });
  if (byteLength > 0) orderTransfer({ direction: "download", span, stream });
  return allocation.hold();
}

/** Fills device memory from an open file, and holds it from the call on. */
export async function uploadFrom(task: FileTransfer): Promise<void> {
  const { file, fileOffset, span } = task;
  using _hold = span.allocation.hold();
  try {
    await move("upload", task, async () => {
      const bytes = new Uint8Array(span.byteLength);
      await file.read(bytes, fileOffset);
      await transfer({ ...task, direction: "upload", bytes });
    });
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

/**
 * Writes device memory into an open file; the caller holds it, see {@link holdForDownload}. The
 * stream may be gone since then: the default one comes after its work.
 */
export async function downloadInto(request: FileTransfer): Promise<void> {
  const { file, fileOffset, span } = request;
  const task = { ...request, stream: request.stream.orDefault() };
  await move("download", task, async () => {
    const bytes = new Uint8Array(span.byteLength);
    const { onProgress, ...rest } = task;
    await transfer({ ...rest, direction: "download", bytes });
    await file.write(bytes, fileOffset);
    onProgress?.(bytes.byteLength, bytes.byteLength);
  });
}

/** Takes the ring for what is large. */
async function move(
  direction: "upload" | "download",
  task: FileTransfer,
  moveSmall: () => Promise<void>,
): Promise<void> {
  const { span, stream, file, fileOffset, onProgress, signal } = task;
  const { byteLength } = span;
  signal?.throwIfAborted();
  if (byteLength === 0) return;
  if (wayForFile(byteLength) !== "ring") return await moveSmall();
  noteTransfer({ direction, span, stream });
  orderTransfer({ direction, span, stream });
  const engine = TransferEngine.of(stream.context);
  engine.anticipate(byteLength, { canLend: true });
  const host = { fileDescriptor: file.descriptor, fileOffset, path: file.path };
  const cut = cutBlock({ direction, deviceAddress: span.address, host, byteLength });
  await engine.run({ direction, stream, byteLength, cut, onProgress, signal });
}
