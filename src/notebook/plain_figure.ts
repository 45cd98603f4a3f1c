// A figure's parts as plain data: plotly's JSON knows no typed arrays, of which JSON makes objects
// with a key for each element, and no BigInts, at which it fails.

import { describeValue } from "../words/format.ts";
import { isPromiseLike, isRecord } from "../words/options.ts";
import type { FigureParts } from "./figure_html.ts";

/**
 * Copies a figure's parts, with arrays of numbers in the place of typed arrays and numbers in that of
 * BigInts; what the figure holds stays as it is.
 *
 * @throws TypeError for promises, buffers and what contains itself.
 */
export function plainFigure({ description, ...parts }: FigureParts): FigureParts {
  return { ...plain(parts, []) as Omit<FigureParts, "description">, description };
}

/** Copies a value that lies within these others. */
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
