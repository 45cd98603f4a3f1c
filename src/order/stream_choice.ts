// The stream that options name, checked, or the device's default stream.

import type { Context } from "../driver/context.ts";
import { DisposedError } from "../words/errors.ts";
import { type OptionKind, OptionSet } from "../words/options.ts";
import { CudaStream, defaultStreamOf } from "./stream.ts";

/** Options of calls that queue work: the stream to use. */
export interface StreamChoice {
  /** The stream; the device's default stream when left out. */
  readonly stream?: CudaStream | undefined;
}

/** A stream; its device is checked when it is used. */
export const STREAM: OptionKind = {
  expected: "a stream of gpu.createStream()",
  accepts: (value) => value instanceof CudaStream,
};

/** Checks the options above. */
export const STREAM_CHOICE: OptionSet<StreamChoice> = new OptionSet({ stream: STREAM });

/**
 * Returns the stream that a call on `what` uses: the one that its options name, or the default one.
 *
 * @throws DisposedError when the stream was disposed.
 * @throws TypeError when it belongs to another device.
 */
export function streamOn(
  context: Context,
  { stream }: StreamChoice,
  what: { toString(): string },
): CudaStream {
  if (stream === undefined) return defaultStreamOf(context);
  if (stream.disposed) throw new DisposedError(stream.toString());
  if (stream.context === context) return stream;
  throw new TypeError(
    `Cannot use ${what} of device ${context.ordinal} on ${stream} of device ` +
      `${stream.context.ordinal}: use a stream of the same device`,
  );
}
