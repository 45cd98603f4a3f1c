// Checks of metadata before a file is touched: notebooks have no type checks.

import { describeValue } from "../../words/format.ts";
import { checkText, hasFields } from "../named_buffers.ts";

/**
 * Checks that all metadata are strings, as the format demands, and can be written as UTF-8.
 *
 * @throws TypeError that names the wrong one.
 */
export function checkMetadata(path: string, metadata: unknown): void {
  if (!hasFields(metadata) || Symbol.iterator in metadata) {
    throw new TypeError(
      `Cannot save ${path}: metadata is ${describeValue(metadata)}, expected an object of texts`,
    );
  }
  for (const [key, value] of Object.entries(metadata)) {
    checkText(path, key, "metadata");
    if (typeof value !== "string") {
      throw new TypeError(
        `Cannot save ${path}: metadata "${key}" is ${describeValue(value)}, expected a string` +
          adviceForText(value),
      );
    }
    checkText(path, value, `metadata "${key}":`);
  }
}

function adviceForText(value: unknown): string {
  if (typeof value === "object" && value !== null) return ": JSON.stringify() makes one";
  return ["number", "bigint", "boolean"].includes(typeof value) ? `: String(${value})` : "";
}
