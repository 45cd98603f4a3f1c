// The compiler's answer about a header, as the generator stores it and the tests read it.
// A parameter's type is one word, so that a change of the header shows as a readable difference.

import type { StructPlaces } from "./subjects.ts";

/** A C type as the calling convention sees it; numbers behind a word are bytes. */
export type AbiType =
  | "void"
  | "pointer"
  | `${"i" | "u"}${8 | 16 | 32 | 64}`
  | `f${32 | 64}`
  | `enum ${number}`
  | `struct ${number}`;

/** A C function's signature. */
export interface AbiFunction {
  readonly parameters: readonly AbiType[];
  readonly result: AbiType;
}

/** The sizes, offsets and values that a C++ compiler gives for a header. */
export interface AbiManifest {
  /** The header's own version: CUDA_VERSION. */
  readonly headerVersion: number;
  /** Functions by their symbol. */
  readonly functions: Readonly<Record<string, AbiFunction>>;
  readonly structs: Readonly<Record<string, StructPlaces>>;
  readonly constants: Readonly<Record<string, number>>;
}
