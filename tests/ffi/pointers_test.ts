// Checks out-parameter cells and C strings, against the C library where there is one.
// Cells must hold what C wrote last, and strings must end where C ends them.

import { assertEquals, assertThrows } from "@std/assert";
import { cString, hex, outF32, outI32, outU64, readCString } from "../../ffi/pointers.ts";

Deno.test("outU64() is zero before a call and holds what was written last", () => {
  const cell = outU64();
  assertEquals(cell.value, 0n);
  cell.memory[0] = 2n ** 64n - 1n;
  assertEquals(cell.value, 0xffff_ffff_ffff_ffffn);
});

Deno.test("outI32() keeps the sign", () => {
  const cell = outI32();
  new DataView(cell.memory.buffer).setUint32(0, 0xffff_ffff, true);
  assertEquals(cell.value, -1);
});

Deno.test("outF32() reads a float", () => {
  const cell = outF32();
  new DataView(cell.memory.buffer).setFloat32(0, 1.5, true);
  assertEquals(cell.value, 1.5);
});

Deno.test("cString() ends in one NUL after UTF-8 bytes", () => {
  assertEquals([...cString("é")], [0xc3, 0xa9, 0]);
  assertEquals([...cString("")], [0]);
});

Deno.test("cString() refuses a NUL inside", () => {
  assertThrows(() => cString("ab\0c"), TypeError, "it has a NUL at index 2");
});

Deno.test("readCString() stops at the first NUL", () => {
  assertEquals(readCString(new Uint8Array([0x48, 0x69, 0, 0x21])), "Hi");
});

Deno.test("readCString() reads all bytes where there is no NUL", () => {
  assertEquals(readCString(new Uint8Array([0x48, 0x69])), "Hi");
});

Deno.test("readCString() reads from an address", () => {
  const text = cString("grün");
  const address = Deno.UnsafePointer.value(Deno.UnsafePointer.of(text));
  assertEquals(readCString(address), "grün");
  // Reading it once more keeps the memory referenced until here.
  assertEquals(readCString(text), "grün");
});

Deno.test("readCString() refuses the null address", () => {
  assertThrows(() => readCString(0n), TypeError, "its address is null");
});

Deno.test("hex() shows an address with its prefix", () => {
  assertEquals(hex(0x7f00_0000_1000n), "0x7f0000001000");
});
