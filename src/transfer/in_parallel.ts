// Several transfers at once, ended together: nothing of them is still running afterwards.

import { reportProgress } from "../words/progress.ts";
import type { TransferOptions } from "./pending_transfer.ts";
import { MAX_AT_ONCE } from "./ways.ts";

/** A transfer that moves a part of something larger. */
export interface PartialTransfer {
  /** Bytes that it moves. */
  readonly byteLength: number;
  /** Moves them. */
  run(options: TransferOptions): Promise<void>;
}

/**
 * Does the transfers of several lists, of all lists at the same time and of each list in its order.
 * After the first failure the others end early and no more are begun; it is thrown when all are over.
 */
export async function transferTogether(
  lists: readonly (readonly PartialTransfer[])[],
  { onProgress, signal }: TransferOptions,
): Promise<void> {
  const totalBytes = lists.flat().reduce((sum, { byteLength }) => sum + byteLength, 0);
  const progress = new ProgressTotal(totalBytes, onProgress);
  const end = new CommonEnd(signal);
  const ended = end.signal();

  async function takeTurns(queue: Iterator<PartialTransfer>): Promise<void> {
    for (let next = queue.next(); !next.done && end.failure === undefined; next = queue.next()) {
      try {
        await next.value.run({ onProgress: progress.part(), signal: ended });
      } catch (error) {
        end.fail(error);
      }
    }
  }

  await Promise.all(lists.flatMap((list) => {
    const queue = list.values();
    return Array.from({ length: MAX_AT_ONCE }, () => takeTurns(queue));
  }));
  end.check();
}

/** The end of several transfers: the first failure of one ends the others early. */
export class CommonEnd {
  readonly #failed = new AbortController();
  readonly #signal: AbortSignal | undefined;
  /** The first failure of one. */
  failure: { readonly error: unknown } | undefined;

  /** Lets the program's signal end them as well. */
  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Returns a signal for the transfers. */
  signal(): AbortSignal {
    const own = this.#failed.signal;
    return this.#signal === undefined ? own : AbortSignal.any([own, this.#signal]);
  }

  /** Notes the failure of one. */
  fail(error: unknown): void {
    this.failure ??= { error };
    this.#failed.abort(error);
  }

  /** Throws the first failure. */
  check(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }
}

/** Adds up the progress of transfers that together make one. */
export class ProgressTotal {
  readonly #totalBytes: number;
  readonly #listener: TransferOptions["onProgress"];
  #doneBytes = 0;

  /** Reports to `listener`, of `totalBytes` in all. */
  constructor(totalBytes: number, listener: TransferOptions["onProgress"]) {
    this.#totalBytes = totalBytes;
    this.#listener = listener;
  }

  /** Makes the listener of one transfer. */
  part(): (doneBytes: number) => void {
    let before = 0;
    return (doneBytes) => {
      this.#doneBytes += doneBytes - before;
      before = doneBytes;
      reportProgress(this.#listener, this.#doneBytes, this.#totalBytes);
    };
  }
}
