// The header of numpy's .npy files: its magic, and a dictionary in Python's own notation with the
// element type, the order and the shape. Read strictly, because it says how many bytes to trust.

import { roundUp } from "../../ffi/alignment.ts";
import { type DType, DTYPE_NAMES, elementBytes, packLength } from "../dtype.ts";
import { otherSort } from "../words/file_sorts.ts";
import { describeValue, visibleText } from "../words/format.ts";
import { requireKind, TEXT } from "../words/options.ts";

/** A file of numpy's, named by `path`, breaks the format or has elements that the kit lacks. */
export class NumpyError extends Error {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "NumpyError";
  /** The file. */
  readonly path: string;

  /** Creates an error for a file. */
  constructor(path: string, reason: string, options?: ErrorOptions) {
    requireKind(path, TEXT, "new NumpyError");
    requireKind(reason, TEXT, "new NumpyError");
    super(visibleText(`Cannot load ${path}: ${reason}`), options);
    this.path = path;
  }
}

/** The contents of a header. */
export interface NpyHeader {
  readonly dtype: DType;
  /** Whether the bytes of each element are big-endian. */
  readonly isBigEndian: boolean;
  /** Whether elements are contiguous along the first axis, as in Fortran. */
  readonly isFortran: boolean;
  readonly shape: readonly number[];
  readonly count: number;
  /** Bytes from the start of the file to the first element. */
  readonly byteLength: number;
}

const MAGIC = "\x93NUMPY";

/** Bytes at the start that tell a header's size: magic, version, and a length of 2 or 4 bytes. */
export const NPY_START_BYTES = 12;

/** The longest header: that of an array with 64 axes has less than 2 KiB. */
const MAX_HEADER_BYTES = 1 << 20;

/** numpy has no array with more axes. */
const MAX_AXES = 64;

/** Elements start at a multiple of this. */
const ALIGNMENT_BYTES = 64;

const CUT_OFF = "it ends within its header";

/** Names of types in files, without the order of their bytes. */
const TYPES: Readonly<Record<string, DType>> = {
  f2: "float16",
  f4: "float32",
  f8: "float64",
  i1: "int8",
  i2: "int16",
  i4: "int32",
  i8: "int64",
  u1: "uint8",
  u2: "uint16",
  u4: "uint32",
  u8: "uint64",
  b1: "bool",
  c8: "complex64",
};

/** Letters that numpy takes as well, with their sizes on Linux. */
const LETTERS: Readonly<Record<string, DType>> = {
  "?": "bool",
  e: "float16",
  f: "float32",
  d: "float64",
  b: "int8",
  B: "uint8",
  h: "int16",
  H: "uint16",
  i: "int32",
  I: "uint32",
  l: "int64",
  L: "uint64",
  q: "int64",
  Q: "uint64",
  F: "complex64",
  p: "int64",
  P: "uint64",
  n: "int64",
  N: "uint64",
};

/** Names that numpy takes as well, without an order. */
const NAMES: Readonly<Record<string, DType>> = {
  ...Object.fromEntries(Object.values(TYPES).map((dtype) => [dtype, dtype])),
  half: "float16",
  single: "float32",
  double: "float64",
  csingle: "complex64",
  float: "float64",
  byte: "int8",
  ubyte: "uint8",
  short: "int16",
  ushort: "uint16",
  intc: "int32",
  uintc: "uint32",
  int: "int64",
  uint: "uint64",
  long: "int64",
  ulong: "uint64",
  longlong: "int64",
  int_: "int64",
  intp: "int64",
  uintp: "uint64",
  ulonglong: "uint64",
  bool_: "bool",
};

/** The names by which numpy saves floats of the package ml_dtypes; its own structures have "|V2". */
const BFLOAT16 = "<V2";
const BYTE_FLOAT = "<V1";
const FLOAT8_E5M2 = "<f1";

/** Types of ml_dtypes that files do not tell from each other, by their size. */
const UNTYPED: Readonly<Record<string, readonly DType[]>> = {
  V2: ["bfloat16"],
  V1: DTYPE_NAMES.filter((name) => name.startsWith("float8")),
};

/** Words for kinds of elements that the kit lacks. */
const STRANGERS: Readonly<Record<string, string>> = {
  O: "objects, which only Python reads, and which may run a program of their writer's",
  c: "byte strings",
  c16: "complex numbers",
  c32: "complex numbers",
  f12: "floats of a size that GPUs do not have",
  f16: "floats of a size that GPUs do not have",
  g: "floats of a size that GPUs do not have",
  longdouble: "floats of a size that GPUs do not have",
  float96: "floats of a size that GPUs do not have",
  float128: "floats of a size that GPUs do not have",
  complex128: "complex numbers",
  D: "complex numbers",
  S: "byte strings",
  U: "texts",
  V: "structures",
  M: "dates",
  m: "durations",
};

/**
 * Returns the size of a header in bytes, from the first {@link NPY_START_BYTES}.
 *
 * @throws NumpyError when they are not those of a .npy file.
 */
export function headerBytesOf(path: string, start: Uint8Array): number {
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
  if (version > 1 && start.byteLength < NPY_START_BYTES) throw new NumpyError(path, CUT_OFF);
  const [lengthBytes, textBytes] = version === 1
    ? [2, view.getUint16(8, true)]
    : [4, view.getUint32(8, true)];
  if (textBytes > MAX_HEADER_BYTES) {
    throw new NumpyError(path, `its header has ${textBytes} bytes`);
  }
  return 8 + lengthBytes + textBytes;
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
export function encodeNpyHeader(
  dtype: DType,
  shape: readonly number[],
): Uint8Array<ArrayBuffer> {
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
  const code = Object.keys(TYPES).find((name) => TYPES[name] === dtype);
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

/** The values of the dictionary. */
interface Fields {
  readonly descr: string;
  readonly isFortran: boolean;
  readonly shape: readonly number[];
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

  read(): Fields {
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
      throw new NumpyError(this.#path, `its elements are ${STRANGERS["V"]}`);
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
  const possible = order === ">" ? [] : ownValue(UNTYPED, name) ?? [];
  const dtype = possible.find((type) => type === expected) ??
    (descr === BFLOAT16 ? "bfloat16" : descr === FLOAT8_E5M2 ? "float8_e5m2" : undefined) ??
    ownValue(TYPES, name) ?? ownValue(LETTERS, name) ?? ownValue(NAMES, descr);
  if (dtype !== undefined) {
    return { dtype, isBigEndian: order === ">" && elementBytes(dtype) > 1 };
  }
  const [kind = ""] = /^[a-zA-Z](?=\d*$|\d*\[)/.exec(name) ?? [];
  const words = ownValue(STRANGERS, name) ?? ownValue(STRANGERS, kind);
  const [first, ...others] = possible;
  const reason = first === undefined
    ? words
    : `${words}; pass { dtype: "${first}" }${
      others.length > 0 ? " or its like" : ""
    } to loadNpy() ` +
      `if they are that`;
  throw new NumpyError(
    path,
    `its elements are ${describeValue(descr)}, ${reason ?? "a type that the kit does not know"}`,
  );
}

function ownValue<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function countOf(path: string, shape: readonly number[]): number {
  const count = shape.reduce((product, size) => product * size, 1);
  if (Number.isSafeInteger(count) && shape.every(Number.isSafeInteger)) return count;
  throw new NumpyError(path, `its shape [${shape.join(", ")}] has more elements than there can be`);
}
