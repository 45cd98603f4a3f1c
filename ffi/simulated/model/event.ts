// Events: marks in streams, or in captures.

import { refuse } from "../errors.ts";
import type { CapturedMark } from "./capture.ts";
import type { Context } from "./context.ts";
import type { SharedMark } from "./shared_mark.ts";
import type { Operation } from "./stream.ts";

/** A mark in a stream. */
export class StreamEvent {
  readonly context: Context;
  /** Value that callers hold. */
  readonly handle: bigint;
  readonly flags: number;
  /** The mark; undefined until the event is recorded, and when that was in a capture. */
  record: Operation | undefined;
  /** The mark when the event was last recorded in a capture. */
  mark: CapturedMark | undefined;
  /** The mark as other processes see it; undefined until one of them can. */
  shared: SharedMark | undefined;

  constructor(context: Context, handle: bigint, flags: number) {
    this.context = context;
    this.handle = handle;
    this.flags = flags;
  }

  /** Throws when the mark is a part of a capture, for which the host cannot wait. */
  requireAwaitable(): void {
    const { mark } = this;
    if (mark === undefined) return;
    if (mark.capture.isValid) mark.capture.invalidate("CUDA_ERROR_CAPTURED_EVENT");
    refuse("CUDA_ERROR_INVALID_VALUE");
  }
}
