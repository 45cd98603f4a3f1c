// Sizes of the types of CUDA C++, as far as a text tells them without a compiler: built-in types, CUDA's
// vectors and half numbers, and the structs, enumerations and other names that the text declares.

/** The size and the alignment of a type, in bytes, and how PTX passes it. */
export interface CppType {
  readonly byteLength: number;
  readonly alignment: number;
  /** The letter of PTX's type; undefined for bytes, as of a struct. */
  readonly letter?: "u" | "f" | undefined;
}

/** A word of a declaration that does not change a size. */
const QUALIFIERS =
  /\b(?:const|volatile|restrict|__restrict__|__restrict|__grid_constant__|struct|class|enum|typename|register|static|mutable|signed)\b|\bstd\s*::/g;

function whole(byteLength: number): CppType {
  return { byteLength, alignment: byteLength, letter: "u" };
}

function bytes(byteLength: number, alignment: number): CppType {
  return { byteLength, alignment };
}

const FLOAT: CppType = { byteLength: 4, alignment: 4, letter: "f" };
const DOUBLE: CppType = { byteLength: 8, alignment: 8, letter: "f" };
const POINTER = whole(8);

const NAMES: Readonly<Record<string, CppType>> = {
  bool: whole(1),
  char: whole(1),
  short: whole(2),
  int: whole(4),
  unsigned: whole(4),
  long: whole(8),
  float: FLOAT,
  double: DOUBLE,
  size_t: whole(8),
  ssize_t: whole(8),
  ptrdiff_t: whole(8),
  intptr_t: whole(8),
  uintptr_t: whole(8),
  wchar_t: whole(4),
  char8_t: whole(1),
  char16_t: whole(2),
  char32_t: whole(4),
  uchar: whole(1),
  ushort: whole(2),
  uint: whole(4),
  ulong: whole(8),
  CUdeviceptr: whole(8),
  cudaTextureObject_t: whole(8),
  cudaSurfaceObject_t: whole(8),
  CUtexObject: whole(8),
  CUsurfObject: whole(8),
  ...Object.fromEntries(
    [8, 16, 32, 64].flatMap((bits) =>
      ["int", "uint"].flatMap((name) =>
        ["", "_fast", "_least"].map((kind) => {
          // The fast types of 16 and 32 bits have 64 on Linux.
          const isWide = kind === "_fast" && (bits === 16 || bits === 32);
          return [`${name}${kind}${bits}_t`, whole(isWide ? 8 : bits / 8)];
        })
      )
    ),
  ),
  ...Object.fromEntries(
    ["__half", "half", "__half_raw", "__nv_bfloat16", "nv_bfloat16", "__nv_bfloat16_raw"]
      .map((name) => [name, bytes(2, 2)]),
  ),
  ...Object.fromEntries(
    ["__half2", "half2", "__nv_bfloat162", "nv_bfloat162"].map((name) => [name, bytes(4, 4)]),
  ),
  ...Object.fromEntries(
    ["e4m3", "e5m2", "e8m0"].flatMap((name) => [
      [`__nv_fp8_${name}`, bytes(1, 1)],
      [`__nv_fp8x2_${name}`, bytes(2, 2)],
      [`__nv_fp8x4_${name}`, bytes(4, 4)],
    ]),
  ),
  dim3: bytes(12, 4),
  ...vectors(),
};

/** CUDA's vectors: of 2 and 4 elements they are aligned to their size, up to 16 bytes. */
function vectors(): Record<string, CppType> {
  const elements: Readonly<Record<string, number>> = {
    char: 1,
    uchar: 1,
    short: 2,
    ushort: 2,
    int: 4,
    uint: 4,
    long: 8,
    ulong: 8,
    longlong: 8,
    ulonglong: 8,
    float: 4,
    double: 8,
  };
  const found: Record<string, CppType> = {};
  for (const [name, size] of Object.entries(elements)) {
    for (const count of [1, 2, 3, 4]) {
      const alignment = count === 3 ? size : Math.min(16, size * count);
      found[`${name}${count}`] = bytes(size * count, alignment);
    }
  }
  return found;
}

/** The types that a text of CUDA C++ declares, beside the built-in ones. */
export class CppTypes {
  readonly #declared = new Map<string, CppType | undefined>();

  /** Reads the declarations of a text without comments. */
  constructor(source: string) {
    const declarations = source.matchAll(
      /\b(typedef\s+)?(struct|class|union|enum)\b([^;{}()=]*(?:\([^)]*\)[^;{}()=]*)*)\{([^{}]*)\}\s*(\w*)\s*;|\btypedef\s+([^;{}()]+?)\s*\b(\w+)\s*;|\busing\s+(\w+)\s*=\s*([^;]+);/g,
    );
    for (const found of declarations) {
      const [, typedef, kind, head = "", body = "", behind = "", old, typed = "", named, target] =
        found;
      if (kind !== undefined) this.#declare({ kind, head, body, behind, isTypedef: !!typedef });
      else if (old !== undefined) this.#declared.set(typed, this.typeOf(old));
      else if (named !== undefined) this.#declared.set(named, this.typeOf(target ?? ""));
    }
  }

  /** Returns the type of a parameter's declaration, with or without its name; undefined when unknown. */
  ofParameter(declaration: string): CppType | undefined {
    const plain = declaration.replace(/=.*$/s, "").trim();
    if (/[*&\[]/.test(plain)) return POINTER; // arrays as parameters are pointers
    return this.typeOf(plain) ?? this.typeOf(plain.replace(/\s*\b\w+$/, ""));
  }

  /** Returns the type that a text names; undefined when it is unknown. */
  typeOf(text: string): CppType | undefined {
    if (/[*&]/.test(text)) return POINTER;
    const plain = text.replaceAll(QUALIFIERS, " ").trim().replaceAll(/\s+/g, " ");
    const isSignedAlone = plain === "" && /\bsigned\b/.test(text);
    if (isSignedAlone) return whole(4);
    const name = plain
      .replace(/^unsigned (?=char|short|int|long)/, "")
      .replace(/(?<=char|short|int|long) unsigned\b/, "")
      .replace(/^(short|long long|long) int$/, "$1")
      .replace(/^long long$/, "long");
    if (name === "long double") return undefined;
    if (this.#declared.has(name)) return this.#declared.get(name);
    return Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
  }

  #declare({ kind, head, body, behind, isTypedef }: {
    readonly kind: string;
    readonly head: string;
    readonly body: string;
    readonly behind: string;
    readonly isTypedef: boolean;
  }): void {
    const aligned = /\b(?:__align__|alignas)\s*\(\s*(\d+)\s*\)/.exec(head)?.[1];
    const plain = head.replace(/\b(?:__align__|alignas)\s*\([^)]*\)/g, " ");
    const name = /^\s*(?:class\s+|struct\s+)?(\w+)/.exec(plain)?.[1];
    const type = kind === "enum"
      ? this.#enumeration(plain)
      : kind === "union" || plain.includes(":")
      ? undefined
      : this.#struct(body, Number(aligned ?? 1));
    if (name !== undefined) this.#declared.set(name, type);
    if (isTypedef && behind !== "") this.#declared.set(behind, type);
  }

  #enumeration(head: string): CppType | undefined {
    const [, base] = head.split(":");
    return base === undefined ? whole(4) : this.typeOf(base);
  }

  /** Lays out the members of a struct as C does; undefined when one is unknown, or not a plain member. */
  #struct(body: string, least: number): CppType | undefined {
    let end = 0;
    let alignment = least;
    const members = body.replace(/\b(?:public|private|protected)\s*:/g, " ").split(";");
    for (const member of members.map((text) => text.trim()).filter((text) => text !== "")) {
      if (/[():]/.test(member.replaceAll("std::", ""))) return undefined;
      const [first = "", ...others] = member.replace(/=[^,]*/g, "").split(",");
      const named = /^(.*?)([\s*&]+\w+\s*(?:\[[^\]]*\]\s*)*)$/s.exec(first);
      if (named === null) return undefined;
      const [, base = "", declarator = ""] = named;
      for (const each of [declarator, ...others]) {
        const type = /[*&]/.test(each) ? POINTER : this.typeOf(base);
        const count = [...each.matchAll(/\[([^\]]*)\]/g)]
          .reduce((product, [, size]) => product * Number(size), 1);
        if (type === undefined || !Number.isInteger(count) || count < 1) return undefined;
        end = Math.ceil(end / type.alignment) * type.alignment + type.byteLength * count;
        alignment = Math.max(alignment, type.alignment);
      }
    }
    const byteLength = Math.max(1, Math.ceil(end / alignment) * alignment);
    return { byteLength, alignment };
  }
}
