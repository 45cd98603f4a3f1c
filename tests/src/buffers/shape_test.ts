// Checks the arithmetic on shapes and ranges.

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  countOf,
  formatShape,
  requestedShape,
  resolveRange,
  toShape,
} from "../../../src/buffers/shape.ts";

Deno.test("toShape() takes a length or a list, and freezes a copy", () => {
  const sizes = [2, 3];
  const shape = toShape(sizes);
  sizes[0] = 99;
  assertEquals([toShape(4), shape, toShape([])], [[4], [2, 3], []]);
  assert(Object.isFrozen(shape));
});

Deno.test("toShape() says who works out a size of -1", () => {
  for (const shape of [-1, [-1, 4]]) assertThrows(() => toShape(shape), RangeError, "reshape()");
});

for (const sizes of [[-2], [2, 0.5], [NaN], [2 ** 53], [2 ** 27, 2 ** 27], [Infinity, 0]]) {
  Deno.test(`toShape() refuses [${sizes}]`, () => {
    assertThrows(() => toShape(sizes), RangeError, "expected a whole number from 0 to 2^53 - 1");
  });
}

Deno.test("toShape() refuses a value that is not a shape", () => {
  for (const nothing of [undefined, null, "4", 4n, {}]) {
    assertThrows(() => toShape(nothing as unknown as number), TypeError, "as a shape: expected");
  }
});

Deno.test("requestedShape() says that the element type comes first when the shape stands there", () => {
  const request = (dtype: unknown, shape: unknown) => ({ dtype, shape }) as never;
  assertEquals(requestedShape({ dtype: "int8", shape: [2, 3] }), [2, 3]);
  const first = 'it comes before the shape, as in gpu.alloc("float32", [2, 3])';
  assertThrows(() => requestedShape(request([2, 3], undefined)), TypeError, first);
  assertThrows(() => requestedShape(request(2, 3)), TypeError, first);
  assertThrows(() => requestedShape(request("1 MiB", undefined)), TypeError, "expected one of");
  assertThrows(() => requestedShape(request("int8", undefined)), TypeError, "undefined as a shape");
});

Deno.test("countOf() multiplies, and an empty shape is one element", () => {
  assertEquals([countOf([2, 3, 4]), countOf([2, 0]), countOf([])], [24, 0, 1]);
});

Deno.test("formatShape() writes a type and its sizes", () => {
  assertEquals(formatShape("float32", [2, 3]), "float32[2, 3]");
});

Deno.test("resolveRange() agrees with TypedArray.subarray for every start and end", () => {
  const reference = Uint8Array.from({ length: 5 }, (_, index) => index);
  const ends = [undefined, -9, -5, -1, 0, 2, 4.9, 5, 9, NaN, -Infinity, Infinity];
  for (const start of ends) {
    for (const end of ends) {
      const range = resolveRange(5, { start, end });
      const expected = [...reference.subarray(start, end)];
      assertEquals([...reference.slice(range.start, range.end)], expected, `${start} to ${end}`);
    }
  }
});
