// Checks how sizes and addresses are written and read.

import { assertEquals, assertLess, assertStringIncludes, assertThrows } from "@std/assert";
import {
  checkSize,
  formatAddress,
  formatBytes,
  formatCount,
  formatSeconds,
  formatSpeed,
  messageOf,
  parseBytes,
} from "../../../src/words/format.ts";

Deno.test("formatBytes() uses the largest binary unit that keeps the number at or above one", () => {
  const written = [0, 1, 1023, 1024, 1536, 2 ** 20, 2 ** 30, 1.5 * 2 ** 40, 2 ** 50].map(
    formatBytes,
  );
  assertEquals(written, [
    "0 B",
    "1 B",
    "1023 B",
    "1 KiB",
    "1.5 KiB",
    "1 MiB",
    "1 GiB",
    "1.5 TiB",
    "1 PiB",
  ]);
});

Deno.test("formatBytes() rounds to two digits below ten and to one above", () => {
  assertEquals(formatBytes(1234567), "1.18 MiB");
  assertEquals(formatBytes(123456789), "117.7 MiB");
});

Deno.test("formatBytes() never shows 1024 of a unit", () => {
  assertEquals(formatBytes(2 ** 20 - 1), "1 MiB");
  assertEquals(formatBytes(2 ** 30 - 1), "1 GiB");
});

Deno.test("formatBytes() keeps the sign of a difference", () => {
  assertEquals(formatBytes(-2048), "-2 KiB");
});

Deno.test("parseBytes() reads binary and decimal units and tells them apart", () => {
  const texts = ["512 B", "4 KiB", "4KB", "1.5 MiB", " 2 GB ", "1GiB", "1 TiB", "1 TB", "1 MB"];
  assertEquals(texts.map((text) => parseBytes(text)), [
    512,
    4096,
    4000,
    1.5 * 2 ** 20,
    2e9,
    2 ** 30,
    2 ** 40,
    1e12,
    1e6,
  ]);
});

Deno.test("parseBytes() returns a whole number as it is", () => {
  assertEquals([parseBytes(0), parseBytes(Number.MAX_SAFE_INTEGER)], [0, 2 ** 53 - 1]);
});

for (const text of ["", "64", "64k", "64 kib", "-1 B", "1e3 B", "MiB", "1 MiB 2", "0x10 B"]) {
  Deno.test(`parseBytes() refuses "${text}" and shows what it expects`, () => {
    assertThrows(() => parseBytes(text), RangeError, 'such as "64 MiB" or "2 GB"');
  });
}

for (const size of [-1, 0.5, NaN, Infinity, 2 ** 53, "9000000000 TiB"]) {
  Deno.test(`parseBytes() refuses ${size} with the range`, () => {
    assertThrows(() => parseBytes(size), RangeError, "expected a whole number from 0 to 2^53 - 1");
  });
}

Deno.test("parseBytes() shows a wrong size short and visibly", () => {
  const error = assertThrows(() => parseBytes(`\u001b[2J${"9".repeat(1e6)}`), RangeError);
  assertStringIncludes(error.message, 'Cannot read size "\\u001b[2J999');
  assertLess(error.message.length, 200);
});

Deno.test("parseBytes() names what the size is for", () => {
  assertThrows(() => parseBytes(-1, "copy size"), RangeError, "Cannot use copy size -1");
  assertThrows(() => parseBytes("x", "copy size"), RangeError, 'Cannot read copy size "x"');
});

Deno.test("checkSize() refuses a value of another type", () => {
  assertThrows(() => checkSize("4" as unknown as number, "size"), RangeError);
});

Deno.test("formatAddress() writes an address in hexadecimal", () => {
  assertEquals([formatAddress(0n), formatAddress(0x7f00abcn)], ["0x0", "0x7f00abc"]);
});

Deno.test("formatSeconds() chooses the unit that people would", () => {
  const seconds = [0, 4e-10, 5.1e-6, 0.32, 1.5, 245, 7810];
  assertEquals(seconds.map(formatSeconds), [
    "0 s",
    "0.4 ns",
    "5.1 µs",
    "320 ms",
    "1.5 s",
    "4 min 5 s",
    "2 h 10 min",
  ]);
});

Deno.test("formatSpeed() keeps digits that mean something", () => {
  assertEquals([0.0312, 0.79, 55.6, 2100].map(formatSpeed), [
    "0.031 GB/s",
    "0.79 GB/s",
    "55.6 GB/s",
    "2100 GB/s",
  ]);
});

Deno.test("formatSpeed() has smaller units for slow sources", () => {
  assertEquals([0, 0.01, 0.0099, 0.0000181, 1.8e-7, 5e-9].map(formatSpeed), [
    "0 GB/s",
    "0.01 GB/s",
    "9.9 MB/s",
    "18.1 kB/s",
    "180 B/s",
    "5.0 B/s",
  ]);
});

Deno.test("formatCount() leaves the s out for one thing", () => {
  assertEquals([0, 1, 2].map((count) => formatCount(count, "block")), [
    "0 blocks",
    "1 block",
    "2 blocks",
  ]);
});

Deno.test("messageOf() takes an error's message, and the text of whatever else was thrown", () => {
  assertEquals([new RangeError("too large"), "stop", undefined].map(messageOf), [
    "too large",
    "stop",
    "undefined",
  ]);
  assertEquals(messageOf(Object.create(null)), "an object"); // it has no text
});
