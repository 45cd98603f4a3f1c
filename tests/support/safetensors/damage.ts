// Damaged safetensors files: what careless and hostile writers make of a good one.

import { LENGTH_BYTES } from "../../../src/interop/safetensors/header.ts";
import type { Random } from "../random.ts";

const SNIPPETS = [
  `"`,
  `\\`,
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "-1",
  "-0",
  "1e9",
  "0.5",
  ".0",
  "e0",
  "00",
  "null",
  "9007199254740993",
  "18446744073709551616",
  "1e999",
  `"F64"`,
  `"X"`,
  `\\ud800`,
  `\\ud83d\\ude00`,
  `"__metadata__":{"a":1},`,
  `"__metadata__":null,`,
  `"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},`,
  `"__proto__":null,`,
  `"more":${"[".repeat(124)}${"]".repeat(124)},`,
  `"more":${"[".repeat(125)}${"]".repeat(125)},`,
  `"more":${"[".repeat(126)}${"]".repeat(126)},`,
  `"more":{"a":[true,false,null,-1.5e3,"x"]},`,
  "\u0000",
  "\u007f",
  "\ufeff",
];

/** Changes one to three places of a file, most of them in its header. */
export function damage(original: Uint8Array, random: Random): Uint8Array<ArrayBuffer> {
  let bytes = [...original];
  const headerBytes = Number(new DataView(original.buffer).getBigUint64(0, true));
  for (let change = random.below(3); change >= 0; change--) {
    const at = LENGTH_BYTES + random.below(headerBytes);
    switch (random.below(8)) {
      case 0:
        bytes[at] = random.below(256);
        break;
      case 1:
        bytes[random.below(LENGTH_BYTES)] = random.below(256);
        break;
      case 2:
        bytes = bytes.slice(0, random.below(bytes.length));
        break;
      case 3:
        bytes.push(...Array.from({ length: 1 + random.below(9) }, () => random.below(256)));
        break;
      case 4:
        bytes.splice(at, 1 + random.below(12));
        break;
      case 5: {
        const snippet = new TextEncoder().encode(SNIPPETS[random.below(SNIPPETS.length)]);
        bytes.splice(at, random.below(2) * snippet.length, ...snippet);
        break;
      }
      case 6: // a digit or letter for another of the same kind keeps the JSON whole
        bytes[at] = 0x30 + random.below(10);
        break;
      case 7:
        bytes = insertWhereItFits(bytes, random);
    }
  }
  return Uint8Array.from(bytes);
}

/** Puts a snippet where a value or an entry begins, and mends the length: much of it stays JSON. */
function insertWhereItFits(bytes: number[], random: Random): number[] {
  const [start, rest] = [Uint8Array.from(bytes.slice(0, LENGTH_BYTES)), bytes.slice(LENGTH_BYTES)];
  if (start.byteLength < LENGTH_BYTES) return bytes;
  const view = new DataView(start.buffer);
  const length = Math.min(Number(view.getBigUint64(0, true)), rest.length);
  const places = rest.slice(0, length).flatMap((byte, at) => OPENING.has(byte) ? [at + 1] : []);
  const snippet = new TextEncoder().encode(SNIPPETS[random.below(SNIPPETS.length)]);
  rest.splice(random.pick(places) ?? 0, 0, ...snippet);
  view.setBigUint64(0, BigInt(length + snippet.length), true);
  return [...start, ...rest];
}

/** Behind these an entry or a value may begin: "{", "[", ",". */
const OPENING: ReadonlySet<number> = new Set([0x7b, 0x5b, 0x2c]);
