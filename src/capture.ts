// Which streams are recorded for a graph right now, so that what they are given does not run.
// A capture lasts while one function runs, so there is never more than one.

import { CUresult, CUstreamCaptureMode } from "../ffi/constants.ts";
import type { Context } from "./context.ts";
import { Fence } from "./fence.ts";
import { releaseAll, tryRelease } from "./release.ts";

/** A stream, as far as a capture must know it. */
export interface CapturedQueue {
  /** Context that it belongs to. */
  readonly context: Context;
  /** Its handle. */
  readonly key: bigint;
}

let active: Capture | undefined;

/** The capture that runs right now. */
export function activeCapture(): Capture | undefined {
  return active;
}

/** Whether a stream is being captured. */
export function isCaptured(queue: CapturedQueue): boolean {
  return active?.includes(queue) === true;
}

/**
 * Checks that a stream is not being captured, for questions, which leave out nothing of a recording.
 *
 * @throws TypeError with the remedy when it is.
 */
export function requireUncaptured(queue: CapturedQueue, action: string): void {
  if (isCaptured(queue)) throw refusal(queue, action);
}

/** The error for what cannot be recorded; the capture will end with it, whoever catches it. */
export function cannotRecord(queue: CapturedQueue, action: string): TypeError {
  const error = refusal(queue, action);
  active?.refuse(error);
  return error;
}

function refusal(queue: CapturedQueue, action: string): TypeError {
  return new TypeError(
    `Cannot ${action} on ${queue} in a capture: a graph can copy between buffers of its device, ` +
      `fill and allocate; do all else before or after`,
  );
}

/** The error for a captured stream that would wait for work outside. */
export function waitsOutside(queue: CapturedQueue, target: string): TypeError {
  return new TypeError(
    `Cannot make ${queue} wait for ${target} while it is being captured: a graph waits for no ` +
      `other work, let ${queue} wait before the capture, or before each launch`,
  );
}

/**
 * Checks that nothing is being captured, for what concerns all streams.
 *
 * @throws TypeError when something is.
 */
export function requireNoCapture(action: string): void {
  if (active === undefined) return;
  throw new TypeError(`Cannot ${action} while ${active.origin} is being captured`);
}

/** Streams whose work is recorded, from a begin to an end on the first of them. */
export class Capture {
  /** The stream on which it began. */
  readonly origin: CapturedQueue;
  readonly #members = new Map<bigint, CapturedQueue>();
  readonly #postponed: (() => void)[] = [];
  #refusal: { readonly error: unknown } | undefined;

  /**
   * Begins to record what a stream is given (cuStreamBeginCapture).
   *
   * @throws TypeError while another capture runs.
   */
  constructor(origin: CapturedQueue) {
    if (active !== undefined) {
      throw new TypeError(`Cannot capture ${origin}: ${active.origin} is being captured`);
    }
    const mode = CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED;
    origin.context.call("cuStreamBeginCapture_v2", origin.key, mode);
    this.origin = origin;
    this.add(origin);
    active = this;
  }

  /** Whether a stream takes part. */
  includes({ key }: CapturedQueue): boolean {
    return this.#members.has(key);
  }

  /** Notes a stream that takes part from here on, because it waits for one that does. */
  add(queue: CapturedQueue): void {
    this.#members.set(queue.key, queue);
    queue.context.isCapturing = true;
  }

  /** Orders a stream after what another one has recorded so far; it takes part from here on. */
  join(queue: CapturedQueue, after: CapturedQueue): void {
    const fence = new Fence(after.context);
    try {
      fence.set(after.key);
      fence.hold(queue.key);
    } finally {
      fence.dispose();
    }
    this.add(queue);
  }

  /** Notes that the recording lacks something: there will be no graph. */
  refuse(error: unknown): void {
    this.#refusal ??= { error };
  }

  /** Keeps work for when the recording has ended: what it did now would be recorded. */
  postpone(work: () => void): void {
    this.#postponed.push(work);
  }

  /** Does what was postponed, after the end; a failure is reported on the console. */
  runPostponed(): void {
    const { driver } = this.origin.context;
    releaseAll(driver, "what was put off for a capture", this.#postponed.splice(0));
  }

  /**
   * Ends the recording and returns the graph, which the caller destroys (cuStreamEndCapture).
   *
   * @throws TypeError when something was asked for that cannot be recorded.
   * @throws CudaError when a step could not be recorded that no caller was told of.
   */
  end(): bigint {
    const { origin } = this;
    if (this.#refusal !== undefined) throw this.#refusal.error;
    for (const member of this.#members.values()) if (member !== origin) this.join(origin, member);
    const graph = new BigUint64Array(1);
    origin.context.call("cuStreamEndCapture", origin.key, graph);
    this.#leave();
    return graph[0] ?? 0n;
  }

  /** Ends the recording and throws away what was recorded; does nothing after {@link Capture.end}. */
  abandon(): void {
    if (active !== this) return;
    this.#leave();
    const { context, key } = this.origin;
    const graph = new BigUint64Array(1);
    // A broken capture ends with an error and without a graph. A stream whose capture does not end
    // could do nothing any more, so after a failure another try is made, which then finds none.
    if (context.status("cuStreamEndCapture", key, graph) !== CUresult.CUDA_SUCCESS) {
      const status = context.status("cuStreamEndCapture", key, graph);
      if (status !== CUresult.CUDA_ERROR_ILLEGAL_STATE) {
        const check = () => context.driver.check(status, "cuStreamEndCapture");
        tryRelease(context.driver, `${this.origin}, which is still being captured,`, check);
      }
    }
    const [handle = 0n] = graph;
    if (handle === 0n) return;
    const destroy = () => context.giveBack("cuGraphDestroy", handle);
    tryRelease(context.driver, "an unfinished graph", destroy);
  }

  #leave(): void {
    active = undefined;
    for (const { context } of this.#members.values()) context.isCapturing = false;
    this.#members.clear(); // an event may keep the capture, which need not keep the streams
  }
}
