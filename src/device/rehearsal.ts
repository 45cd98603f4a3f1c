// Moves a few bytes when a device is first opened, so that the program's first calls meet compiled
// functions: V8 compiles each when it is first called, and runs it several times as slowly until it has
// been called some times.

import { withoutNumbers } from "../accounting/ids.ts";
import type { Context } from "../driver/context.ts";
import { succeeds } from "../driver/release.ts";
import { registerWaiting } from "../order/safety_net.ts";
import { finishPending } from "../order/stream_queue.ts";
import { forgetNewArrays } from "../transfer/landing.ts";

/** Bytes of a transfer: few, because only the calls matter. */
const FEW_BYTES = 256;

/** From this size on arrays have pages of their own, which more functions see to. */
const MORE_BYTES = 2 ** 16;

/** Rounds with more bytes: later ones cost more than the program's first calls save. */
const MORE_ROUNDS = 3;

/** Rounds at most: later ones gain little. */
const MOST_ROUNDS = 16;

/** Time for rounds after the first, whose time the program's own first calls save. */
const LIMIT_MILLISECONDS = 1.5;

/** The calls of a buffer that a rehearsal makes. */
interface RehearsedBuffer extends Disposable {
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
 * and nothing in the counters. A driver that fails here fails at the program's own calls,
 * too, which say so.
 */
export function rehearse(gpu: RehearsedDevice): void {
  const { context } = gpu;
  const { ledger } = context;
  if (ledger.device.totalCount > 0 || ledger.length > 0) return;
  withoutNumbers((before) => {
    const tryRound = (bytes: Uint8Array) => {
      const isDone = succeeds(() => rehearseRound(gpu, bytes));
      succeeds(() => finishPending(context, "rehearse")); // where the GPU was still at work
      ledger.releaseAfter(before);
      return isDone;
    };
    const few = new Uint8Array(FEW_BYTES);
    if (!tryRound(few)) return;
    const end = performance.now() + LIMIT_MILLISECONDS;
    for (let round = 1; round < MOST_ROUNDS && performance.now() < end; round++) tryRound(few);
    const more = new Uint8Array(MORE_BYTES);
    for (let round = 0; round < MORE_ROUNDS; round++) tryRound(more);
  });
  succeeds(() => context.waitForAll()); // the pool gives its memory back to the device
  context.forgetCounts();
  forgetNewArrays(context);
}

/** Small transfers on an idle stream are over when their calls return, so nothing is awaited. */
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
