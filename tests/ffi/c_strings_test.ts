// Checks C strings, against the C library where there is one: they must end where C ends them.

import { assertEquals, assertThrows } from "@std/assert";
import { cString, readCString } from "../../ffi/c_strings.ts";

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
