// Checks which values fit an element, at the borders of every type.

import { assertEquals, assertThrows } from "@std/assert";
import { elementOf } from "../../../src/buffers/element.ts";
import type { DType } from "../../../src/dtype.ts";

const BYTES: readonly [DType, number | bigint | boolean, number[]][] = [
  ["bool", true, [1]],
  ["bool", false, [0]],
  ["bool", -0, [0]],
  ["bool", NaN, [1]], // as astype() has it: every value but 0 is true
  ["uint8", 255, [255]],
  ["int8", -128, [0x80]],
  ["uint16", 0x0102, [2, 1]],
  ["int16", -2, [0xfe, 0xff]],
  ["float16", 1, [0, 0x3c]],
  ["bfloat16", 1, [0x80, 0x3f]],
  ["float32", 1, [0, 0, 0x80, 0x3f]],
  ["uint32", 0xffffffff, [255, 255, 255, 255]],
  ["int64", -1n, Array(8).fill(255)],
  ["uint64", 1n, [1, 0, 0, 0, 0, 0, 0, 0]],
  ["float64", 1, [0, 0, 0, 0, 0, 0, 0xf0, 0x3f]],
];

for (const [dtype, value, bytes] of BYTES) {
  Deno.test(`elementOf() encodes ${value} as ${dtype}`, () => {
    assertEquals([...elementOf(dtype, value)], bytes);
  });
}

const OUTSIDE: readonly [DType, number | bigint][] = [
  ["uint8", 256],
  ["uint8", -1],
  ["int8", 128],
  ["int8", -129],
  ["int16", 32768],
  ["uint16", 65536],
  ["int32", 2 ** 31],
  ["uint32", 2 ** 32],
  ["uint32", 0.5],
  ["int32", NaN],
  ["int32", Infinity],
  ["int64", 2n ** 63n],
  ["uint64", 2n ** 64n],
  ["uint64", -1n],
];

for (const [dtype, value] of OUTSIDE) {
  Deno.test(`elementOf() refuses ${value} as ${dtype} with the range`, () => {
    assertThrows(() => elementOf(dtype, value), RangeError, `as ${dtype}: expected a whole number`);
  });
}

Deno.test("elementOf() refuses a value of the wrong JavaScript type", () => {
  assertThrows(() => elementOf("float32", 1n), TypeError, "expected a number");
  assertThrows(() => elementOf("int64", 1), TypeError, "expected a bigint");
  assertThrows(() => elementOf("float32", "1" as unknown as number), TypeError);
  assertThrows(() => elementOf("uint8", undefined as unknown as number), TypeError);
  assertThrows(() => elementOf("bool", "false" as unknown as boolean), TypeError);
});
