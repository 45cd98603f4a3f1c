// Help for programs that use a buffer or a list of devices as if it were an array: `x[0]`, `[...x]`.

import { describeValue } from "../words/format.ts";

/** Indices that people try first; a loop begins at 0. A proxy would see all, and slow every await. */
const TRIED = [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/** The calls to use instead, for messages. */
export interface IndexHelp {
  /** To read one element. */
  readonly read: string;
  /** To write one. */
  readonly write: string;
}

/**
 * Makes reading and writing an element by its index an error with the call that does it: notebooks have
 * no compiler, and without this one would be undefined and the other lost.
 */
export function refuseIndices(prototype: object, { read, write }: IndexHelp): void {
  for (const index of TRIED) {
    Object.defineProperty(prototype, index, {
      get(this: unknown): never {
        throw new TypeError(`Cannot read element ${index} of ${this}: ${read}`);
      },
      set(this: unknown): never {
        throw new TypeError(`Cannot write element ${index} of ${this}: ${write}`);
      },
    });
  }
}

/**
 * Makes arithmetic with a buffer an error: it would be NaN, and a comparison false. In texts it is its
 * name.
 */
export function textOf(buffer: object, hint: string, instead: string): string {
  if (hint !== "number") return buffer.toString();
  throw new TypeError(`Cannot compute with ${buffer}: ${instead}`);
}

/** Words for the calls that compute with elements on the GPU. */
export const COMPUTE_HELP =
  "its elements are on the GPU; gpu.compile() makes kernels, await x.download() an array";

/** The calls that move ordinary arrays, by the side of a queued copy that one was given for. */
const ARRAY_CALLS = { source: "upload()", destination: "download()" };

/** Says why a value cannot be a side of a queued copy, for messages: `the source is a promise, …`. */
export function notOnGpu(side: "source" | "destination", value: unknown): string {
  const is = `the ${side} is ${describeValue(value)}`;
  const isArray = ArrayBuffer.isView(value) || value instanceof ArrayBuffer || Array.isArray(value);
  if (!isArray) return `${is}, expected a buffer or a view of one`;
  const instead = `await ${ARRAY_CALLS[side]}, or use a pinned buffer`;
  return `${is}, whose memory could move on before the GPU is done; ${instead}`;
}
