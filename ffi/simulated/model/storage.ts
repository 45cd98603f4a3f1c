// The bytes behind an address range, and what is known about them.
// Device memory and host memory differ in where the bytes are and in who else may touch them.

import type { AccessHistory, Extent } from "./access_history.ts";
import type { ByteRange } from "./byte_ranges.ts";

/** Use of the bytes by a caller of `span()`. */
export type Intent = "read" | "write";

/** A queued operation's hold on host bytes; checked when the operation runs. */
export interface HostWatch {
  /** Returns whether the bytes are unchanged since the operation was queued. */
  isIntact(): boolean;
  release(): void;
}

/** Bytes that a range of addresses stands for. */
export interface Storage {
  /** Uses of the bytes that can still race. */
  readonly history: AccessHistory;
  /** A JavaScript array can see the bytes without any driver call. */
  readonly onHost: boolean;
  /** Returns bytes at an offset: at most `maxBytes`, and at least one. */
  span(offset: number, maxBytes: number, intent: Intent): Uint8Array;
  zero(offset: number, byteLength: number): void;
  /** Returns the first unwritten byte of a range. */
  firstUnwritten(start: number, end: number): number | undefined;
  /** Notes that an operation has written ranges. */
  markWritten(ranges: readonly ByteRange[]): void;
  /** Watches bytes that the host could change while an operation waits; undefined where it cannot. */
  watch(extent: Extent): HostWatch | undefined;
  /** Tells whether a queued operation still needs the bytes. */
  readonly isNeeded: boolean;
}
