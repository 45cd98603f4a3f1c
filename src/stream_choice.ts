// The stream that options name, checked at the door: notebooks have no compiler to do it.

import { CudaStream } from "./stream.ts";

/** On which stream to queue work. */
export interface StreamChoice {
  /** The stream; the device's default stream when left out. */
  readonly stream?: CudaStream | undefined;
}

/**
 * The stream that options name; undefined where they name none.
 *
 * @throws TypeError when that is no stream, or they are no options.
 */
export function chosenStream(options: StreamChoice): CudaStream | undefined {
  const stream: unknown = options?.stream;
  if (stream instanceof CudaStream) return stream;
  if (stream !== undefined) {
    throw new TypeError(
      `Cannot use ${typeof stream} ${String(stream)} as a stream: expected one of ` +
        `gpu.createStream()`,
    );
  }
  if (options instanceof CudaStream) {
    throw new TypeError(`Cannot use ${options} as options: pass { stream }`);
  }
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(
      `Cannot use ${String(options)} as options: expected an object, such as { stream }`,
    );
  }
  return undefined;
}
