// A mark in a stream: whether the GPU has passed it, and when.

import { CUevent_flags, CUresult } from "../ffi/constants.ts";
import type { Capture } from "./capture.ts";
import type { Context } from "./context.ts";
import { take64 } from "./driver.ts";
import { DisposedError } from "./errors.ts";
import { describeValue } from "./format.ts";
import { HandleRecord } from "./handle_record.ts";
import { FLAG, OptionSet, TEXT } from "./options.ts";
import { finishNow, type PendingWork } from "./pending_work.ts";
import { isSoon, waitForGpu } from "./waiting.ts";

/** How to make an event. */
export interface EventOptions {
  /** Whether it records the time at which the GPU passes it; true by default. */
  readonly timing?: boolean | undefined;
  /** A name for tables and errors. */
  readonly label?: string | undefined;
}

/** What they may be. */
export const EVENT_OPTIONS: OptionSet<EventOptions> = new OptionSet({ timing: FLAG, label: TEXT });

/** A mark that a stream records and others wait for. */
export class CudaEvent implements Disposable {
  /** The context it belongs to. */
  readonly context: Context;
  /** Whether it records times. */
  readonly timing: boolean;
  /**
   * The capture in which a stream last recorded it.
   *
   * @internal
   */
  capture: Capture | undefined;
  /**
   * Calls on the event that were postponed: they come after a transfer.
   *
   * @internal
   */
  readonly pending: Set<PendingWork> = new Set();
  /** The call that sets its mark, when that was postponed. */
  #coming: PendingWork | undefined;
  readonly #record: HandleRecord;

  /** Adopts an event of the driver's; {@link CudaEvent.create} makes one. */
  constructor(context: Context, fields: EventOptions & { readonly handle: bigint }) {
    const { handle, timing = true, label } = fields;
    this.context = context;
    this.timing = timing;
    this.#record = new HandleRecord(this, {
      context,
      kind: "event",
      handle,
      label,
      destroy: (handle) => context.giveBack("cuEventDestroy_v2", handle),
    });
  }

  /** Creates an event that is not recorded yet (cuEventCreate). */
  static create(context: Context, options: EventOptions = {}): CudaEvent {
    EVENT_OPTIONS.read(options, "createEvent");
    const { CU_EVENT_DEFAULT, CU_EVENT_DISABLE_TIMING } = CUevent_flags;
    const flags = options.timing === false ? CU_EVENT_DISABLE_TIMING : CU_EVENT_DEFAULT;
    return new CudaEvent(context, { ...options, handle: take64(context, "cuEventCreate", flags) });
  }

  /**
   * The driver's handle, checked. Asking for it finishes transfers that a mark of it comes after, so
   * that the mark is there.
   */
  get handle(): bigint {
    if (this.#record.released) throw new DisposedError(this.toString());
    this.#finishMark("use the handle of");
    return this.#record.handle;
  }

  /**
   * The driver's handle for calls that have come to their turn.
   *
   * @internal
   */
  get queueHandle(): bigint {
    if (this.#record.isDestroyed) throw new DisposedError(this.toString());
    return this.#record.handle;
  }

  /**
   * Notes a call that was postponed, and keeps the driver's event until it is over.
   *
   * @internal
   */
  notePending(work: PendingWork, { isMark }: { readonly isMark: boolean }): void {
    const hold = this.#record.hold();
    this.pending.add(work);
    if (isMark) this.#coming = work;
    work.whenOver(() => {
      this.pending.delete(work);
      hold[Symbol.dispose]();
    });
  }

  /** Its label, or its number. */
  get name(): string {
    return this.#record.name;
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#record.released;
  }

  /**
   * Whether the GPU has passed the mark; true as well while it was never recorded (cuEventQuery). A
   * mark behind a transfer is passed when the transfer is over, too.
   *
   * @throws CudaError when work before the mark failed.
   * @throws TypeError when it was last recorded in a capture: that mark is a part of the graph.
   */
  get isComplete(): boolean {
    this.#requireMark();
    if (this.disposed) throw new DisposedError(this.toString());
    if (this.#coming?.isOver === false) return false;
    const status = this.context.driver.status("cuEventQuery", this.queueHandle);
    if (status === CUresult.CUDA_ERROR_NOT_READY) return false;
    if (status !== CUresult.CUDA_SUCCESS) throw this.context.driver.error(status, "cuEventQuery");
    return true;
  }

  /** Resolves when the GPU has passed the mark; the event loop goes on meanwhile. */
  async synchronize(): Promise<void> {
    if (this.#coming !== undefined) await this.#coming.over();
    if (isSoon(() => this.isComplete)) return;
    await waitForGpu(() => this.isComplete, async () => {
      const { driver } = this.context;
      const status = await driver.api.cuEventSynchronizeNonblocking(this.queueHandle);
      if (status !== CUresult.CUDA_SUCCESS) throw driver.error(status, "cuEventSynchronize");
    });
  }

  /** Blocks until the GPU has passed the mark (cuEventSynchronize). */
  synchronizeSync(): void {
    this.#requireMark();
    this.#finishMark("wait for");
    this.context.driver.call("cuEventSynchronize", this.handle);
  }

  /**
   * Seconds of GPU time between an earlier event and this one (cuEventElapsedTime).
   *
   * @throws TypeError when one of them records no times.
   * @throws CudaError when one was not recorded, or the GPU has not passed it yet.
   */
  secondsSince(start: CudaEvent): number {
    if (!(start instanceof CudaEvent)) {
      throw new TypeError(
        `Cannot take the time since ${describeValue(start)}: expected an event`,
      );
    }
    if (!this.timing || !start.timing) {
      throw new TypeError("Cannot take the time between events: one was made with timing: false");
    }
    this.#requireMark();
    start.#requireMark();
    const cell = new Float32Array(1);
    const { driver } = this.context;
    for (const event of [start, this]) {
      if (event.disposed) throw new DisposedError(event.toString());
      if (event.#coming?.isOver !== false) continue;
      throw driver.error(CUresult.CUDA_ERROR_NOT_READY, "cuEventElapsedTime");
    }
    driver.call("cuEventElapsedTime", cell, start.queueHandle, this.queueHandle);
    return (cell[0] ?? 0) / 1000;
  }

  /** Destroys the event; queued work that waits for it still does. A second call does nothing. */
  dispose(): void {
    this.#record.release();
  }

  /** Same as {@link CudaEvent.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Names the event: `CudaEvent(#7)`. */
  toString(): string {
    return `CudaEvent(${this.name})`;
  }

  /** Shows the event on a console. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this}${this.disposed ? " disposed" : ""}`;
  }

  /**
   * Whether the mark was recorded in `capture`, which runs right now.
   *
   * @throws TypeError when it was recorded in one that has ended.
   * @internal
   */
  isOf(capture: Capture | undefined): boolean {
    if (this.capture === undefined) return false;
    if (this.capture !== capture) throw this.#withoutMark();
    return true;
  }

  #finishMark(action: string): void {
    if (this.#coming?.isOver === false) finishNow([this.#coming], `${action} ${this}`);
  }

  #requireMark(): void {
    if (this.capture !== undefined) throw this.#withoutMark();
  }

  #withoutMark(): TypeError {
    return new TypeError(
      `Cannot wait for ${this}: it was recorded in a capture, so its mark is a part of the graph; ` +
        `record it again on a stream`,
    );
  }
}
