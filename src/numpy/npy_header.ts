// The header of numpy's .npy files: its magic, and a dictionary in Python's own notation with the
// element type, the order and the shape. Read strictly, because it says how many bytes to trust.

import { roundUp } from "../../ffi/alignment.ts";
import { type DType, DTYPE_NAMES, elementBytes, packLength } from "../dtype.ts";
import { FileError, otherSort } from "../words/file_error.ts";
import { describeValue } from "../words/format.ts";

/** A file of numpy's, named by `path`, breaks the format or has elements that the kit lacks. */
export class NumpyError extends FileError {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "NumpyError";
}

/** The contents of a header. */
export interface NpyHeader {
  readonly dtype: DType;
  /** The bytes of each element are big-endian. */
  readonly isBigEndian: boolean;
  /** Elements are contiguous along the first axis, as in Fortran. */
  readonly isFortran: boolean;
  readonly shape: readonly number[];
  readonly count: number;
  /** Bytes from the start of the file to the first element. */
  readonly byteLength: number;
}

const MAGIC = "\x93NUMPY";

/** Bytes at the start that tell a header's size: magic, version, and a length of 2 or 4 bytes. */
const START_BYTES = 12;

/** The longest header: that of an array with 64 axes has less than 2 KiB. */
const MAX_HEADER_BYTES = 1 << 20;

/** numpy has no array with more axes. */
const MAX_AXES = 64;

/** Elements start at a multiple of this. */
const ALIGNMENT_BYTES = 64;

const CUT_OFF = "it ends within its header";

/**
 * Types by their names in files, without the order of their bytes; and the letters and names that numpy
 * takes as well, with their sizes on Linux.
 */
const TYPES:
  readonly (readonly [dtype: DType, code: string, letters: string, ...names: string[]])[] = [
    ["float16", "f2", "e", "half"],
    ["float32", "f4", "f", "single"],
    ["float64", "f8", "d", "double", "float"],
    ["int8", "i1", "b", "byte"],
    ["int16", "i2", "h", "short"],
    ["int32", "i4", "i", "intc"],
    ["int64", "i8", "lqpn", "int", "long", "longlong", "int_", "intp"],
    ["uint8", "u1", "B", "ubyte"],
    ["uint16", "u2", "H", "ushort"],
    ["uint32", "u4", "I", "uintc"],
    ["uint64", "u8", "LQPN", "uint", "ulong", "ulonglong", "uintp"],
    ["bool", "b1", "?", "bool_"],
    ["complex64", "c8", "F", "csingle"],
  ];

/** Types by what may follow the order of bytes. */
const CODES: ReadonlyMap<string, DType> = new Map(
  TYPES.flatMap(([dtype, code, letters]) => [code, ...letters].map((name) => [name, dtype])),
);

/** Types by names without an order. */
const NAMES: ReadonlyMap<string, DType> = new Map(
  TYPES.flatMap(([dtype, , , ...names]) => [dtype, ...names].map((name) => [name, dtype])),
);

/** The names by which numpy saves floats of the package ml_dtypes; its own structures have "|V2". */
const BFLOAT16 = "<V2";
const BYTE_FLOAT = "<V1";
const FLOAT8_E5M2 = "<f1";

/** Types of ml_dtypes that files do not tell from each other, by their size. */
const UNTYPED: ReadonlyMap<string, readonly DType[]> = new Map([
  ["V2", ["bfloat16"]],
  ["V1", DTYPE_NAMES.filter((name) => name.startsWith("float8"))],
]);

/** Words for kinds of elements that the kit lacks. */
const STRANGERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "objects, which only Python reads, and which may run a program of their writer's": ["O"],
    "byte strings": ["c", "S"],
    "complex numbers": ["c16", "c32", "complex128", "D"],
    "floats of a size that GPUs do not have": [
      ...["f12", "f16", "g", "longdouble", "float96", "float128"],
    ],
    "texts": ["U"],
    "structures": ["V"],
    "dates": ["M"],
    "durations": ["m"],
  }).flatMap(([words, names]) => names.map((name) => [name, words])),
);

/**
 * Returns the size of a header in bytes, from the first {@link START_BYTES}.
 *
 * @throws NumpyError when they are not those of a .npy file.
 */
function headerBytesOf(path: string, start: Uint8Array): number {
  const view = new DataView(start.buffer, start.byteOffset, start.byteLength);
  const magic = String.fromCharCode(...start.subarray(0, MAGIC.length));
  if (start.byteLength < 10 || magic !== MAGIC) {
    const other = otherSort(start);
    throw new NumpyError(path, `it is no .npy file${other === undefined ? "" : ` but ${other}`}`);
  }
  const [version = 0, minor = 0] = start.subarray(MAGIC.length);
  if (version < 1 || version > 3 || minor !== 0) {
    throw new NumpyError(path, `its version is ${version}.${minor}, known are 1.0, 2.0 and 3.0`);
  }
  if (version > 1 && start.byteLength < START_BYTES) throw new NumpyError(path, CUT_OFF);
  const [lengthBytes, textBytes] = version === 1
    ? [2, view.getUint16(8, true)]
    : [4, view.getUint32(8, true)];
  if (textBytes > MAX_HEADER_BYTES) {
    throw new NumpyError(path, `its header has ${textBytes} bytes`);
  }
  return 8 + lengthBytes + textBytes;
}

/**
 * Reads the header at the beginning of a file. `read` returns the next bytes, fewer at the file's end.
 *
 * @throws NumpyError as {@link readNpyHeader}.
 */
export async function npyHeaderFrom(
  path: string,
  read: (byteLength: number) => Promise<Uint8Array<ArrayBuffer>>,
  expected?: DType,
): Promise<NpyHeader> {
  const start = await read(START_BYTES);
  const rest = await read(Math.max(0, headerBytesOf(path, start) - start.byteLength));
  return readNpyHeader(path, await new Blob([start, rest]).bytes(), expected);
}

/**
 * Reads a whole header. Elements of 1 or 2 bytes without a type are those that `expected` says.
 *
 * @throws NumpyError when it breaks the format, or the kit lacks the element type.
 */
export function readNpyHeader(path: string, header: Uint8Array, expected?: DType): NpyHeader {
  const byteLength = headerBytesOf(path, header);
  if (header.byteLength < byteLength) throw new NumpyError(path, CUT_OFF);
  const version = header[6] ?? 0;
  const encoded = header.subarray(version === 1 ? 10 : 12, byteLength);
  // Versions 1 and 2 are latin1 and version 3 is UTF-8; only names of structures' members differ.
  const text = new TextDecoder().decode(encoded);
  const fields = new DictionaryReader(path, text).read();
  const { dtype, isBigEndian } = typeOf(path, fields.descr, expected);
  const count = countOf(path, fields.shape);
  const { isFortran, shape } = fields;
  return { dtype, isBigEndian, isFortran, shape, count, byteLength };
}

/**
 * Writes the header of an array in C order.
 *
 * @throws TypeError for more than 64 axes, and for packed elements, which numpy does not have.
 */
export function encodeNpyHeader(dtype: DType, shape: readonly number[]): Uint8Array<ArrayBuffer> {
  if (shape.length > MAX_AXES) {
    throw new TypeError(
      `Cannot save ${shape.length} axes for numpy, which has at most ${MAX_AXES}: reshape() it first`,
    );
  }
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const text = `{'descr': '${descrOf(dtype)}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const byteLength = roundUp(10 + text.length + 1, ALIGNMENT_BYTES);
  const header = new Uint8Array(byteLength).fill(0x20);
  header.set(Array.from(MAGIC, (letter) => letter.charCodeAt(0)));
  header.set([1, 0], MAGIC.length);
  new DataView(header.buffer).setUint16(8, byteLength - 10, true);
  header.set(new TextEncoder().encode(text), 10);
  header[byteLength - 1] = 0x0a;
  return header;
}

function descrOf(dtype: DType): string {
  const code = TYPES.find(([own]) => own === dtype)?.[1];
  if (packLength(dtype) > 1) {
    throw new TypeError(
      `Cannot save ${dtype} for numpy, which has no packed elements: astype("float32"), or save ` +
        'as("uint8"), their bytes',
    );
  }
  // Also float8_e5m2, which ml_dtypes calls "<f1": numpy cannot read that by itself.
  if (code === undefined) return dtype === "bfloat16" ? BFLOAT16 : BYTE_FLOAT;
  return `${code.endsWith("1") ? "|" : "<"}${code}`;
}

/** Reads a Python dictionary with a string, a boolean and a tuple of whole numbers. */
class DictionaryReader {
  readonly #path: string;
  readonly #text: string;
  #at = 0;

  constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
  }

  read(): { descr: string; isFortran: boolean; shape: readonly number[] } {
    const found: { descr?: string; isFortran?: boolean; shape?: number[] } = {};
    this.#expect("{");
    while (!this.#take("}")) {
      const key = this.#string();
      this.#expect(":");
      if (key === "descr" && found.descr === undefined) found.descr = this.#type();
      else if (key === "fortran_order" && found.isFortran === undefined) {
        found.isFortran = this.#truth();
      } else if (key === "shape" && found.shape === undefined) found.shape = this.#tuple();
      else throw this.#wrong(`the key ${describeValue(key)} is unknown or there twice`);
      if (this.#take(",")) continue;
      this.#expect("}");
      break;
    }
    this.#skip();
    if (this.#at < this.#text.length) throw this.#wrong("something follows it");
    const { descr, isFortran, shape } = found;
    if (descr === undefined || isFortran === undefined || shape === undefined) {
      throw this.#wrong("it lacks descr, fortran_order or shape");
    }
    return { descr, isFortran, shape };
  }

  /** Types of structures are lists. */
  #type(): string {
    this.#skip();
    if (this.#text[this.#at] === "[") {
      throw new NumpyError(this.#path, `its elements are ${STRANGERS.get("V")}`);
    }
    return this.#string();
  }

  #string(): string {
    this.#skip();
    const found = /^(?:'([^'\\\n]*)'|"([^"\\\n]*)")/.exec(
      this.#text.slice(this.#at, this.#at + 64),
    );
    if (found === null) throw this.#wrong("a text was expected");
    this.#at += found[0].length;
    return found[1] ?? found[2] ?? "";
  }

  #truth(): boolean {
    if (this.#take("True")) return true;
    if (this.#take("False")) return false;
    throw this.#wrong("fortran_order is neither True nor False");
  }

  #tuple(): number[] {
    this.#expect("(");
    const sizes: number[] = [];
    while (!this.#take(")")) {
      this.#skip();
      // Python 2 wrote an L behind large numbers.
      const found = /^(0|[1-9]\d{0,38})L?/.exec(this.#text.slice(this.#at, this.#at + 40));
      if (found === null) throw this.#wrong("a size was expected");
      this.#at += found[0].length;
      sizes.push(Number(found[1]));
      if (sizes.length > MAX_AXES) throw this.#wrong(`its shape has more than ${MAX_AXES} axes`);
      if (this.#take(",")) continue;
      if (sizes.length === 1) throw this.#wrong("its shape is a number, not a tuple");
      this.#expect(")");
      break;
    }
    return sizes;
  }

  #take(word: string): boolean {
    this.#skip();
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  #expect(word: string): void {
    if (!this.#take(word)) throw this.#wrong(`${describeValue(word)} was expected`);
  }

  #skip(): void {
    while (/\s/.test(this.#text[this.#at] ?? "x")) this.#at++;
  }

  #wrong(reason: string): NumpyError {
    return new NumpyError(this.#path, `its header is wrong at letter ${this.#at}: ${reason}`);
  }
}

/** Reads numpy's name of a type, such as "<f4". */
function typeOf(
  path: string,
  descr: string,
  expected: DType | undefined,
): { dtype: DType; isBigEndian: boolean } {
  const [, order = "", name = ""] = /^([<>=|]?)(.*)$/s.exec(descr) ?? [];
  const possible = order === ">" ? [] : UNTYPED.get(name) ?? [];
  const dtype = possible.find((type) => type === expected) ??
    (descr === BFLOAT16 ? "bfloat16" : descr === FLOAT8_E5M2 ? "float8_e5m2" : undefined) ??
    CODES.get(name) ?? NAMES.get(descr);
  if (dtype !== undefined) {
    return { dtype, isBigEndian: order === ">" && elementBytes(dtype) > 1 };
  }
  const [kind = ""] = /^[a-zA-Z](?=\d*$|\d*\[)/.exec(name) ?? [];
  const words = STRANGERS.get(name) ?? STRANGERS.get(kind);
  const [first, ...others] = possible;
  const like = others.length > 0 ? " or its like" : "";
  const reason = first === undefined
    ? words
    : `${words}; pass { dtype: "${first}" }${like} to loadNpy() if they are that`;
  throw new NumpyError(
    path,
    `its elements are ${describeValue(descr)}, ${reason ?? "a type that the kit does not know"}`,
  );
}

function countOf(path: string, shape: readonly number[]): number {
  const count = shape.reduce((product, size) => product * size, 1);
  if (Number.isSafeInteger(count) && shape.every(Number.isSafeInteger)) return count;
  throw new NumpyError(path, `its shape [${shape.join(", ")}] has more elements than there can be`);
}
