// Moves a few bytes when a device is first opened, so that the program's first calls meet compiled
// functions: V8 compiles each when it is first called, and runs it several times as slowly until it has
// been called some times.

import { withoutNumbers } from "../accounting/ids.ts";
import type { MemorySpan } from "../copies/copy.ts";
import type { Context } from "../driver/context.ts";
import { succeeds } from "../driver/release.ts";
import { prepareThreads } from "../lanes/fresh_pages.ts";
import { prepareHeapAhead } from "../lanes/heap_pages.ts";
import { addressOf } from "../memory/host_memory.ts";
import { registerWaiting } from "../order/safety_net.ts";
import { defaultStreamOf, queueOf } from "../order/stream.ts";
import { finishPending } from "../order/stream_queue.ts";
import { canReportByDefault, engineOf } from "../transfer/context_engine.ts";
import { rehearseTransfers } from "../transfer/host_transfer.ts";
import { finishMover } from "../transfer/pending_transfer.ts";
import { RingMover } from "../transfer/ring_mover.ts";
import { cutRun } from "../transfer/run_pieces.ts";
import { findHelpers, MOST_LENT_THREADS, moveShared } from "../transfer/shared_transfer.ts";
import { forgetDownloads, StagingMemory } from "../transfer/staging_memory.ts";

/** Bytes of a transfer: few, because only the calls matter. */
const FEW_BYTES = 256;

/** From this size on arrays have pages of their own, which more functions see to. */
const MORE_BYTES = 2 ** 16;

/** Rounds with more bytes: later ones cost more than the program's first calls save. */
const MORE_ROUNDS = 3;

/** Rounds at most: later ones gain little. */
const MAX_ROUNDS = 16;

/** Time for rounds after the first, whose time the program's own first calls save. */
const LIMIT_MILLISECONDS = 1.5;

/** Pieces that go through the ring of large transfers. */
const RING_PIECES = 2;

/** Rounds of transfers that threads share with the caller. */
const SHARED_ROUNDS = 3;

/** Set once a device's ring was made ahead: those of others wait for their first large transfer. */
let isRingRehearsed = false;

/** The calls of a buffer that a rehearsal makes. */
interface RehearsedBuffer extends Disposable {
  readonly span: MemorySpan;
  upload(source: Uint8Array): Promise<unknown>;
  uploadSync(source: Uint8Array): unknown;
  download(destination?: Uint8Array): Promise<unknown>;
  downloadSync(destination?: Uint8Array): unknown;
}

/** The calls of a device that a rehearsal makes. */
export interface RehearsedDevice {
  readonly context: Context;
  upload(source: Uint8Array): Promise<unknown>;
  uploadSync(source: Uint8Array): RehearsedBuffer;
}

/**
 * Makes the calls that programs make first, with a block of a few bytes, and leaves no object, no number
 * and nothing in the counters. Where threads report copies, the first device of a process keeps the ring
 * of large transfers and the staging memory. A driver that fails here fails at the program's own
 * calls, too, which say so.
 */
export function rehearse(gpu: RehearsedDevice): void {
  const { context } = gpu;
  const { ledger } = context;
  if (ledger.device.totalCount > 0 || ledger.length > 0) return;
  const isKept = !isRingRehearsed && canReportByDefault();
  const rehearseAll = (before: number) => {
    const succeedsWithoutTrace = (calls: () => void) => {
      const isDone = succeeds(calls);
      succeeds(() => finishPending(context, "rehearse")); // where others are under way
      ledger.releaseAfter(before);
      return isDone;
    };
    const few = new Uint8Array(FEW_BYTES);
    const tryFew = () => succeedsWithoutTrace(() => rehearseRound(gpu, few));
    if (!tryFew()) return;
    const end = performance.now() + LIMIT_MILLISECONDS;
    for (let round = 1; round < MAX_ROUNDS && performance.now() < end; round++) tryFew();
    if (isKept) StagingMemory.of(context).prepare();
    ledger.origins.rehearse();
    const more = new Uint8Array(MORE_BYTES);
    for (let round = 0; round < MORE_ROUNDS; round++) {
      succeedsWithoutTrace(() => rehearseRound(gpu, more));
    }
    if (isKept) succeedsWithoutTrace(() => rehearseThreads(gpu, more));
  };
  rehearseTransfers(() => withoutNumbers(rehearseAll));
  succeeds(() => context.waitForAll()); // the pool gives its memory back to the device
  context.forgetCounts();
  forgetDownloads(context, { isKept });
}

/** Each transfer is over when its call returns, so nothing is awaited. */
function rehearseRound(gpu: RehearsedDevice, bytes: Uint8Array): void {
  const settle = (promise: Promise<unknown>) => void promise.catch(() => {});
  settle(gpu.upload(bytes));
  registerWaiting(); // as the end of the turn does
  using buffer = gpu.uploadSync(bytes);
  settle(buffer.upload(bytes));
  buffer.uploadSync(bytes);
  settle(buffer.download());
  settle(buffer.download(bytes));
  buffer.downloadSync();
  buffer.downloadSync(bytes);
}

/** Moves bytes by threads that report, as a program's first transfers of middle and large size do. */
function rehearseThreads(gpu: RehearsedDevice, bytes: Uint8Array<ArrayBuffer>): void {
  isRingRehearsed = true;
  const engine = engineOf(gpu.context);
  if (!engine.canReport) return;
  engine.fillRing();
  prepareThreads(MOST_LENT_THREADS);
  prepareHeapAhead();
  using buffer = gpu.uploadSync(bytes);
  const { address: deviceAddress, byteLength } = buffer.span;
  const host = { address: addressOf(bytes), bytes };
  for (const direction of ["upload", "download"] as const) {
    const cut = cutRun({ direction, deviceAddress, host, byteLength });
    const pieceBytes = byteLength / RING_PIECES;
    const request = { direction, byteLength, arrays: [bytes], pieceBytes, cut };
    finishMover(new RingMover(engine, request));
  }
  const stream = queueOf(defaultStreamOf(gpu.context));
  for (let round = 0; round < SHARED_ROUNDS; round++) {
    for (const direction of ["upload", "download"] as const) {
      const lanes = engine.lentLanes;
      const which = { direction, byteLength, areLent: true };
      const helpers = lanes && findHelpers(gpu.context, { lanes, ...which });
      if (helpers === undefined) return;
      moveShared({ stream, device: deviceAddress, bytes: () => bytes, ...which, ...helpers });
    }
  }
}
