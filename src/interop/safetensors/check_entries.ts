// Checks of the arguments of a save, before a file is touched: notebooks have no type checks.

import { GpuBuffer } from "../../buffers/gpu_buffer.ts";
import { StridedView } from "../../buffers/strided_view.ts";
import type { DType } from "../../dtype.ts";
import { describeValue } from "../../words/format.ts";

/** A buffer and the name it is saved under. */
export type NamedBuffer = readonly [name: string, buffer: GpuBuffer<DType>];

/**
 * Returns buffers by name from an object, a Map, or another iterable of pairs.
 *
 * @throws TypeError when the names are missing, or a value is not a buffer; the message says which.
 */
export function toNamedBuffers(path: string, tensors: unknown): NamedBuffer[] {
  if (!isCollection(tensors)) {
    throw new TypeError(
      `Cannot save ${path}: it was given ${describeValue(tensors)}, expected buffers by name: ` +
        `{ weights: buffer }`,
    );
  }
  if (!isIterable(tensors)) {
    return Object.entries(tensors).map(([name, value]) => toNamed(path, name, value));
  }
  return [...tensors].map((entry, i) => {
    if (!Array.isArray(entry)) {
      throw new TypeError(
        `Cannot save ${path}: entry ${i} is ${describeValue(entry)}, expected a name and a ` +
          `buffer: ["weights", buffer]`,
      );
    }
    const [name, value]: unknown[] = entry;
    if (typeof name !== "string") {
      throw new TypeError(
        `Cannot save ${path}: entry ${i} has ${describeValue(name)} for a name, expected a string`,
      );
    }
    return toNamed(path, name, value);
  });
}

/**
 * Checks that all metadata are strings, as the format demands, and can be written as UTF-8.
 *
 * @throws TypeError that names the wrong one.
 */
export function checkMetadata(path: string, metadata: unknown): void {
  if (!isRecord(metadata)) {
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

function toNamed(path: string, name: string, value: unknown): NamedBuffer {
  checkText(path, name, "tensor");
  return [name, toBuffer(path, name, value)];
}

/** Rejects lone surrogates: JSON could hold them, but no reader of the format accepts them. */
function checkText(path: string, text: string, what: string): void {
  if (text.isWellFormed()) return;
  throw new TypeError(
    `Cannot save ${path}: ${what} ${JSON.stringify(text)} has half of a surrogate pair, ` +
      `which is not a character`,
  );
}

function toBuffer(path: string, name: string, value: unknown): GpuBuffer<DType> {
  if (value instanceof GpuBuffer) return value;
  throw new TypeError(
    `Cannot save ${path}: tensor "${name}" is ${describeValue(value)}, expected a buffer` +
      adviceForBuffer(value),
  );
}

/**
 * Returns whether a value has names; a promise or a single buffer has none, and would be saved as nothing.
 */
function isCollection(value: unknown): value is object {
  if (typeof value !== "object" || value === null || value instanceof Promise) return false;
  return !(value instanceof GpuBuffer || value instanceof StridedView) &&
    !ArrayBuffer.isView(value);
}

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value && typeof value[Symbol.iterator] === "function";
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !isIterable(value);
}

function adviceForBuffer(value: unknown): string {
  if (value instanceof StridedView) return ": contiguous() makes one";
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return ": await gpu.upload() makes one";
  return "buffers" in Object(value) ? ": save each of its buffers" : "";
}

function adviceForText(value: unknown): string {
  if (typeof value === "object" && value !== null) return ": JSON.stringify() makes one";
  return ["number", "bigint", "boolean"].includes(typeof value) ? `: String(${value})` : "";
}
