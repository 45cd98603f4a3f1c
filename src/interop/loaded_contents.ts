// The contents of a file that was loaded, by name.

import type { DType } from "../dtype.ts";
import { DisposedError } from "../words/errors.ts";
import { describeValue, visibleText } from "../words/format.ts";

/** Number of names that the error about an unknown one lists. */
const SOME_NAMES = 3;

/** The words of messages about something loaded. */
export interface LoadedWords {
  /** For all of it. */
  readonly whole: "archive" | "model";
  /** For one of its contents. */
  readonly noun: "array" | "tensor";
}

/** Returns whether all memory was disposed; what has none is there until it is disposed itself. */
export function areDisposed(blocks: readonly { readonly disposed: boolean }[]): boolean {
  return blocks.length > 0 && blocks.every((block) => block.disposed);
}

/**
 * Finds one of the contents by its name.
 *
 * @throws DisposedError when the whole was disposed.
 * @throws RangeError when there is none of that name; the message names some.
 */
export function findByName<T>(
  owner: { readonly disposed: boolean; toString(): string },
  contents: ReadonlyMap<string, T>,
  name: string,
  { whole, noun }: LoadedWords,
): T {
  if (owner.disposed) throw new DisposedError(owner.toString());
  const found = contents.get(name);
  if (found !== undefined) return found;
  const some = contents.keys().take(SOME_NAMES).map(quoted).toArray().join(", ");
  throw new RangeError(
    `Cannot find ${noun} ${quoted(name)}: the ${whole} has ${contents.size}` +
      (some === "" ? "" : `, such as ${some}`),
  );
}

/**
 * Checks the element type of one of the contents.
 *
 * @throws TypeError when it is another than is asked for.
 */
export function requireType(
  { noun }: LoadedWords,
  name: string,
  { found, wanted }: { readonly found: DType; readonly wanted: DType | undefined },
): void {
  if (wanted === undefined || found === wanted) return;
  throw new TypeError(`Cannot use ${noun} ${quoted(name)} as ${wanted}: it is ${found}`);
}

/** Names are shown whole, however long: their ends tell them apart. */
function quoted(name: unknown): string {
  return typeof name === "string" ? `"${visibleText(name)}"` : describeValue(name);
}
