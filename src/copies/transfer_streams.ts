// Streams of the kit's own on which transfers move: what a program queues on its streams meanwhile
// neither delays them nor is delayed by them. A stream is free again when its transfer is over.

import { CUstream_flags } from "../../ffi/constants.ts";
import type { Context } from "../driver/context.ts";
import { take64 } from "../driver/driver.ts";
import { releaseAll } from "../driver/release.ts";
import { waitForStream } from "../order/waiting.ts";

/** A stream of the kit's own. */
export class TransferStream {
  readonly context: Context;
  readonly handle: bigint;

  /** Creates a stream that does not block on the legacy stream (cuStreamCreateWithPriority). */
  constructor(context: Context) {
    const flags = CUstream_flags.CU_STREAM_NON_BLOCKING;
    this.context = context;
    this.handle = take64(context, "cuStreamCreateWithPriority", flags, 0);
  }

  /** Blocks until all work queued on it is done (cuStreamSynchronize). */
  synchronizeSync(): void {
    waitForStream(this.context.driver, this.handle);
  }
}

const pools = new WeakMap<Context, TransferStreams>();

export class TransferStreams {
  readonly #context: Context;
  readonly #free: TransferStream[] = [];
  readonly #handles: bigint[] = [];

  private constructor(context: Context) {
    this.#context = context;
    context.atRelease(() => this.#destroy());
  }

  /** The streams of a context; they end with it. */
  static of(context: Context): TransferStreams {
    return pools.getOrInsertComputed(context, () => new TransferStreams(context));
  }

  /** Takes an idle stream; creates one when all are in use. */
  take(): TransferStream {
    return this.#free.pop() ?? this.#create();
  }

  /** Gives a stream back whose work is done or has failed. */
  put(stream: TransferStream): void {
    this.#free.push(stream);
  }

  /** Gives a stream back after a failure; waits for a copy that may still be under way. */
  putAfterFailure(stream: TransferStream): void {
    this.#context.driver.status("cuStreamSynchronize", stream.handle);
    this.put(stream);
  }

  #create(): TransferStream {
    const stream = new TransferStream(this.#context);
    this.#handles.push(stream.handle);
    return stream;
  }

  #destroy(): void {
    const context = this.#context;
    releaseAll(
      context.driver,
      "a stream for transfers",
      this.#handles.map((handle) => () => context.giveBack("cuStreamDestroy_v2", handle)),
    );
  }
}
