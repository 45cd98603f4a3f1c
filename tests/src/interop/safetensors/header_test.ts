// The limits of the safetensors format, one file made by hand for each that it breaks.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { SafetensorsError } from "../../../../src/interop/safetensors/header.ts";
import {
  encodeHeader,
  MAX_HEADER_BYTES,
  parseHeader,
  readHeaderLength,
} from "../../../../src/interop/safetensors/header.ts";

const FLOATS = { dtype: "F32", shape: [2, 3], data_offsets: [0, 24] };
const BYTES = { dtype: "U8", shape: [4], data_offsets: [24, 28] };

Deno.test("parseHeader() lists tensors in the order of their bytes", async () => {
  const { tensors, metadata } = await parse(
    { later: BYTES, __metadata__: { by: "x" }, first: FLOATS },
    28,
  );
  assertEquals(tensors, [
    { name: "first", format: "F32", shape: [2, 3], byteOffset: 0, byteLength: 24 },
    { name: "later", format: "U8", shape: [4], byteOffset: 24, byteLength: 4 },
  ]);
  assertEquals({ ...metadata }, { by: "x" });
});

Deno.test("parseHeader() takes scalars, empty tensors and a file without any", async () => {
  const scalar = { dtype: "F64", shape: [], data_offsets: [0, 8] };
  const empty = { dtype: "F64", shape: [0, 3], data_offsets: [8, 8] };
  assertEquals((await parse({ empty, scalar }, 8)).tensors.map(({ name }) => name), [
    "scalar",
    "empty",
  ]);
  assertEquals((await parse({}, 0)).tensors, []);
});

Deno.test("parseHeader() takes values nested 127 deep, and no metadata as null", async () => {
  assertEquals((await parse(nested(125), 2)).tensors.map(({ name }) => name), ["a"]);
  assertEquals({ ...(await parse(`{"__metadata__":null}`, 0)).metadata }, {});
});

Deno.test("parseHeader() takes names with escapes, and numbers like names", async () => {
  const { tensors } = await parse({ "10": BYTES, 'ä"\\\n\u2028🙂': FLOATS }, 28);
  assertEquals(tensors.map(({ name }) => name), ['ä"\\\n\u2028🙂', "10"]);
  assertEquals(
    (await parse(`{"\\ud83d\\ude42":${JSON.stringify(FLOATS)}}`, 24)).tensors[0]?.name,
    "🙂",
  );
  // what decoders put in the place of broken bytes
  assertEquals((await parse({ "\ufffd": FLOATS }, 24)).tensors[0]?.name, "\ufffd");
});

Deno.test("parseHeader() reads many tensors, and others have their turn meanwhile", async () => {
  const count = 40_000;
  const entries = Array.from({ length: count }, (_, i) => {
    return `"t${i}":{"dtype":"U8","shape":[1],"data_offsets":[${i},${i + 1}]}`;
  });
  const bytes = new TextEncoder().encode(`{${entries.reverse().join(",")}}`);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const { tensors } = await parseHeader(bytes, { path: "m", dataByteLength: count });
  clearInterval(timer);
  assertEquals(tensors.length, count);
  assertEquals(tensors[7], { name: "t7", format: "U8", shape: [1], byteOffset: 7, byteLength: 1 });
  assert(turns > 0);
});

Deno.test("parseHeader() takes spaces behind the header and a tensor called __proto__", async () => {
  const { tensors } = await parse(`{"__proto__":${JSON.stringify(FLOATS)}}   `, 24);
  assertEquals(tensors.map(({ name }) => name), ["__proto__"]);
});

const BROKEN: Readonly<Record<string, { header: unknown; dataBytes?: number; says: string }>> = {
  "text that is not UTF-8 behind what decoders put there": {
    header: Uint8Array.of(0x7b, 0xef, 0xbf, 0xbd, 0xff, 0x7d),
    says: "not UTF-8",
  },
  "text that is not UTF-8": { header: Uint8Array.of(0x7b, 0xff, 0x7d), says: "not UTF-8" },
  "a byte order mark": { header: "\ufeff{}", says: `does not start with "{"` },
  "a form feed before the object": { header: "\f{}", says: `does not start with "{"` },
  "white space alone": { header: "    ", says: `does not start with "{"` },
  "a list": { header: "[]", says: `does not start with "{"` },
  "half an object": { header: `{"a":`, says: "not JSON" },
  "two objects": { header: "{}{}", says: "not JSON" },
  "a name twice": {
    header: `{"a":${JSON.stringify(FLOATS)},"\\u0061":${JSON.stringify(FLOATS)}}`,
    dataBytes: 24,
    says: `has "a" twice`,
  },
  "a field twice": {
    header: `{"a":{"dtype":"U8","dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}`,
    dataBytes: 24,
    says: `has "dtype" twice`,
  },
  "a tensor that is no object": { header: { a: [1] }, says: "not described by an object" },
  "an unknown type": { header: { a: { ...FLOATS, dtype: "F31" } }, says: `unknown type "F31"` },
  "no type": { header: { a: { shape: [], data_offsets: [0, 0] } }, says: "unknown type undefined" },
  "a negative size": { header: { a: { ...FLOATS, shape: [-2, -3] } }, says: "not a list of sizes" },
  "a broken size": { header: { a: { ...FLOATS, shape: [1.5, 4] } }, says: "not a list of sizes" },
  "one offset": { header: { a: { ...FLOATS, data_offsets: [24] } }, says: "not two sizes" },
  "an offset as text": { header: { a: { ...FLOATS, data_offsets: [0, "24"] } }, says: "two sizes" },
  "an end before its start": {
    header: { a: { ...FLOATS, data_offsets: [24, 0] } },
    says: "ends at 0, before it starts at 24",
  },
  "a shape beyond 2^53": {
    header: { a: { ...FLOATS, shape: [2 ** 52, 2 ** 52, 0], data_offsets: [0, 0] } },
    says: "is too large",
  },
  "a shape that needs more bytes than its offsets": {
    header: { a: { ...FLOATS, shape: [7] } },
    dataBytes: 24,
    says: "takes 28 bytes by its shape, 24 by its offsets",
  },
  "four-bit floats that end inside a byte": {
    header: { a: { dtype: "F4", shape: [3], data_offsets: [0, 2] } },
    says: "takes 12 bits, not a whole number of bytes",
  },
  "tensors that overlap": {
    header: { a: FLOATS, b: { ...BYTES, data_offsets: [20, 24] } },
    dataBytes: 24,
    says: `tensor "b" overlaps the tensor before it: it starts at 20, expected 24`,
  },
  "a gap between tensors": {
    header: { a: FLOATS, b: { ...BYTES, data_offsets: [28, 32] } },
    dataBytes: 32,
    says: `tensor "b" follows a gap: it starts at 28, expected 24`,
  },
  "a gap before the first tensor": {
    header: { a: { ...BYTES, data_offsets: [1, 5] } },
    dataBytes: 5,
    says: "follows a gap",
  },
  "data that is cut short": { header: { a: FLOATS }, dataBytes: 23, says: "it is cut short" },
  "bytes behind the last tensor": { header: { a: FLOATS }, dataBytes: 25, says: "bytes follow" },
  "a size written as a float": {
    header: `{"a":{"dtype":"U8","shape":[2.0],"data_offsets":[0,2]}}`,
    dataBytes: 2,
    says: "not a list of sizes",
  },
  "a size with an exponent": {
    header: `{"a":{"dtype":"U8","shape":[2e0],"data_offsets":[0,2]}}`,
    dataBytes: 2,
    says: "not a list of sizes",
  },
  "a size of minus nothing": {
    header: `{"a":{"dtype":"U8","shape":[2],"data_offsets":[-0,2]}}`,
    dataBytes: 2,
    says: "not two sizes",
  },
  "half of a surrogate pair in a name": {
    header: `{"\\ud800":${JSON.stringify(BYTES)}}`,
    says: "half of a surrogate pair",
  },
  "half of a surrogate pair in the metadata": {
    header: `{"__metadata__":{"a":"\\udc00"}}`,
    says: "half of a surrogate pair",
  },
  "values nested deeper than 127": { header: nested(126), dataBytes: 2, says: "nested deeper" },
  "a number that no float holds": {
    header: `{"a":{"z":1e999}}`,
    says: "not JSON: the number is out of range",
  },
  "a control character in a name": { header: `{"a\u0001":{}}`, says: "not JSON" },
  "metadata twice": {
    header: `{"__metadata__":{},"__metadata__":{}}`,
    says: `has "__metadata__" twice`,
  },
  "a text of the metadata twice": {
    header: `{"__metadata__":{"a":"1","a":"2"}}`,
    says: `has "a" twice`,
  },
  "metadata that is a list": { header: { __metadata__: [] }, says: "not an object of texts" },
  "metadata that is not text": { header: { __metadata__: { a: 1 } }, says: "object of texts" },
};

for (const [what, { header, dataBytes = 0, says }] of Object.entries(BROKEN)) {
  Deno.test(`parseHeader() refuses ${what}`, async () => {
    const error = await assertRejects(() => parse(header, dataBytes), SafetensorsError, says);
    assertEquals(error.path, "model.safetensors");
    assertEquals(error.message.startsWith("Cannot load model.safetensors: "), true);
  });
}

Deno.test("readHeaderLength() refuses a file without a length", () => {
  const file = { path: "model.safetensors", byteLength: 7 };
  assertThrows(() => readHeaderLength(new Uint8Array(7), file), SafetensorsError, "it has 7 bytes");
});

Deno.test("readHeaderLength() names files of other sorts", () => {
  for (
    const [text, sort] of [
      ["version https://git-lfs.github.com/spec/v1", "a pointer of Git LFS, which `git lfs pull`"],
      ["PK\x03\x04\x00\x00\x08\x08\x00", "a ZIP archive, as .npz and .pt files"],
      ["GGUF\x03\x00\x00\x00\x01", "GGUF"],
      ["\x80\x04\x95\x1e\x00\x00\x00\x00\x00", "a pickle of Python's"],
      ["\x89HDF\r\n\x1a\n\x00", "HDF5"],
      ["\x93NUMPY\x01\x00v\x00", "a .npy file of numpy's"],
      ["<!doctype html>", "a web page"],
      ['{"weight_map": {', "JSON"],
      ['{\n  "metadata"', "JSON"],
    ] as const
  ) {
    const start = Uint8Array.from(text, (letter) => letter.charCodeAt(0)).subarray(0, 8);
    assertThrows(
      () => readHeaderLength(start, { path: "m", byteLength: 1000 }),
      SafetensorsError,
      `Cannot load m: it is no safetensors file but ${sort}`,
    );
  }
});

Deno.test("readHeaderLength() refuses a header beyond the format's limit", () => {
  const claims = (length: bigint) => {
    const start = new Uint8Array(8);
    new DataView(start.buffer).setBigUint64(0, length, true);
    return () => readHeaderLength(start, { path: "m", byteLength: Number.MAX_SAFE_INTEGER });
  };
  assertEquals(claims(BigInt(MAX_HEADER_BYTES))(), MAX_HEADER_BYTES);
  assertThrows(claims(BigInt(MAX_HEADER_BYTES) + 1n), SafetensorsError, "more than the 100000000");
  assertThrows(claims(2n ** 64n - 1n), SafetensorsError, "18446744073709551615 bytes");
});

Deno.test("readHeaderLength() refuses a header beyond the end of the file", () => {
  const start = Uint8Array.of(100, 0, 0, 0, 0, 0, 0, 0);
  const read = (byteLength: number) => readHeaderLength(start, { path: "m", byteLength });
  assertEquals(read(108), 100);
  assertThrows(() => read(107), SafetensorsError, "it is cut short");
});

Deno.test("encodeHeader() keeps the order of the tensors, also of names like numbers", async () => {
  const header = await parse({ "b": FLOATS, "1": BYTES }, 28);
  const text = new TextDecoder().decode(encodeHeader(header).subarray(8));
  assertEquals([...text.matchAll(/"(b|1)":/g)].map(([, name]) => name), ["b", "1"]);
});

Deno.test("encodeHeader() writes what parseHeader() reads, padded to 8 bytes", async () => {
  const header = await parse({ a: FLOATS, "": BYTES, __metadata__: { by: "ä" } }, 28);
  const bytes = encodeHeader(header);
  assertEquals(bytes.byteLength % 8, 0);
  const read = await parseHeader(bytes.subarray(8), { path: "m", dataByteLength: 28 });
  assertEquals(read, header);
});

/** A tensor "a" with something nested in it; two levels are around that. */
function nested(depth: number): string {
  const value = "[".repeat(depth) + "]".repeat(depth);
  return `{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2],"z":${value}}}`;
}

function parse(header: unknown, dataByteLength: number) {
  const bytes = header instanceof Uint8Array
    ? header
    : new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  return parseHeader(bytes, { path: "model.safetensors", dataByteLength });
}
