// One progress over several transfers: each reports its own bytes, the listener hears the sum.

import { reportProgress } from "../words/progress.ts";
import type { TransferOptions } from "./pending_transfer.ts";

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
