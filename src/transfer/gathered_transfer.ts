// Writes parts of device memory into one open file, packed: a slot carries hundreds of small ones,
// which would cost a sixth of a millisecond each as transfers.

import type { MemorySpan } from "../copies/copy.ts";
import type { DiskFile } from "../disk/disk_file.ts";
import { type CudaStream, usableStream } from "../order/stream.ts";
import { reportProgress } from "../words/progress.ts";
import { ArrayMover } from "./array_mover.ts";
import { engineOf } from "./context_engine.ts";
import { cutGathered, type FilePart } from "./gathered_pieces.ts";
import { noteTransfer } from "./host_transfer.ts";
import { PendingTransfer, type TransferOptions, type TransferPlan } from "./pending_transfer.ts";
import { RingMover } from "./ring_mover.ts";
import { SequenceMover } from "./sequence_mover.ts";
import type { Step } from "./stepped_work.ts";
import { wayForFile } from "./ways.ts";

/** More parts go through the ring however small they are: it moves many of them with one call. */
const FEW_PARTS = 32;

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
  const byteLength = parts.reduce((sum, { span }) => sum + span.byteLength, 0);
  signal?.throwIfAborted();
  if (byteLength === 0) return;
  const plan = {
    stream,
    uses: parts.map(({ span }) => ({ ...span, access: "read" }) as const),
    arrays: [],
    byteLength,
    action: "write a file",
    isPlaced: true,
    signal,
  };
  for (const { span } of parts) noteTransfer({ direction: "download", span, stream });
  if (wayForFile(byteLength) !== "ring" && parts.length <= FEW_PARTS) {
    yield* gatherFew(plan, { file, parts });
    reportProgress(onProgress, byteLength, byteLength);
    return;
  }
  const engine = engineOf(stream.context);
  engine.anticipate(byteLength, { canLend: true });
  const ring = {
    direction: "download",
    byteLength,
    cut: cutGathered(parts, file),
    keepOpen: () => file.hold(),
  } as const;
  const start: TransferPlan["start"] = (entry) => new RingMover(engine, ring, entry);
  yield new PendingTransfer({ ...plan, onProgress, start }).asStep();
}

/** Too little for the ring to pay: one array takes it all. */
function* gatherFew(
  plan: Omit<TransferPlan, "start">,
  { file, parts }: Pick<GatherRequest, "file" | "parts">,
): Generator<Step, void> {
  const bytes = new Uint8Array(plan.byteLength);
  let end = 0;
  const moves = parts.map(({ span }) => {
    const part = bytes.subarray(end, end += span.byteLength);
    return { direction: "download", span, bytes: part } as const;
  });
  const start: TransferPlan["start"] = (entry) =>
    new SequenceMover(moves.map((move) => ({ start: () => new ArrayMover(move, entry) })));
  yield new PendingTransfer({ ...plan, start }).asStep();
  let from = 0;
  end = 0;
  for (const [index, { span, fileOffset }] of parts.entries()) {
    end += span.byteLength;
    if (parts[index + 1]?.fileOffset === fileOffset + span.byteLength) continue;
    const run = bytes.subarray(from, end);
    yield* writeInto(file, run, fileOffset + span.byteLength - run.byteLength);
    from = end;
  }
}

/** Copies one part into an array, as a step of work that has its place in the order and is noted. */
export function* readInto(
  bytes: Uint8Array<ArrayBuffer>,
  { span, stream: chosen, signal }: {
    readonly span: MemorySpan;
    readonly stream: CudaStream;
    readonly signal: AbortSignal | undefined;
  },
): Generator<Step, void> {
  const stream = usableStream(chosen);
  const start: TransferPlan["start"] = (entry) =>
    new ArrayMover({ direction: "download", span, bytes }, entry);
  yield new PendingTransfer({
    stream,
    uses: [{ ...span, access: "read" }],
    arrays: [],
    byteLength: span.byteLength,
    action: "write a file",
    isPlaced: true,
    signal,
    start,
  }).asStep();
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
  if (wayForFile(bytes.byteLength) !== "ring") return file.writeSync(bytes, fileOffset);
  const letGo = file.hold();
  yield {
    promise: file.write(bytes, fileOffset).finally(letGo),
    finishNow() {
      file.writeSync(bytes, fileOffset);
      return "over";
    },
  };
}
