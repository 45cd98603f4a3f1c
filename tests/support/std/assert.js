// @ts-self-types="./assert.d.ts"
// @std/assert by its place in npm, with types of its own.
import { Buffer } from "node:buffer";
import { assertEquals as assertDeeplyEqual } from "npm:deno-std@1.4.0/assert/mod.js";

export * from "npm:deno-std@1.4.0/assert/mod.js";

/** Passes when both values are deeply equal; of large arrays the bytes are compared first, at once. */
export function assertEquals(actual, expected, message) {
  if (!hasSameBytes(actual, expected)) assertDeeplyEqual(actual, expected, message);
}

const TypedArray = Object.getPrototypeOf(Uint8Array);

/** Tells whether both are arrays of one type with the same bytes, or lists of these. */
function hasSameBytes(one, other) {
  if (Array.isArray(one) && Array.isArray(other)) {
    const isList = Object.keys(one).length === one.length && one.length === other.length;
    return isList && Object.keys(other).length === other.length &&
      one.every((item, at) => hasSameBytes(item, other[at]));
  }
  if (!(one instanceof TypedArray) || !(other instanceof TypedArray)) return false;
  const isOfOneType = Object.getPrototypeOf(one) === Object.getPrototypeOf(other);
  return isOfOneType && Buffer.compare(bytesOf(one), bytesOf(other)) === 0;
}

function bytesOf({ buffer, byteOffset, byteLength }) {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
