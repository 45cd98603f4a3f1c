// The conversions of Python's ml_dtypes: a table that was made with it, and the package where it is.

import type { DType } from "../../../src/dtype.ts";
import { runPython } from "../python.ts";
import { TemporaryFolder } from "../temporary_folder.ts";

/** The types, in the order of the table. */
export const SMALL_TYPES = [
  "float8_e4m3fn",
  "float8_e5m2",
  "float8_e8m0fnu",
  "float8_e4m3fnuz",
  "float8_e5m2fnuz",
  "float6_e2m3fn",
  "float6_e3m2fn",
  "float4_e2m1fn",
] as const satisfies readonly DType[];

/** One of the types. */
export type SmallType = (typeof SMALL_TYPES)[number];

/** The conversions of one type. */
export interface KnownConversions {
  /** The value of all bits, in their order. */
  readonly values: Float32Array<ArrayBuffer>;
  /** The bits of each of {@link inputs}. */
  readonly codes: Uint8Array<ArrayBuffer>;
}

const TABLE = new URL("ml_dtypes.gz", import.meta.url);
const PEER = new URL("peer.py", import.meta.url).pathname;

/** Bits of one element. */
export function bitsOf(type: SmallType): number {
  return Number(type.slice(5, 6));
}

/**
 * Values to convert: all of bfloat16, and those of each type, the middles between two of them and what
 * is next to each as a float32. NaN has its sign cleared, which arithmetic does not keep.
 */
export function inputs(): Float32Array<ArrayBuffer> {
  const words: number[] = Array.from({ length: 2 ** 16 }, (_, bits) => bits * 2 ** 16);
  const [cell, cellWord] = [new Float32Array(1), new Uint32Array(1)];
  const wordOf = (value: number) => {
    cell[0] = value;
    cellWord.set(new Uint32Array(cell.buffer));
    return cellWord[0] ?? 0;
  };
  for (const [mantissaBits, exponents] of [[3, [-10, 9]], [2, [-17, 16]], [1, [-2, 3]]] as const) {
    for (let exponent = exponents[0]; exponent <= exponents[1]; exponent++) {
      for (let step = 0; step < 2 ** (mantissaBits + 1); step++) {
        const value = (1 + step / 2 ** (mantissaBits + 1)) * 2 ** exponent;
        for (const near of [-1, 0, 1]) words.push(wordOf(value) + near, wordOf(-value) + near);
      }
    }
  }
  // Multiples of half of the least numbers, where steps are even.
  for (const least of [2 ** -11, 2 ** -18, 2 ** -19, 2 ** -5, 2 ** -3]) {
    for (let step = 1; step < 20; step++) {
      const word = wordOf(step * least);
      for (const near of [-1, 0, 1]) words.push(word + near, word + near + 2 ** 31);
    }
  }
  while (words.length % 4 !== 0) words.push(0); // packed elements go by four
  const isNaN = (word: number) => (word & 0x7fffffff) > 0x7f800000;
  const clean = words.map((word) => isNaN(word) ? word & 0x7fffffff : word);
  return new Float32Array(Uint32Array.from(clean).buffer);
}

/** Reads the committed table, unpacked. */
export async function committedTable(): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([await Deno.readFile(TABLE)]).stream();
  return new Uint8Array(
    await new Response(stream.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer(),
  );
}

/** Has Python's package convert the values. */
export async function freshTable(): Promise<Uint8Array<ArrayBuffer>> {
  using folder = new TemporaryFolder();
  const path = folder.write("values", new Uint8Array(inputs().buffer));
  await runPython([PEER, path]);
  return await Deno.readFile(path);
}

/** Reads the parts of a table. */
export function conversionsIn(
  table: Uint8Array<ArrayBuffer>,
): ReadonlyMap<SmallType, KnownConversions> {
  const { length } = inputs();
  let at = 0;
  const take = (byteLength: number) => table.slice(at, at += byteLength);
  const values = SMALL_TYPES.map((type) => new Float32Array(take(4 * 2 ** bitsOf(type)).buffer));
  return new Map(SMALL_TYPES.map((type, index) => {
    return [type, { values: values[index] ?? new Float32Array(), codes: take(length) }];
  }));
}

if (import.meta.main) {
  const stream = new Blob([await freshTable()]).stream();
  const packed = stream.pipeThrough(new CompressionStream("gzip"));
  await Deno.writeFile(TABLE, new Uint8Array(await new Response(packed).arrayBuffer()));
}
