// Writes parts of device memory into one open file, packed: a slot carries hundreds of small ones,
// which would cost a sixth of a millisecond each as transfers.

import type { MemorySpan } from "../copies/copy.ts";
import type { DiskFile } from "../disk/disk_file.ts";
import { type CudaStream, usableStream } from "../order/stream.ts";
import { reportProgress } from "../words/progress.ts";
import { noteTransfer } from "./host_transfer.ts";
import { PendingTransfer, type TransferOptions, type TransferPlan } from "./pending_transfer.ts";
import { type Direction, oneRow } from "./pieces.ts";
import { bytesOfSections } from "./ring_transfer.ts";
import type { Step } from "./stepped_work.ts";
import { FEW_PARTS, MIN_FILE_RING_BYTES } from "./ways.ts";

/** Device memory and its place in a file. */
export interface FilePart {
  /** The device's side. */
  readonly span: MemorySpan;
  /** Offset in the file. */
  readonly fileOffset: number;
}

/** The parts to write, their file, and the work they come after. */
export interface GatherRequest extends TransferOptions {
  /** The parts, all of one device, in the order of the file; the caller holds their memory. */
  readonly parts: readonly FilePart[];
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
  /** The open file; it stays open until the transfer is over. */
  readonly file: DiskFile;
}

/**
 * Writes the parts, in steps of work that has its place in the order and keeps the memory. When the
 * stream was disposed since, the default stream is used, ordered after its work.
 */
export function* gatherInto(request: GatherRequest): Generator<Step, void> {
  const { file, onProgress, signal } = request;
  const stream = usableStream(request.stream);
  const parts = request.parts.filter(({ span }) => span.byteLength > 0);
  const byteLength = bytesOfSections(parts);
  signal?.throwIfAborted();
  if (byteLength === 0) return;
  for (const { span } of parts) noteTransfer({ direction: "download", span, stream });
  if (byteLength < MIN_FILE_RING_BYTES && parts.length <= FEW_PARTS) {
    yield* gatherFew({ parts, stream, file, signal });
    reportProgress(onProgress, byteLength, byteLength);
    return;
  }
  const sections = parts.map(({ span, fileOffset }) => {
    return { span, host: { file }, rows: oneRow(span.byteLength, fileOffset) };
  });
  const ring = { direction: "download", sections, canLend: true } as const;
  const plan = placedPlan("download", sections, { stream, onProgress, signal });
  yield new PendingTransfer({ ...plan, steps: () => [{ begin: () => ring }] });
}

/**
 * Returns the plan of a transfer between device memory and files, without its steps: it is a part of work
 * that has its place in the order and keeps the memory.
 */
export function placedPlan(
  direction: Direction,
  parts: readonly Pick<FilePart, "span">[],
  options: TransferOptions & Pick<TransferPlan, "stream">,
): Omit<TransferPlan, "steps"> {
  const isUpload = direction === "upload";
  return {
    ...options,
    uses: parts.map(({ span }) => ({ ...span, access: isUpload ? "write" : "read" })),
    arrays: [],
    byteLength: bytesOfSections(parts),
    action: isUpload ? "read a file" : "write a file",
    isPlaced: true,
  };
}

/** Too little for the ring to pay: one array takes it all. */
function* gatherFew({ parts, file, ...order }: GatherRequest): Generator<Step, void> {
  const bytes = new Uint8Array(bytesOfSections(parts));
  yield* readInto(bytes, { parts, ...order });
  let from = 0;
  let end = 0;
  for (const [index, { span, fileOffset }] of parts.entries()) {
    end += span.byteLength;
    if (parts[index + 1]?.fileOffset === fileOffset + span.byteLength) continue;
    const run = bytes.subarray(from, end);
    yield* writeInto(file, run, fileOffset + span.byteLength - run.byteLength);
    from = end;
  }
}

/** Copies parts into an array, as a step of work that has its place in the order and is noted. */
export function* readInto(
  bytes: Uint8Array<ArrayBuffer>,
  { parts, stream, signal }: Pick<GatherRequest, "stream" | "signal"> & {
    readonly parts: readonly Pick<FilePart, "span">[];
  },
): Generator<Step, void> {
  const plan = placedPlan("download", parts, { stream: usableStream(stream), signal });
  let end = 0;
  const moves = parts.map(({ span }) => {
    const part = bytes.subarray(end, end += span.byteLength);
    return { direction: "download", span, bytes: part } as const;
  });
  yield new PendingTransfer({ ...plan, steps: () => moves.map((move) => ({ begin: () => move })) });
}

/**
 * Writes bytes that do not change meanwhile: few at once, because the system only copies them; many
 * on another thread. A call that blocks writes those once more.
 */
export function* writeInto(
  file: DiskFile,
  bytes: Uint8Array<ArrayBuffer>,
  fileOffset: number,
): Generator<Step, void> {
  if (bytes.byteLength < MIN_FILE_RING_BYTES) return file.writeSync(bytes, fileOffset);
  const letGo = file.hold();
  yield {
    promise: file.write(bytes, fileOffset).finally(letGo),
    finishNow() {
      file.writeSync(bytes, fileOffset);
      return true;
    },
  };
}
