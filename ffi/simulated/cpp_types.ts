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

/** Names of whole numbers by their bytes; the fast types of 16 and 32 bits have 64 on Linux. */
const WHOLE_NUMBERS = {
  1: "bool char char8_t uchar int8_t uint8_t int_fast8_t uint_fast8_t int_least8_t uint_least8_t",
  2: "short char16_t ushort int16_t uint16_t int_least16_t uint_least16_t",
  4: "int unsigned wchar_t char32_t uint int32_t uint32_t int_least32_t uint_least32_t",
  8: "long size_t ssize_t ptrdiff_t intptr_t uintptr_t ulong CUdeviceptr cudaTextureObject_t " +
    "cudaSurfaceObject_t CUtexObject CUsurfObject int64_t uint64_t int_fast64_t uint_fast64_t " +
    "int_least64_t uint_least64_t int_fast16_t uint_fast16_t int_fast32_t uint_fast32_t",
};

/** Names of half numbers and of smaller ones, alone and in vectors, by their bytes. */
const SMALL_FLOATS = {
  1: "__nv_fp8_e4m3 __nv_fp8_e5m2 __nv_fp8_e8m0",
  2: "__half half __half_raw __nv_bfloat16 nv_bfloat16 __nv_bfloat16_raw " +
    "__nv_fp8x2_e4m3 __nv_fp8x2_e5m2 __nv_fp8x2_e8m0",
  4: "__half2 half2 __nv_bfloat162 nv_bfloat162 " +
    "__nv_fp8x4_e4m3 __nv_fp8x4_e5m2 __nv_fp8x4_e8m0",
};

/** Names of the elements of CUDA's vectors, by their bytes. */
const VECTOR_ELEMENTS = {
  1: "char uchar",
  2: "short ushort",
  4: "int uint float",
  8: "long ulong longlong ulonglong double",
};

const NAMES: Readonly<Record<string, CppType>> = {
  float: FLOAT,
  double: DOUBLE,
  ...named(WHOLE_NUMBERS, (name, size) => [[name, whole(size)]]),
  ...named(SMALL_FLOATS, (name, size) => [[name, bytes(size, size)]]),
  dim3: bytes(12, 4),
  // Of 2 and 4 elements they are aligned to their size, up to 16 bytes.
  ...named(VECTOR_ELEMENTS, (name, size) =>
    [1, 2, 3, 4].map((count) => {
      const alignment = count === 3 ? size : Math.min(16, size * count);
      return [`${name}${count}`, bytes(size * count, alignment)];
    })),
};

function named(
  names: Readonly<Record<number, string>>,
  types: (name: string, size: number) => [string, CppType][],
): Record<string, CppType> {
  const rows = Object.entries(names).flatMap(([size, list]) =>
    list.split(" ").flatMap((name) => types(name, Number(size)))
  );
  return Object.fromEntries(rows);
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
