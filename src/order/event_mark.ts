// The internal part of an event, by which calls are kept in order: the capture that recorded it, and the
// calls on it that are not made yet.

import type { Context } from "../driver/context.ts";
import { DisposedError } from "../words/errors.ts";
import type { Capture } from "./capture.ts";
import { Mark } from "./fence.ts";
import type { HandleRecord } from "./handle_record.ts";
import { finishNow, type PendingWork } from "./pending_work.ts";
import type { CallFailure } from "./stream_queue.ts";

/** The mark of an event, as the kit sees it: users hold the event. */
export class EventMark extends Mark {
  /** The capture in which a stream last recorded the event. */
  capture: Capture | undefined;
  /** The failure of a postponed call before it that the program was not told of when it was recorded. */
  failure: CallFailure | undefined;
  /** Postponed calls on the event: they come after a transfer. */
  readonly pending: Set<PendingWork> = new Set();
  /** The postponed call that records the event; undefined when none is pending. */
  #coming: PendingWork | undefined;
  readonly #record: HandleRecord;

  constructor(context: Context, record: HandleRecord) {
    super(context);
    this.#record = record;
  }

  /**
   * The driver's handle, for calls whose turn has come.
   *
   * @throws DisposedError when the driver's event is destroyed.
   */
  get handle(): bigint {
    if (this.#record.isDestroyed) throw new DisposedError(this.toString());
    return this.#record.handle;
  }

  /** Tells whether the call that records the event is still to be made. */
  get isComing(): boolean {
    return this.#coming?.isOver === false;
  }

  /** Registers a postponed call, and keeps the driver's event until the call is over. */
  notePending(work: PendingWork, { isRecording }: { readonly isRecording: boolean }): void {
    const hold = this.#record.hold();
    this.pending.add(work);
    if (isRecording) this.#coming = work;
    work.whenOver(() => {
      this.pending.delete(work);
      hold[Symbol.dispose]();
    });
  }

  async come(): Promise<void> {
    await this.#coming?.over();
  }

  /** Blocks until the event is recorded. */
  finish(action: string): void {
    if (this.#coming?.isOver === false) finishNow([this.#coming], `${action} ${this}`);
  }

  /**
   * Returns whether the event was recorded in `capture`, which is running.
   *
   * @throws TypeError when it was recorded in a capture that has ended.
   */
  isOf(capture: Capture | undefined): boolean {
    if (this.capture !== undefined && this.capture !== capture) throw this.#withoutMark();
    return this.capture !== undefined;
  }

  /**
   * Checks that the event was not recorded in a capture.
   *
   * @throws TypeError when it was.
   */
  require(): void {
    if (this.capture !== undefined) throw this.#withoutMark();
  }

  /** Returns the event's name for messages: `CudaEvent(#7)`. */
  override toString(): string {
    return `CudaEvent(${this.#record.name})`;
  }

  #withoutMark(): TypeError {
    return new TypeError(
      `Cannot wait for ${this}: it was recorded in a capture, so its mark is a part of the graph; ` +
        `record it again on a stream`,
    );
  }
}
