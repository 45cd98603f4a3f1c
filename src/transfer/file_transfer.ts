// Moves bytes between files and device memory: large ones by many lanes through page-locked slots,
// straight from the page cache; small ones by one read and one copy.

import type { CudaStream } from "../stream.ts";
import type { MemorySpan } from "./copy.ts";
import { checkSize } from "../format.ts";
import type { DiskFile, FilePath } from "./disk_file.ts";
import { produceFile } from "./produce_file.ts";
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

/** Writes device memory into a file; see {@link produceFile} for what a failure leaves. */
export async function writeFileFrom(request: FileRequest): Promise<void> {
  const { path, span, offset } = request;
  const fileOffset = checkSize(offset ?? 0, "file offset");
  await produceFile(
    { path, offset, byteLength: span.byteLength },
    (file) => downloadInto({ ...request, file, fileOffset }),
  );
}

/** Fills device memory from an open file. */
export async function uploadFrom(task: FileTransfer): Promise<void> {
  const { file, fileOffset, span } = task;
  try {
    await move("upload", task, async () => {
      const bytes = new Uint8Array(span.byteLength);
      await file.read(bytes, fileOffset);
      await transfer({ ...task, direction: "upload", bytes });
    });
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

/** Writes device memory into an open file. */
export async function downloadInto(task: FileTransfer): Promise<void> {
  const { file, fileOffset, span } = task;
  await move("download", task, async () => {
    const bytes = new Uint8Array(span.byteLength);
    const { onProgress, ...rest } = task;
    await transfer({ ...rest, direction: "download", bytes });
    await file.write(bytes, fileOffset);
    onProgress?.(bytes.byteLength, bytes.byteLength);
  });
}

/** Holds the memory, and takes the ring for what is large. */
async function move(
  direction: "upload" | "download",
  task: FileTransfer,
  moveSmall: () => Promise<void>,
): Promise<void> {
  const { span, stream, file, fileOffset, onProgress, signal } = task;
  const { byteLength, allocation } = span;
  signal?.throwIfAborted();
  if (byteLength === 0) return;
  using _hold = allocation.hold();
  if (wayForFile(byteLength) !== "ring") return await moveSmall();
  noteTransfer({ direction, span, stream });
  orderTransfer({ direction, span, stream });
  const engine = TransferEngine.of(stream.context);
  engine.anticipate(byteLength, { canLend: true });
  const host = { fileDescriptor: file.descriptor, fileOffset };
  const cut = cutBlock({ direction, deviceAddress: span.address, host, byteLength });
  await engine.run({ direction, stream, byteLength, cut, onProgress, signal });
}

/** The file's size by its path; Infinity when that cannot be told any more. */
async function currentSize({ path }: DiskFile): Promise<number> {
  try {
    return (await Deno.stat(path)).size;
  } catch {
    return Infinity;
  }
}
