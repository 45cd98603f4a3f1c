// Checks of named buffers before a file is touched, because notebooks have no type checks.

import { GpuBuffer } from "../buffers/gpu_buffer.ts";
import { StridedView } from "../buffers/strided_view.ts";
import { describeValue, visibleText } from "../words/format.ts";
import { isIterable, isRecord } from "../words/options.ts";

/** A buffer and the name it is saved under. */
export type NamedBuffer = readonly [name: string, buffer: GpuBuffer];

/** The file that buffers are saved to. */
interface SaveTarget {
  /** The file, for messages. */
  readonly path: string;
  /** Word for one buffer in messages. */
  readonly noun: "array" | "tensor";
}

/**
 * Returns buffers by name from an object, a Map, or another iterable of pairs.
 *
 * @throws TypeError when the names are missing, or a value is not a buffer; the message says which.
 */
export function toNamedBuffers(buffers: unknown, target: SaveTarget): NamedBuffer[] {
  const { path } = target;
  if (!isCollection(buffers)) {
    const given = `it was given ${describeValue(buffers)}`;
    throw cannotSave(path, `${given}, expected buffers by name: { weights: buffer }`);
  }
  if (!isIterable(buffers)) {
    return Object.entries(buffers).map(([name, value]) => toNamed(name, value, target));
  }
  return [...buffers].map((entry, i) => {
    if (!Array.isArray(entry)) {
      const words = `expected a name and a buffer: ["weights", buffer]`;
      throw cannotSave(path, `entry ${i} is ${describeValue(entry)}, ${words}`);
    }
    const [name, value]: unknown[] = entry;
    if (typeof name !== "string") {
      const words = `entry ${i} has ${describeValue(name)} for a name, expected a string`;
      throw cannotSave(path, words);
    }
    return toNamed(name, value, target);
  });
}

function toNamed(name: string, value: unknown, { path, noun }: SaveTarget): NamedBuffer {
  checkText(path, name, noun);
  if (value instanceof GpuBuffer) return [name, value];
  const words = `is ${describeValue(value)}, expected a buffer${adviceForBuffer(value)}`;
  throw cannotSave(path, `${noun} "${name}" ${words}`);
}

/** Creates the error for values that a file cannot have. */
export function cannotSave(path: string, reason: string): TypeError {
  return new TypeError(visibleText(`Cannot save ${path}: ${reason}`));
}

/** Rejects lone surrogates, which UTF-8 cannot hold. */
export function checkText(path: string, text: string, what: string): void {
  if (text.isWellFormed()) return;
  const words = `${JSON.stringify(text)} has half of a surrogate pair, which is not a character`;
  throw cannotSave(path, `${what} ${words}`);
}

/** Returns whether a value is a collection with names, not a single buffer. */
function isCollection(value: unknown): value is object {
  if (value instanceof GpuBuffer || value instanceof StridedView || ArrayBuffer.isView(value)) {
    return false;
  }
  return hasFields(value) || isIterable(value);
}

/** Returns whether a value has fields; a promise or a Date has none, and would be saved as nothing. */
export function hasFields(value: unknown): value is object {
  return isRecord(value) ||
    (typeof value === "object" && value !== null && Object.keys(value).length > 0);
}

function adviceForBuffer(value: unknown): string {
  if (value instanceof StridedView) return ": contiguous() makes one";
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return ": await gpu.upload() makes one";
  return "buffers" in Object(value) ? ": save each of its buffers" : "";
}
