// Device memory of another process. What that one does to it cannot be seen from here, so all of it
// counts as written.

import { AccessHistory } from "./access_history.ts";
import type { SharedBytes } from "./shared_bytes.ts";
import type { Storage } from "./storage.ts";

/** Holds bytes that another process has allocated. */
export class SharedStorage implements Storage {
  readonly byteLength: number;
  readonly onHost = false;
  readonly isNeeded = false;
  readonly history: AccessHistory = new AccessHistory();
  #bytes: Uint8Array;

  constructor({ bytes }: SharedBytes) {
    this.#bytes = bytes;
    this.byteLength = bytes.byteLength;
  }

  span(offset: number, maxBytes: number): Uint8Array {
    return this.#bytes.subarray(offset, offset + maxBytes);
  }

  zero(offset: number, byteLength: number): void {
    this.#bytes.fill(0, offset, offset + byteLength);
  }

  firstUnwritten(): undefined {
    return undefined;
  }

  markWritten(): void {}

  watch(): undefined {
    return undefined;
  }
}
