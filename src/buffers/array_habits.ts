// Help for programs that use a buffer or a list as if it were an array: `x[0]`, `[...x]`.

import { isHostMemory } from "../memory/host_memory.ts";
import { describeValue } from "../words/format.ts";

/** The indices that people try first; a proxy would catch all, and slow down every await. */
const TRIED = [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/**
 * Makes reading or writing an element by its index throw an error that names the right call: notebooks
 * have no compiler, and without this a read would give undefined and a write would be lost.
 */
export function refuseIndices(
  prototype: object,
  { read, write }: Readonly<Record<"read" | "write", string>>,
): void {
  for (const index of TRIED) {
    Object.defineProperty(prototype, index, {
      get(this: unknown): never {
        throw new TypeError(`Cannot read element ${index} of ${describeValue(this)}: ${read}`);
      },
      set(this: unknown): never {
        throw new TypeError(`Cannot write element ${index} of ${describeValue(this)}: ${write}`);
      },
    });
  }
}

/** Does the same for a class whose list is a property, and cannot be changed. */
export function refuseIndicesOf(prototype: object, list: string): void {
  refuseIndices(prototype, { read: `use x.${list}[i]`, write: "it stays as it is" });
}

/** Makes arithmetic with a buffer throw, which would give NaN; in a text it is its name. */
export function textOf(buffer: object, hint: string, instead: string): string {
  if (hint !== "number") return buffer.toString();
  throw new TypeError(`Cannot compute with ${buffer}: ${instead}`);
}

/** Words for the calls that compute with elements on the GPU. */
export const COMPUTE_HELP =
  "its elements are on the GPU; gpu.compile() makes kernels, await x.download() an array";

/** The calls that move ordinary arrays, for either side of a queued copy. */
const ARRAY_CALLS = { source: "upload()", destination: "download()" };

/** Says why a value cannot be a side of a queued copy, for messages: `the source is a promise, …`. */
export function notOnGpu(side: "source" | "destination", value: unknown): string {
  const is = `the ${side} is ${describeValue(value)}`;
  const isArray = isHostMemory(value) || Array.isArray(value);
  if (!isArray) return `${is}, expected a buffer or a view of one`;
  const instead = `await ${ARRAY_CALLS[side]}, or use a pinned buffer`;
  return `${is}, whose memory could move on before the GPU is done; ${instead}`;
}
