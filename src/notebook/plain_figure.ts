// A figure's parts as plain data: JSON turns typed arrays into objects with a key for each element,
// and fails for BigInts.

import { describeValue } from "../words/format.ts";
import { isPromiseLike, isRecord } from "../words/options.ts";
import type { FigureParts } from "./figure_html.ts";

/**
 * Copies a figure's parts, with typed arrays replaced by arrays of numbers, and BigInts by numbers;
 * the figure itself does not change.
 *
 * @throws TypeError for promises, buffers and cyclic values.
 */
export function plainFigure({ description, ...parts }: FigureParts): FigureParts {
  return { ...plain(parts, []) as Omit<FigureParts, "description">, description };
}

/** Copies a value nested in these others. */
function plain(value: unknown, around: readonly unknown[]): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null) return value;
  if (around.includes(value)) throw new TypeError("Cannot draw a figure: a part contains itself");
  if (
    isPromiseLike(value) || typeof (value as Partial<Disposable>)[Symbol.dispose] === "function"
  ) {
    throw new TypeError(
      `Cannot draw a figure with ${describeValue(value)}: expected numbers, such as ` +
        `await buffer.download() gives`,
    );
  }
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return Array.from(value as unknown as ArrayLike<number | bigint>, Number);
  }
  const within = [...around, value];
  if (Array.isArray(value)) return value.map((each) => plain(each, within));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, plain(each, within)]),
  );
}
