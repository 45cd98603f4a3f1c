// The kernels that a text of PTX declares, with the types of their parameters: only PTX tells whether
// four bytes are a float or an integer.

/** The kind of values that a parameter takes. */
export type ParameterKind = "float" | "integer" | "bytes";

export interface ParameterType {
  /** Its size. */
  readonly byteLength: number;
  /** The kind of value; undefined when only the size is known. */
  readonly kind: ParameterKind | undefined;
}

/** Kernels by name, with their parameters: undefined where the sizes are unknown. */
export type KernelEntries = ReadonlyMap<string, readonly ParameterType[] | undefined>;

/** A parameter of unknown size, which real compilers never write. */
export const UNKNOWN_PARAMETER = ".param .b8 unknown[]";

/** Finds the kernels in a text of PTX, with their parameters. */
export function readEntries(ptx: string): KernelEntries {
  const plain = ptx.replace(/\/\/.*|\/\*[^]*?\*\//g, "");
  const entries = new Map<string, readonly ParameterType[] | undefined>();
  for (const [, name = "", list = ""] of plain.matchAll(/\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?/g)) {
    const parts = list.split(",").map((part) => part.trim()).filter((part) => part !== "");
    entries.set(name, parts.includes(UNKNOWN_PARAMETER) ? undefined : parts.map(readParameter));
  }
  return entries;
}

/** Reads one parameter, such as `.param .align 8 .b8 name[24]` or `.param .u64 .ptr .global name`. */
function readParameter(text: string): ParameterType {
  const type = /\.([usfb])(8|16|32|64)(?!\w)/.exec(text);
  const bytes = Number(type?.[2] ?? 64) / 8;
  const count = /\[(\d+)\]\s*$/.exec(text)?.[1];
  if (count !== undefined) return { byteLength: bytes * Number(count), kind: "bytes" };
  if (type?.[1] === "f") return { byteLength: bytes, kind: "float" };
  return { byteLength: bytes, kind: type?.[1] === "b" ? undefined : "integer" };
}
