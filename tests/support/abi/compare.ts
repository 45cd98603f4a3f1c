// Holds the tables of ffi/ against the compiler's answer and words each difference.
// A table may say less than C (an address as a plain 64-bit integer), never something else.

import type { AbiFunction, AbiManifest, AbiType } from "./manifest.ts";
import { type AbiSubjects, type StructPlaces, symbolOf } from "./subjects.ts";

const POINTERS: readonly unknown[] = ["buffer", "pointer", "function", "u64", "usize"];

/** The words of a symbol table that differ from the manifest's word for the same C type. */
const ALSO: Partial<Record<AbiType, readonly unknown[]>> = {
  pointer: POINTERS,
  "enum 4": ["i32", "u32"],
  u64: ["u64", "usize"],
  i64: ["i64", "isize"],
};

const NATIVE_BYTES: Readonly<Record<string, number>> = {
  bool: 1,
  u8: 1,
  i8: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
  f32: 4,
};

/** Lists all differences, each beginning with the C name that it is about; none when all agree. */
export function compareAbi(subjects: AbiSubjects, manifest: AbiManifest): string[] {
  return [
    ...Object.entries(subjects.functions).flatMap(([key, row]) => {
      const signature = manifest.functions[symbolOf(key, row)];
      return signature === undefined ? [unlisted(key)] : compareFunction(key, { row, signature });
    }),
    ...Object.entries(subjects.structs).flatMap(([name, places]) => {
      const expected = manifest.structs[name];
      return expected === undefined ? [unlisted(name)] : compareStruct(name, { places, expected });
    }),
    ...Object.entries(subjects.constants).flatMap(([name, value]) => {
      const expected = manifest.constants[name];
      if (expected === undefined) return [unlisted(name)];
      return value === expected ? [] : [`${name}: is ${value}, ${expected} in the header`];
    }),
  ];
}

function unlisted(name: string): string {
  return `${name}: not in the manifest, run deno run -A tests/support/abi/generate.ts`;
}

function compareFunction(
  name: string,
  { row, signature }: { row: Deno.ForeignFunction; signature: AbiFunction },
): string[] {
  const { parameters, result } = signature;
  if (row.parameters.length !== parameters.length) {
    return [
      `${name}: has ${row.parameters.length} parameters, ${parameters.length} in the header`,
    ];
  }
  const differences = parameters.flatMap((type, index) => {
    const bound = row.parameters[index];
    return matches(bound, type) ? [] : [
      `${name}: parameter ${index + 1} is bound as ${wordOf(bound)}, ${type} in the header`,
    ];
  });
  if (!matches(row.result, result)) {
    differences.push(`${name}: result is bound as ${wordOf(row.result)}, ${result} in the header`);
  }
  return differences;
}

function compareStruct(
  name: string,
  { places, expected }: { places: StructPlaces; expected: StructPlaces },
): string[] {
  const differences: string[] = [];
  if (places.byteLength !== expected.byteLength) {
    differences.push(
      `${name}: has ${places.byteLength} bytes, ${expected.byteLength} in the header`,
    );
  }
  for (const [path, { offset, byteLength }] of Object.entries(places.members)) {
    const member = expected.members[path];
    if (member === undefined) differences.push(unlisted(`${name}.${path}`));
    else if (offset !== member.offset || byteLength !== member.byteLength) {
      differences.push(
        `${name}.${path}: ${byteLength} bytes at ${offset}, ` +
          `${member.byteLength} bytes at ${member.offset} in the header`,
      );
    }
  }
  return differences;
}

function matches(bound: unknown, type: AbiType): boolean {
  return (ALSO[type] ?? [type]).includes(wordOf(bound));
}

/** Words a table's type as the manifest does; a struct passed by value becomes its size. */
function wordOf(bound: unknown): unknown {
  if (typeof bound !== "object" || bound === null || !("struct" in bound)) return bound;
  return Array.isArray(bound.struct) ? `struct ${packedBytes(bound.struct)}` : bound;
}

/** Sizes a struct as C does: members at multiples of their own size, the end at the largest. */
function packedBytes(members: readonly unknown[]): number {
  let end = 0;
  let alignment = 1;
  for (const member of members) {
    const byteLength = NATIVE_BYTES[String(member)] ?? 8;
    end = Math.ceil(end / byteLength) * byteLength + byteLength;
    alignment = Math.max(alignment, byteLength);
  }
  return Math.ceil(end / alignment) * alignment;
}
