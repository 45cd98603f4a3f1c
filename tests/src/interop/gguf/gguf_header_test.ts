// Headers of GGUF files at every limit of the format.

import { assertEquals, assertRejects } from "@std/assert";
import { GgufError, type GgufHeader, readGgufHeader } from "../../../../src/entries/gguf.ts";
import {
  arrayField,
  ggufOf,
  type GgufParts,
  joined,
  textBytes,
  textField,
  uint32,
  uint64,
  wholeField,
} from "../../../support/gguf/files.ts";
import { TemporaryFolder } from "../../../support/temporary_folder.ts";
import { inTurn } from "../../../support/test_unless.ts";

const ONES = new Uint8Array(32).fill(1);
const PLAIN = { name: "t", type: 0, sizes: [4, 2], data: ONES };

async function headerOf(file: GgufParts | Uint8Array, options = {}): Promise<GgufHeader> {
  using folder = new TemporaryFolder();
  const path = folder.write("a.gguf", file instanceof Uint8Array ? file : ggufOf(file));
  return await readGgufHeader(path, options);
}

async function assertRefused(file: GgufParts | Uint8Array, reason: string): Promise<void> {
  await assertRejects(() => headerOf(file), GgufError, reason);
}

Deno.test("readGgufHeader() reads tensors, outermost axis first, and where they lie", async () => {
  const blocks = { name: "q", type: 12, sizes: [512, 3], data: new Uint8Array(3 * 288) };
  const { tensors, dataOffset, version, alignment } = await headerOf({ tensors: [PLAIN, blocks] });
  assertEquals([version, alignment, dataOffset % 32], [3, 32, 0]);
  assertEquals(tensors.map(({ shape, ...rest }) => ({ shape: [...shape], ...rest })), [
    {
      shape: [2, 4],
      name: "t",
      format: "F32",
      blockLength: 1,
      blockBytes: 4,
      dtype: "float32",
      byteOffset: 0,
      byteLength: 32,
    },
    {
      shape: [3, 512],
      name: "q",
      format: "Q4_K",
      blockLength: 256,
      blockBytes: 144,
      dtype: "uint8",
      byteOffset: 32,
      byteLength: 864,
    },
  ]);
});

Deno.test("readGgufHeader() reads values of every type", async () => {
  const inner = arrayField(5, 2, new Uint8Array(Int32Array.of(-1, 7).buffer)).bytes;
  const { metadata } = await headerOf({
    metadata: {
      u8: { type: 0, bytes: Uint8Array.of(255) },
      i8: { type: 1, bytes: Uint8Array.of(255) },
      u16: { type: 2, bytes: Uint8Array.of(1, 1) },
      i16: { type: 3, bytes: Uint8Array.of(254, 255) },
      u32: { type: 4, bytes: uint32(2 ** 32 - 1) },
      i32: { type: 5, bytes: uint32(2 ** 32 - 3) },
      f32: { type: 6, bytes: new Uint8Array(Float32Array.of(0.5).buffer) },
      no: { type: 7, bytes: Uint8Array.of(0) },
      text: textField("größe"),
      u64: { type: 10, bytes: uint64(2n ** 53n - 1n) },
      large: { type: 10, bytes: uint64(2n ** 64n - 1n) },
      i64: { type: 11, bytes: uint64(2n ** 64n - 5n) },
      f64: { type: 12, bytes: new Uint8Array(Float64Array.of(1e300).buffer) },
      nan: { type: 6, bytes: new Uint8Array(Float32Array.of(NaN).buffer) },
      flags: arrayField(7, 2, Uint8Array.of(1, 0)),
      nested: arrayField(9, 2, joined([inner, inner])),
      __proto__2: textField(""),
      bytes: { type: 8, bytes: joined([uint64(2), Uint8Array.of(0xff, 0x41)]) },
      longs: arrayField(11, 1, uint64(3)),
    },
  });
  assertEquals(metadata, {
    u8: 255,
    i8: -1,
    u16: 257,
    i16: -2,
    u32: 2 ** 32 - 1,
    i32: -3,
    f32: 0.5,
    no: false,
    text: "größe",
    u64: 2 ** 53 - 1,
    large: 2n ** 64n - 1n,
    i64: -5,
    f64: 1e300,
    nan: NaN,
    flags: Uint8Array.of(1, 0),
    nested: [Int32Array.of(-1, 7), Int32Array.of(-1, 7)],
    __proto__2: "",
    bytes: "\ufffdA",
    longs: BigInt64Array.of(3n),
  });
});

Deno.test(
  inTurn("readGgufHeader() reads a vocabulary larger than it reads at a time"),
  async () => {
    const words = Array.from({ length: 60_000 }, (_, i) => `word ${i}`);
    const field = arrayField(8, words.length, joined(words.map(textBytes)));
    const { metadata } = await headerOf({ metadata: { tokens: field, last: textField("end") } });
    assertEquals(metadata["tokens"], words);
    assertEquals(metadata["last"], "end");
  },
);

Deno.test("readGgufHeader() refuses files of other sorts and versions by name", async () => {
  await assertRefused(new Uint8Array(), "it is no GGUF file");
  await assertRefused(new TextEncoder().encode("GGU"), "it is no GGUF file");
  await assertRefused(new TextEncoder().encode("version https://git-lfs"), "pointer of Git LFS");
  await assertRefused(joined([uint64(20), textBytes('{"').slice(8)]), "but safetensors");
  await assertRefused(
    { version: 1 },
    "it is of version 1 of the format, and only 2 and 3 are read",
  );
  await assertRefused({ version: 4 }, "it is of version 4");
  await assertRefused({ version: 3 * 2 ** 24 }, "it is big-endian");
  assertEquals((await headerOf({ version: 2 })).version, 2);
});

Deno.test("readGgufHeader() believes no count and no length before it has seen the file", async () => {
  const huge = 2n ** 60n;
  await assertRefused({ tensorCount: 2n ** 64n - 1n }, "it has the size 18446744073709551615");
  await assertRefused({ tensorCount: 2n ** 40n }, "it claims 1099511627776 tensors");
  await assertRefused({ valueCount: 2n ** 40n }, "it claims 1099511627776 metadata");
  await assertRefused({ metadata: { a: arrayField(8, huge, ONES) } }, "has the size");
  await assertRefused({ metadata: { a: arrayField(8, 5, ONES) } }, "it claims 5 values");
  await assertRefused({ metadata: { a: arrayField(0, 33, ONES) } }, "it claims 33 numbers");
  await assertRefused({ metadata: { a: arrayField(12, 5, ONES) } }, "it ends within its header");
  await assertRefused({ metadata: { a: arrayField(9, 3, ONES) } }, "it claims 3 values");
  const text = { type: 8, bytes: uint64(2 ** 40) };
  await assertRefused({ metadata: { a: text } }, "it claims 1099511627776 bytes of a text");
});

Deno.test("readGgufHeader() refuses headers that are larger than it may read", async () => {
  const file = ggufOf({ metadata: { a: textField("x".repeat(5000)) } });
  await assertRejects(() => headerOf(file, { maxHeaderSize: "4 KiB" }), GgufError, "maxHeaderSize");
  assertEquals((await headerOf(file, { maxHeaderSize: "8 KiB" })).tensors, []);
});

Deno.test("readGgufHeader() refuses values that are wrong", async () => {
  const twice = joined([textBytes("a"), uint32(7), Uint8Array.of(1)]);
  const field = { type: 7, bytes: joined([Uint8Array.of(1), twice]) };
  await assertRefused({ valueCount: 2n, metadata: { a: field } }, 'it has "a" twice');
  await assertRefused(
    { metadata: { a: { type: 7, bytes: Uint8Array.of(2) } } },
    "boolean that is 2",
  );
  await assertRefused({ metadata: { a: { type: 13, bytes: ONES } } }, "the unknown type 13");
  await assertRefused({ metadata: { a: arrayField(99, 1, ONES) } }, "the unknown type 99");
  let nested = arrayField(0, 0, new Uint8Array());
  for (let depth = 0; depth < 4; depth++) nested = arrayField(9, 1, nested.bytes);
  await assertRefused({ metadata: { a: nested } }, "deeper than 4");
  const name = joined([uint64(1), Uint8Array.of(0xff), uint32(7), Uint8Array.of(1)]);
  const inName = { type: 7, bytes: joined([Uint8Array.of(1), name]) };
  await assertRefused({ valueCount: 2n, metadata: { a: inName } }, "is not UTF-8");
  for (const alignment of [0, 3, 24, 2 ** 31 + 1]) {
    const metadata = { "general.alignment": wholeField(alignment) };
    await assertRefused({ metadata }, `its alignment is ${alignment}, and no power of two`);
  }
  await assertRefused(
    { metadata: { "general.alignment": textField("32") } },
    "its alignment is 32",
  );
});

Deno.test("readGgufHeader() refuses tensors that are not in the file, or in one another's place", async () => {
  const refused = (change: object, reason: string) => {
    return assertRefused({ tensors: [{ ...PLAIN, ...change }] }, reason);
  };
  await refused({ type: 9999 }, 'tensor "t" has the unknown type 9999');
  await refused({ type: 4 }, "has the unknown type 4");
  await refused({ sizes: [1, 1, 1, 1, 1] }, "has 5 axes, at most 4");
  await refused({ type: 2, sizes: [33] }, "rows of 33 elements, and blocks of Q4_0 have 32");
  await refused({ type: 2, sizes: [] }, "rows of 1 elements");
  await refused({ sizes: [2n ** 63n] }, "has the size 9223372036854775808");
  await refused({ sizes: [2 ** 40, 2 ** 40] }, "is too large");
  await refused({ sizes: [2 ** 40, 2 ** 40, 0] }, "is too large");
  await refused({ sizes: [100] }, "ends at 400, and the data has 32 bytes");
  await refused({ offset: 16 }, "begins at 16, which is not aligned to 32");
  await refused({ offset: 64 }, "ends at 96");
  await refused({ offset: 2n ** 53n }, "has the size 9007199254740992");
  await refused({ offset: BigInt(Number.MAX_SAFE_INTEGER) - 30n }, "is too large");
  await assertRefused({ tensors: [PLAIN, PLAIN] }, 'it has tensor "t" twice');
  const cut = ggufOf({ tensors: [PLAIN] }).slice(0, -33);
  await assertRefused(cut, "ends at 32, and the data has 0 bytes");
  const over = { ...PLAIN, name: "u", offset: 0 };
  await assertRefused({ tensors: [PLAIN, over] }, 'tensor "u" overlaps the tensor before it');
  const whole = ggufOf({ tensors: [PLAIN] });
  await assertRefused(whole.slice(0, -1), "ends at 32, and the data has 31 bytes");
  await assertRefused(whole.slice(0, 60), "it ends within its header");
});

Deno.test("readGgufHeader() takes what is unusual and right", async () => {
  const empty = { name: "e", type: 0, sizes: [0, 3], data: new Uint8Array() };
  const scalar = { name: "s", type: 24, sizes: [], data: Uint8Array.of(1) };
  const last = { name: "", type: 0, sizes: [1], data: new Uint8Array(4) };
  const file = ggufOf({ tensors: [empty, scalar, last] });
  const { tensors } = await headerOf(file.slice(0, -28)); // without the padding of the last one
  assertEquals(tensors.map(({ name, byteLength }) => [name, byteLength]), [["e", 0], ["s", 1], [
    "",
    4,
  ]]);
  assertEquals(tensors[1]?.shape, []);
});
