// An event: a mark in a stream that tells whether and when the GPU has passed it.

import { CU_IPC_HANDLE_SIZE, CUevent_flags, CUresult } from "../../ffi/constants.ts";
import type { Context } from "../driver/context.ts";
import { deviceUuid } from "../driver/device_uuid.ts";
import { take64 } from "../driver/driver.ts";
import { type EventTicket, TICKET_VERSION } from "../ticket.ts";
import { CudaError, DisposedError, statusName } from "../words/errors.ts";
import { describeValue } from "../words/format.ts";
import { FLAG, OptionSet, TEXT } from "../words/options.ts";
import { Owned } from "../words/owned.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { activeCapture, cannotRecord } from "./capture.ts";
import { EventMark } from "./event_mark.ts";
import { HandleRecord } from "./handle_record.ts";
import { isSoon, waitForGpu } from "./waiting.ts";

/** Options for {@link CudaDevice.createEvent}. */
export interface EventOptions {
  /** Records the time at which the GPU passes the event; true by default. */
  readonly timing?: boolean | undefined;
  /** Lets other processes open it; it keeps no time then. */
  readonly shareable?: boolean | undefined;
  /** Name shown in tables and errors. */
  readonly label?: string | undefined;
}

/** Advice for the statuses of cuEventElapsedTime that a program can bring about. */
const TIME_HINTS: ReadonlyMap<number, string> = new Map([
  [CUresult.CUDA_ERROR_NOT_READY, "await the later event's synchronize() first"],
  [CUresult.CUDA_ERROR_INVALID_HANDLE, "stream.record() both events first"],
]);

/** Checks the options above. */
export const EVENT_OPTIONS: OptionSet<EventOptions> = new OptionSet({
  timing: FLAG,
  shareable: FLAG,
  label: TEXT,
});

/** Returns the mark of an event, which order works with. */
export let markOf: (event: CudaEvent) => EventMark;

/**
 * An event: a mark in a stream that the program and other streams can wait for. {@link CudaDevice.createEvent}
 * and {@link CudaStream.record} create one. Use events to order streams by hand, to ask whether queued
 * work is done without blocking, and to measure time on the GPU.
 *
 * @example Time a copy on the GPU
 * ```ts
 * import { CudaDevice } from "vramkit";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * using a = gpu.zeros("float32", 1024);
 * using b = gpu.alloc("float32", 1024);
 * using start = gpu.stream.record();
 * b.copyFrom(a);
 * using end = gpu.stream.record();
 * await end.synchronize();
 * console.log(end.isComplete, end.secondsSince(start) >= 0); // true true
 * ```
 */
export class CudaEvent extends Owned {
  /** Context that it belongs to. */
  readonly context: Context;
  /** The event records times. */
  readonly timing: boolean;
  /** Other processes can open it, or it is one of another process. */
  readonly shareable: boolean;
  readonly #record: HandleRecord;
  readonly #mark: EventMark;

  static {
    markOf = (event) => event.#mark;
  }

  /** @ignore Adopts an event of the driver. */
  constructor(parts: Parts<EventOptions & { readonly context: Context; readonly handle: bigint }>) {
    super();
    const { context, handle, shareable = false, label, ...rest } = partsOf(parts, new.target);
    this.context = context;
    this.shareable = shareable;
    this.timing = rest.timing ?? !shareable;
    this.#record = new HandleRecord(this, {
      context,
      kind: "event",
      handle,
      label,
      destroy: (handle) => context.giveBack("cuEventDestroy_v2", handle),
    });
    this.#mark = new EventMark(context, this.#record);
  }

  /**
   * The driver's handle, for driver calls of your own. Reading it blocks until the transfers that
   * the recording waits for are done, so that the event is recorded.
   *
   * @throws DisposedError when the event was disposed.
   */
  get handle(): bigint {
    if (this.#record.released) throw new DisposedError(this.toString());
    this.#mark.finish("use the handle of");
    return this.#record.handle;
  }

  /** The event's label, or its number. */
  get name(): string {
    return this.#record.name;
  }

  /** Tells whether the event was disposed. */
  get disposed(): boolean {
    return this.#record.released;
  }

  /**
   * Tells whether the GPU has passed the event; also true when it was never recorded (cuEventQuery). An
   * event recorded after a transfer is complete only once that transfer is done.
   *
   * @throws CudaError when work before the event failed.
   * @throws TypeError when it was last recorded in a capture, and so became part of a graph.
   */
  get isComplete(): boolean {
    this.#mark.require();
    if (this.disposed) throw new DisposedError(this.toString());
    if (this.#mark.isComing) return false;
    this.#mark.failure?.tell();
    return this.#mark.poll();
  }

  /**
   * Resolves when the GPU has passed the event. The event loop keeps running.
   *
   * @throws CudaError when work before the event failed.
   * @throws TypeError when it was last recorded in a capture; one that still runs fails, too.
   */
  async synchronize(): Promise<void> {
    const { capture } = this.#mark;
    if (capture !== undefined && capture === activeCapture) {
      throw cannotRecord(capture.origin, `wait for ${this}`);
    }
    await this.#mark.come();
    if (!isSoon(() => this.isComplete)) {
      using _kept = this.#record.hold(); // a thread may begin to wait late
      await waitForGpu(() => this.isComplete, () => this.#mark.waitElsewhere());
    }
    this.context.endWait();
  }

  /**
   * Blocks until the GPU has passed the event (cuEventSynchronize).
   *
   * @throws CudaError when work before the event failed.
   */
  synchronizeSync(): void {
    this.#mark.require();
    this.#mark.finish("wait for");
    this.#mark.failure?.tell();
    this.context.driver.call("cuEventSynchronize", this.handle);
  }

  /**
   * Returns the seconds of GPU time from an earlier event to this one (cuEventElapsedTime).
   *
   * @param start The earlier event, on the same device.
   *
   * @throws TypeError when one of the events does not record times, or they are of two devices.
   * @throws CudaError when one of the events was not recorded, work before it failed, or the GPU has not
   *   passed it yet.
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
    if (start.context !== this.context) {
      throw new TypeError(
        `Cannot take the time from ${start} of device ${start.context.ordinal} to ${this} of ` +
          `device ${this.context.ordinal}: each device has a clock of its own`,
      );
    }
    this.#mark.require();
    start.#mark.require();
    const cell = new Float32Array(1);
    const { driver } = this.context;
    for (const event of [start, this]) {
      if (event.disposed) throw new DisposedError(event.toString());
      if (event.#mark.isComing) throw this.#timeError(start, CUresult.CUDA_ERROR_NOT_READY);
      event.#mark.failure?.tell();
    }
    const status = driver.status("cuEventElapsedTime", cell, start.#mark.handle, this.#mark.handle);
    if (status !== CUresult.CUDA_SUCCESS) throw this.#timeError(start, status);
    return (cell[0] ?? 0) / 1000;
  }

  /**
   * Returns a ticket by which another process opens the event with `gpu.openEvent()`; it can be sent
   * as JSON. Keep the event until the other process has disposed its own (cuIpcGetEventHandle).
   *
   * @throws TypeError unless the event was made with `{ shareable: true }`.
   */
  share(): EventTicket {
    const { context } = this;
    if (this.disposed) throw new DisposedError(this.toString());
    if (!this.shareable) {
      throw new TypeError(
        `Cannot share ${this}: make it with gpu.createEvent({ shareable: true })`,
      );
    }
    const handle = new Uint8Array(CU_IPC_HANDLE_SIZE);
    context.call("cuIpcGetEventHandle", handle, this.#mark.handle);
    return {
      vramkit: TICKET_VERSION,
      kind: "event",
      device: deviceUuid(context),
      handle: handle.toHex(),
      pid: Deno.pid,
    };
  }

  /** Destroys the event; queued work that waits for it still waits. A second call does nothing. */
  dispose(): void {
    this.#record.release();
  }

  /** Returns the event's name for messages: `CudaEvent(#7)`. */
  override toString(): string {
    return `CudaEvent(${this.name})`;
  }

  /** Creates the error for two events whose time the driver does not tell. */
  #timeError(start: CudaEvent, code: number): CudaError {
    const { driver } = this.context;
    const hint = TIME_HINTS.get(code);
    if (hint === undefined) return driver.error(code, "cuEventElapsedTime");
    return new CudaError(
      `Cannot take the time from ${start} to ${this}: ${statusName(code)} (${code}); ${hint}`,
      { code, call: "cuEventElapsedTime" },
    );
  }
}

comesFrom(CudaEvent, "gpu.createEvent(), gpu.openEvent() and stream.record()");

/** Creates an event that is not recorded yet (cuEventCreate). */
export function createEvent(context: Context, options: EventOptions = {}): CudaEvent {
  options = EVENT_OPTIONS.read(options, "createEvent");
  const { timing, shareable = false } = options;
  if (shareable && timing === true) {
    throw new TypeError(
      "Cannot create an event with timing for other processes: pass one of the two",
    );
  }
  const { CU_EVENT_DEFAULT, CU_EVENT_DISABLE_TIMING, CU_EVENT_INTERPROCESS } = CUevent_flags;
  const kind = shareable ? CU_EVENT_INTERPROCESS : CU_EVENT_DEFAULT;
  const flags = shareable || timing === false ? kind | CU_EVENT_DISABLE_TIMING : kind;
  const handle = take64(context, "cuEventCreate", flags);
  return new CudaEvent(new Parts({ ...options, context, handle }));
}
