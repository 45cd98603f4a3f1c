// The streams that are being recorded for a graph, so that work queued on them does not run. A
// capture lasts while one function runs, so there is never more than one.

import { CUstreamCaptureMode } from "../../ffi/constants.ts";
import { tellElsewhere } from "../accounting/unawaited_calls.ts";
import type { Context } from "../driver/context.ts";
import { read64 } from "../driver/driver.ts";
import { releaseAll, succeeds, tryRelease } from "../driver/release.ts";
import { failedWith } from "../words/errors.ts";
import { Fence } from "./fence.ts";

/** A broken capture ends with one of these, and without a graph; the last one says that it was over. */
const ENDED = [
  "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
  "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
  "CUDA_ERROR_ILLEGAL_STATE",
] as const;

/** A stream, by its handle. */
interface StreamKey {
  readonly key: bigint;
}

/** The part of a stream that a capture uses. */
export interface CapturedQueue extends StreamKey {
  readonly context: Context;
  /** The driver's stream is destroyed: no call may have its handle. */
  readonly isGone: boolean;
  /** Notes that the driver did not end the capture: the next use of the stream calls `end` first. */
  stayCaptured(end: () => void): void;
}

/** The running capture; undefined when there is none. */
export let activeCapture: Capture | undefined;

/** Returns whether a stream is being captured. */
export function isCaptured(queue: StreamKey): boolean {
  return activeCapture?.includes(queue) === true;
}

/**
 * Checks that a stream is not being captured; for queries, after which the recording is still
 * complete.
 *
 * @throws TypeError with the remedy when it is.
 */
export function requireUncaptured(queue: StreamKey, action: string): void {
  if (isCaptured(queue)) throw refusal(queue, action);
}

/** Creates the error for what cannot be recorded; the capture fails. */
export function cannotRecord(queue: StreamKey, action: string): TypeError {
  return refuseInCapture(() => refusal(queue, action));
}

function refusal(queue: StreamKey, action: string): TypeError {
  return new TypeError(
    `Cannot ${action} on ${queue} in a capture: a graph has copies between buffers of its ` +
      `device, fills, kernels and allocations; do everything else before or after the capture`,
  );
}

/** Creates the error for a captured stream that would wait for work outside the capture. */
export function waitsOutside(queue: StreamKey, target: string): TypeError {
  return new TypeError(
    `Cannot make ${queue} wait for ${target} while it is being captured: a graph cannot ` +
      `wait for other work; let ${queue} wait before the capture, or before each launch`,
  );
}

/**
 * Checks that nothing is being captured, for calls that concern all streams, or that wait; the capture
 * fails otherwise.
 *
 * @throws TypeError when something is.
 */
export function requireNoCapture(action: string): void {
  if (activeCapture === undefined) return;
  const { origin } = activeCapture;
  throw refuseInCapture(() =>
    new TypeError(`Cannot ${action} while ${origin} is being captured: do it before or after`)
  );
}

/**
 * Creates the error of a call that a capture cannot have. The capture fails with one of its own like it,
 * so that a call which nobody awaits need not tell it again.
 */
export function refuseInCapture(make: () => TypeError): TypeError {
  const error = make();
  activeCapture?.refuse(make());
  tellElsewhere(error);
  return error;
}

/** A capture: streams whose work is recorded, begun and ended on the first of them. */
export abstract class Capture {
  readonly origin: CapturedQueue;
  readonly #members = new Map<bigint, CapturedQueue>();
  readonly #postponed: (() => void)[] = [];
  #refusal: { readonly error: unknown } | undefined;

  /**
   * Begins to record the work of a stream (cuStreamBeginCapture).
   *
   * @throws TypeError while another capture runs.
   */
  constructor(origin: CapturedQueue) {
    if (activeCapture !== undefined) {
      throw new TypeError(`Cannot capture ${origin}: ${activeCapture.origin} is being captured`);
    }
    const mode = CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED;
    origin.context.call("cuStreamBeginCapture_v2", origin.key, mode);
    this.origin = origin;
    this.add(origin);
    activeCapture = this;
  }

  includes({ key }: StreamKey): boolean {
    return this.#members.has(key);
  }

  /** Adds a stream, which takes part from now on because it waits for one that does. */
  add(queue: CapturedQueue): void {
    this.#members.set(queue.key, queue);
    queue.context.isCapturing = true;
  }

  /** Orders a stream after the recorded work of another one; it takes part from now on. */
  join(queue: CapturedQueue, after: CapturedQueue): void {
    const fence = Fence.behind(after.context, after.key);
    try {
      fence.hold(queue.key);
    } finally {
      fence.dispose();
    }
    this.add(queue);
  }

  /** Notes that the recording is incomplete: the capture fails at its end. */
  refuse(error: unknown): void {
    this.#refusal ??= { error };
  }

  /** Postpones work until the recording has ended, because its calls would be recorded now. */
  postpone(work: () => void): void {
    this.#postponed.push(work);
  }

  /** Does the postponed work, after the end; a failure is reported on the console. */
  protected runPostponed(): void {
    const { driver } = this.origin.context;
    releaseAll(driver, "what was put off for a capture", this.#postponed.splice(0));
  }

  /**
   * Ends the recording and returns the graph, which the caller destroys (cuStreamEndCapture).
   *
   * @throws TypeError when a call was made that cannot be recorded.
   * @throws CudaError when a step could not be recorded and no caller got the error.
   */
  protected endCapture(): bigint {
    const { origin } = this;
    if (this.#refusal !== undefined) throw this.#refusal.error;
    for (const member of this.#members.values()) if (member !== origin) this.join(origin, member);
    const graph = read64(origin.context, "cuStreamEndCapture", origin.key);
    this.#leave();
    return graph;
  }

  /**
   * Ends the recording and drops it; does nothing after {@link Capture.endCapture}. What is queued on a
   * stream whose capture does not end would never run, so the call is tried again after a failure: at
   * once, and then before each use of the streams.
   */
  protected abandon(): void {
    if (activeCapture !== this) return;
    const members = [...this.#members.values()];
    this.#leave();
    const { origin } = this;
    let isOver = false;
    const end = () => {
      if (!isOver && !origin.isGone) dropRecording(origin);
      isOver = true;
    };
    const what = `${origin}, which is still being captured,`;
    if (succeeds(end) || tryRelease(origin.context.driver, what, end)) return;
    for (const member of members) member.stayCaptured(end);
  }

  #leave(): void {
    activeCapture = undefined;
    for (const { context } of this.#members.values()) context.isCapturing = false;
    this.#members.clear(); // an event may keep the capture, which need not keep the streams
  }
}

/** Ends the capture that began on a stream, and destroys what was recorded. */
function dropRecording({ context, key }: CapturedQueue): void {
  const graph = new BigUint64Array(1);
  try {
    context.giveBack("cuStreamEndCapture", key, graph);
  } catch (error) {
    if (!ENDED.some((status) => failedWith(error, status))) throw error;
  }
  const [handle = 0n] = graph;
  if (handle === 0n) return;
  const destroy = () => context.giveBack("cuGraphDestroy", handle);
  tryRelease(context.driver, "an unfinished graph", destroy);
}
