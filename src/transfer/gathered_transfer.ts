// Writes many blocks of device memory into one open file, packed: of small ones a slot carries
// hundreds, where a transfer of its own would cost each of them a sixth of a millisecond.

import type { CudaStream } from "../stream.ts";
import type { DiskFile } from "./disk_file.ts";
import { TransferEngine } from "./engine.ts";
import { cutGathered, type FilePart } from "./gathered_pieces.ts";
import { noteTransfer, orderTransfer, transfer, type TransferOptions } from "./host_transfer.ts";
import { wayForFile } from "./ways.ts";

/** More blocks go through the ring however small they are: it moves many of them with one call. */
const FEW_PARTS = 32;

/** Where the blocks go, and after what. */
export interface GatherRequest extends TransferOptions {
  /** The blocks, all of one device, in the order of the file; the caller holds them. */
  readonly parts: readonly FilePart[];
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
  /** The open file; it stays open until the transfer is over. */
  readonly file: DiskFile;
}

/** Writes the blocks. The stream may be gone since they were held: the default one comes after it. */
export async function gatherInto(request: GatherRequest): Promise<void> {
  const { file, onProgress, signal } = request;
  const stream = request.stream.orDefault();
  const parts = request.parts.filter(({ span }) => span.byteLength > 0);
  const byteLength = parts.reduce((sum, { span }) => sum + span.byteLength, 0);
  signal?.throwIfAborted();
  if (byteLength === 0) return;
  if (wayForFile(byteLength) !== "ring" && parts.length <= FEW_PARTS) {
    return await gatherFew({ ...request, parts, stream }, byteLength);
  }
  for (const { span } of parts) {
    noteTransfer({ direction: "download", span, stream });
    orderTransfer({ direction: "download", span, stream });
  }
  const engine = TransferEngine.of(stream.context);
  engine.anticipate(byteLength, { canLend: true });
  const cut = cutGathered(parts, file);
  await engine.run({ direction: "download", stream, byteLength, cut, onProgress, signal });
}

/** Too little for the ring to pay: one array takes it all. */
async function gatherFew(request: GatherRequest, byteLength: number): Promise<void> {
  const { file, parts, stream, onProgress, signal } = request;
  const bytes = new Uint8Array(byteLength);
  let end = 0;
  for (const { span } of parts) {
    const part = bytes.subarray(end, end += span.byteLength);
    await transfer({ direction: "download", stream, span, bytes: part, signal });
  }
  let start = 0;
  end = 0;
  for (const [index, { span, fileOffset }] of parts.entries()) {
    end += span.byteLength;
    if (parts[index + 1]?.fileOffset === fileOffset + span.byteLength) continue;
    const run = bytes.subarray(start, end);
    await file.write(run, fileOffset + span.byteLength - run.byteLength);
    start = end;
  }
  onProgress?.(byteLength, byteLength);
}
