// Checks the table of element types, and bfloat16's rounding on every kind of value.

import { assertEquals, assertInstanceOf, assertStrictEquals, assertThrows } from "@std/assert";
import {
  allocateBits,
  dlpackCode,
  type DType,
  DTYPE_NAMES,
  dtypeOf,
  elementBytes,
  fromBfloat16,
  type HostArray,
  toBfloat16,
  viewBits,
} from "../../src/dtype.ts";

/** Name, bytes, DLPack code, the array that holds it. */
const TABLE: readonly [
  DType,
  number,
  number,
  { new (length: number): HostArray; readonly BYTES_PER_ELEMENT: number },
][] = [
  ["float16", 2, 2, Float16Array],
  ["bfloat16", 2, 4, Uint16Array],
  ["float32", 4, 2, Float32Array],
  ["float64", 8, 2, Float64Array],
  ["int8", 1, 0, Int8Array],
  ["int16", 2, 0, Int16Array],
  ["int32", 4, 0, Int32Array],
  ["int64", 8, 0, BigInt64Array],
  ["uint8", 1, 1, Uint8Array],
  ["uint16", 2, 1, Uint16Array],
  ["uint32", 4, 1, Uint32Array],
  ["uint64", 8, 1, BigUint64Array],
  ["bool", 1, 6, Uint8Array],
  ["float8_e4m3fn", 1, 10, Uint8Array],
  ["float8_e5m2", 1, 12, Uint8Array],
  ["float8_e8m0fnu", 1, 14, Uint8Array],
  ["float8_e4m3fnuz", 1, 11, Uint8Array],
  ["float8_e5m2fnuz", 1, 13, Uint8Array],
  ["float6_e2m3fn", 0.75, 15, Uint8Array],
  ["float6_e3m2fn", 0.75, 16, Uint8Array],
  ["float4_e2m1fn", 0.5, 17, Uint8Array],
  ["complex64", 8, 5, Float32Array],
];

Deno.test("DTYPE_NAMES lists the twenty-two element types", () => {
  assertEquals(DTYPE_NAMES, TABLE.map(([name]) => name));
});

for (const [name, bytes, code, HostClass] of TABLE) {
  Deno.test(`elementBytes() and dlpackCode() know ${name}`, () => {
    assertEquals([elementBytes(name), dlpackCode(name)], [bytes, code]);
  });

  Deno.test(`allocateBits() makes a zeroed array for ${name}`, () => {
    const array = allocateBits(name, 4);
    assertInstanceOf(array, HostClass);
    const byteLength = 4 * bytes;
    assertEquals([array.length, array.byteLength], [
      byteLength / HostClass.BYTES_PER_ELEMENT,
      byteLength,
    ]);
    assertEquals(new Uint8Array(array.buffer), new Uint8Array(byteLength));
  });

  Deno.test(`viewBits() shows memory as ${name} without a copy`, () => {
    const buffer = new ArrayBuffer(8 + 8 * bytes);
    const array = viewBits(name, { buffer, byteOffset: 8, length: 4 });
    assertInstanceOf(array, HostClass);
    assertStrictEquals(array.buffer, buffer);
    assertEquals([array.byteOffset, array.byteLength], [8, 4 * bytes]);
  });
}

Deno.test("dtypeOf() finds the type of every typed array", () => {
  const plain = TABLE.filter(([name]) => /^(u?int|float)\d+$/.test(name));
  assertEquals(
    plain.map(([, , , HostClass]) => dtypeOf(new HostClass(0))),
    plain.map(([name]) => name),
  );
});

Deno.test("dtypeOf() takes clamped bytes as uint8", () => {
  assertEquals(dtypeOf(new Uint8ClampedArray(1)), "uint8");
});

Deno.test("dtypeOf() knows no type for a DataView", () => {
  assertEquals(dtypeOf(new DataView(new ArrayBuffer(1))), undefined);
});

for (const name of ["float", "toString", "__proto__", "", undefined]) {
  Deno.test(`elementBytes() refuses ${JSON.stringify(name)} and lists the types`, () => {
    assertThrows(
      () => elementBytes(name as DType),
      TypeError,
      `expected one of float16, bfloat16`,
    );
  });
}

const MEANT: Readonly<Record<string, DType>> = {
  "f32": "float32",
  "bf16": "bfloat16",
  "u8": "uint8",
  "I64": "int64",
  "<f4": "float32",
  "|u1": "uint8",
  "torch.float16": "float16",
  "Float64": "float64",
  "float": "float32",
  "double": "float64",
  "half": "float16",
  "f4": "float32",
  "uint8_t": "uint8",
  "Float32Array": "float32",
  "BigInt64Array": "int64",
  "F8_E4M3": "float8_e4m3fn",
  "f8_e5m2": "float8_e5m2",
  "F8_E8M0": "float8_e8m0fnu",
  "F4_E2M1": "float4_e2m1fn",
  "torch.float4_e2m1fn_x2": "float4_e2m1fn",
  "c64": "complex64",
  "torch.cfloat": "complex64",
};

Deno.test("elementBytes() names the type that is called otherwise elsewhere", () => {
  for (const [name, meant] of Object.entries(MEANT)) {
    const words =
      `Cannot use "${name}" (did you mean "${meant}"?) as an element type: expected one of`;
    assertThrows(() => elementBytes(name as DType), TypeError, words);
  }
  const words = 'function Uint16Array (did you mean "uint16"?) as an element type';
  assertThrows(() => elementBytes(Uint16Array as never), TypeError, words);
  for (
    const name of ["complex128", "f8", "fp8", "f8_e3m4", "<f1", "", "float23", "__proto__", {}]
  ) {
    const error = assertThrows(() => elementBytes(name as DType), TypeError);
    assertEquals(error.message.includes("did you mean"), false);
  }
});

Deno.test("toBfloat16() keeps what fits into eight bits of precision", () => {
  const exact = [0, 1, -1, 0.5, 2, 256, -3.140625, 2 ** 127, 2 ** -126];
  assertEquals([...fromBfloat16(toBfloat16(exact))], exact);
});

Deno.test("toBfloat16() rounds to the nearest", () => {
  const above = 1 + 2 ** -8 + 2 ** -12; // a little over halfway between 1 and the next
  const below = 1 + 2 ** -8 - 2 ** -12;
  assertEquals([...fromBfloat16(toBfloat16([above, below, -above]))], [
    1 + 2 ** -7,
    1,
    -(1 + 2 ** -7),
  ]);
});

Deno.test("toBfloat16() rounds a tie to the even neighbour", () => {
  const ties = [1 + 2 ** -8, 1 + 2 ** -7 + 2 ** -8];
  assertEquals([...toBfloat16(ties)], [0x3f80, 0x3f82]);
});

Deno.test("toBfloat16() keeps zero's sign and both infinities", () => {
  assertEquals([...toBfloat16([0, -0, Infinity, -Infinity])], [0, 0x8000, 0x7f80, 0xff80]);
});

Deno.test("toBfloat16() rounds beyond the largest number to infinity", () => {
  assertEquals([...toBfloat16([3.4e38, -3.4e38])], [0x7f80, 0xff80]);
});

Deno.test("toBfloat16() keeps NaN a NaN when only low bits say so", () => {
  const signalling = new Float32Array(new Uint32Array([0x7f800001, 0xff80ffff]).buffer);
  assertEquals([...fromBfloat16(toBfloat16(signalling))], [NaN, NaN]);
});

Deno.test("toBfloat16() keeps subnormal numbers", () => {
  assertEquals([...fromBfloat16(toBfloat16([2 ** -130]))], [2 ** -130]);
});

Deno.test("toBfloat16() gives every bit pattern back that fromBfloat16() widened", () => {
  const patterns = Uint16Array.from({ length: 65536 }, (_, index) => index);
  const values = fromBfloat16(patterns);
  const numbers = patterns.filter((_, index) => !Number.isNaN(values[index]));
  assertEquals(toBfloat16(fromBfloat16(numbers)), numbers);
});

Deno.test("fromBfloat16() refuses values that are floats already", () => {
  const expected = "expected the bits of bfloat16, in a Uint16Array";
  for (
    const values of [
      new Float32Array([1, 2.5]),
      new Float16Array(2),
      [1, 2],
      new DataView(new ArrayBuffer(2)),
    ]
  ) {
    assertThrows(() => fromBfloat16(values as never), TypeError, expected);
  }
});

Deno.test("toBfloat16() refuses bigints and bytes without a type", () => {
  const expected = "expected numbers, in an array or a list";
  for (const values of [new BigInt64Array(1), [1n], new DataView(new ArrayBuffer(2))]) {
    assertThrows(() => toBfloat16(values as never), TypeError, expected);
  }
});

Deno.test("toBfloat16() rounds a double once", () => {
  const half = 2 ** -8; // of the last bit of a bfloat16 above 1
  const tie = 1 + half;
  const cases: [number, number][] = [
    [tie + 2 ** -40, 1 + 2 * half], // a float32 would lose the trace, and the tie go to even
    [tie - 2 ** -40, 1],
    [-(tie + 2 ** -40), -(1 + 2 * half)],
    [tie, 1],
    [3 * half + 1 - 2 ** -40, 1 + 2 * half],
    [2 ** -150, 0],
    [-(2 ** -160), -0],
    [1e300, Infinity],
    [-1e300, -Infinity],
    [2 ** 128 - 2 ** 119, Infinity], // half way from the largest to the next
    [2 ** 128 - 2 ** 119 - 2 ** 80, 2 ** 128 - 2 ** 120],
  ];
  for (const [value, expected] of cases) {
    assertEquals([...fromBfloat16(toBfloat16([value]))], [expected], String(value));
  }
});
