// The stream that options name, checked; without one, that of the innermost `withStream()`, or the
// device's default stream. The choice holds across `await`, and for one device only.

import type { AsyncLocalStorage } from "node:async_hooks";
import type { Context } from "../driver/context.ts";
import { builtin } from "../words/builtin.ts";
import { DisposedError } from "../words/errors.ts";
import { type OptionKind, OptionSet } from "../words/options.ts";
import { CudaStream, defaultStreamOf } from "./stream.ts";

/** Options of calls that queue work: the stream to use. */
export interface StreamChoice {
  /**
   * The stream; when left out, that of the innermost {@link CudaDevice.withStream}, or the device's
   * default stream.
   */
  readonly stream?: CudaStream | undefined;
}

/** A stream; its device is checked when it is used. */
export const STREAM: OptionKind = {
  expected: "a stream of gpu.createStream()",
  accepts: (value) => value instanceof CudaStream,
};

/** Checks the options above. */
export const STREAM_CHOICE: OptionSet<StreamChoice> = new OptionSet({ stream: STREAM });

/** A stream that calls use which name none, and the choice around it. */
interface StreamScope {
  readonly stream: CudaStream;
  readonly outer: StreamScope | undefined;
}

/** The innermost choice while the synchronous part of a function runs. */
let innermost: StreamScope | undefined;

/** The choices of what runs after an `await`; made when one is first needed. */
let awaited: AsyncLocalStorage<StreamScope> | undefined;

/** Calls a function whose calls use a stream when they name none, until it returns. */
export function runOnStream<T>(stream: CudaStream, body: () => T): T {
  const former = innermost;
  innermost = { stream, outer: former ?? awaited?.getStore() };
  try {
    return body();
  } finally {
    innermost = former;
  }
}

/** Calls a function whose calls use a stream when they name none, also after each `await` in it. */
export function runOnStreamAcrossAwait<T>(stream: CudaStream, body: () => T): T {
  awaited ??= new (builtin("node:async_hooks").AsyncLocalStorage)<StreamScope>();
  const scope = { stream, outer: innermost ?? awaited.getStore() };
  return awaited.run(scope, () => runOnStream(stream, body));
}

/**
 * Returns the stream of a device for a call that names none.
 *
 * @throws DisposedError when it was chosen for a function and is disposed by now.
 */
export function currentStreamOf(context: Context): CudaStream {
  let scope = innermost ?? awaited?.getStore();
  while (scope !== undefined && scope.stream.context !== context) scope = scope.outer;
  if (scope === undefined) return defaultStreamOf(context);
  if (scope.stream.disposed) throw new DisposedError(scope.stream.toString());
  return scope.stream;
}

/**
 * Returns the stream that a call on `what` uses: the one that its options name, or the current one.
 *
 * @throws DisposedError when the stream was disposed.
 * @throws TypeError when it belongs to another device.
 */
export function streamOn(
  context: Context,
  { stream }: StreamChoice,
  what: { toString(): string },
): CudaStream {
  if (stream === undefined) return currentStreamOf(context);
  if (stream.disposed) throw new DisposedError(stream.toString());
  if (stream.context === context) return stream;
  throw new TypeError(
    `Cannot use ${what} of device ${context.ordinal} on ${stream} of device ` +
      `${stream.context.ordinal}: use a stream of the same device`,
  );
}
