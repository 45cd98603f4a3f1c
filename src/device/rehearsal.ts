// Moves a few bytes when a device is first opened, so that the program's first calls meet compiled
// functions: V8 compiles each when it is first called, and runs it several times as slowly until it has
// been called some times.

import { withoutNumbers } from "../accounting/ids.ts";
import type { Context } from "../driver/context.ts";
import { registerWaiting } from "../order/safety_net.ts";
import { finishPending } from "../order/stream_queue.ts";

/** Bytes of a transfer: few, because only the calls matter. */
const BYTES = new Uint8Array(256);

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
 * Makes the calls that programs make first, with a block of a few bytes, and leaves nothing: no object,
 * no number, and nothing in the counters. A driver that fails here fails at the program's own calls,
 * too, which say so.
 */
export function rehearse(gpu: RehearsedDevice): void {
  const { context } = gpu;
  const { ledger } = context;
  if (ledger.device.totalCount > 0 || ledger.length > 0) return;
  withoutNumbers((before) => {
    let end = Infinity;
    for (let round = 0; round < MOST_ROUNDS && performance.now() < end; round++) {
      const isDone = quietly(() => rehearseRound(gpu));
      quietly(() => finishPending(context, "rehearse")); // where the GPU was still at work
      ledger.releaseAfter(before);
      if (!isDone) break;
      if (round === 0) end = performance.now() + LIMIT_MILLISECONDS;
    }
  });
  quietly(() => context.waitForAll()); // the pool gives its memory back to the device
  context.forgetCounts();
}

/** Calls a function, and returns whether it did not throw. */
function quietly(body: () => void): boolean {
  try {
    body();
    return true;
  } catch {
    return false;
  }
}

/** Small transfers on an idle stream are over when their calls return, so nothing is awaited. */
function rehearseRound(gpu: RehearsedDevice): void {
  const settle = (promise: Promise<unknown>) => void promise.catch(() => {});
  settle(gpu.upload(BYTES));
  registerWaiting(); // as the end of the turn does
  using buffer = gpu.uploadSync(BYTES);
  settle(buffer.upload(BYTES));
  buffer.uploadSync(BYTES);
  settle(buffer.download());
  settle(buffer.download(BYTES));
  buffer.downloadSync();
  buffer.downloadSync(BYTES);
}
