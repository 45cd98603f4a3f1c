// Checks the struct builder: C's layout rules, zeros for what is left out, and the way back.
// That sizes and offsets of the real structs are those of cuda.h is checked in abi_test.ts.

import { assertEquals, assertThrows } from "@std/assert";
import { bytes, i32, struct, u16, u32, u64, u8 } from "../../ffi/struct.ts";

const LOCATION = struct({ type: i32, id: i32 });
const ACCESS = struct({ location: LOCATION, flags: i32 });

Deno.test("struct() puts each member at a multiple of its alignment", () => {
  const mixed = struct({ a: u8, b: u16, c: u8, d: u32, e: u8, f: u64 });
  assertEquals(mixed.offsets, { a: 0, b: 2, c: 4, d: 8, e: 12, f: 16 });
});

Deno.test("struct() pads its end to the largest alignment", () => {
  assertEquals(struct({ a: u64, b: u8 }).byteLength, 16);
  assertEquals(struct({ a: u8, b: bytes(4) }).byteLength, 5);
});

Deno.test("struct() aligns a nested struct as its widest member", () => {
  const outer = struct({ a: u8, inner: struct({ b: u8, c: u64 }), d: u8 });
  assertEquals(outer.offsets, { a: 0, inner: 8, d: 24 });
  assertEquals(outer.byteLength, 32);
});

Deno.test("Struct.encode() writes little-endian values at the offsets", () => {
  const pair = struct({ a: u16, b: i32 });
  assertEquals([...pair.encode({ a: 0x1234, b: -2 })], [0x34, 0x12, 0, 0, 0xfe, 0xff, 0xff, 0xff]);
});

Deno.test("Struct.encode() leaves members out as zero", () => {
  const decoded = ACCESS.decode(ACCESS.encode({ location: { id: 3 } }));
  assertEquals(decoded, { location: { type: 0, id: 3 }, flags: 0 });
});

Deno.test("Struct.encode() refuses a byte array longer than its member", () => {
  const block = struct({ a: bytes(2), b: u8 });
  assertThrows(() => block.encode({ a: new Uint8Array(3) }), RangeError);
});

Deno.test("Struct.decode() reads from a view into a larger buffer", () => {
  const larger = new Uint8Array(16);
  larger.set(LOCATION.encode({ type: 1, id: 7 }), 5);
  assertEquals(LOCATION.decode(larger.subarray(5)), { type: 1, id: 7 });
});

Deno.test("Struct.decode() copies byte arrays out of the memory it reads", () => {
  const block = struct({ a: bytes(2) });
  const memory = block.encode({ a: new Uint8Array([1, 2]) });
  const { a } = block.decode(memory);
  memory.fill(9);
  assertEquals([...a], [1, 2]);
});

Deno.test("Struct.decode() refuses memory that is shorter than the struct", () => {
  assertThrows(
    () => LOCATION.decode(new Uint8Array(7)),
    RangeError,
    "Cannot decode a struct of 8 bytes: 7 bytes given",
  );
});

Deno.test("Struct.write() fills one element of an array of structs", () => {
  const array = new Uint8Array(2 * ACCESS.byteLength);
  ACCESS.write(new DataView(array.buffer), ACCESS.byteLength, { flags: 1 });
  assertEquals(ACCESS.decode(array).flags, 0);
  assertEquals(ACCESS.decode(array.subarray(ACCESS.byteLength)).flags, 1);
});
