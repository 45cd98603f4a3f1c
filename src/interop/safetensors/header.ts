// The header of a safetensors file: eight bytes with its length, then JSON that names the tensors.
// Every limit of the format is checked here, so that what is loaded is exactly what was saved.

import { roundUp } from "../../../ffi/alignment.ts";
import type { Shape } from "../../buffers/shape.ts";
import { Pauses } from "../../order/waiting.ts";
import { FileError, otherSort } from "../../words/file_error.ts";
import { type ByteSize, formatBytes, parseBytes } from "../../words/format.ts";
import { formatBits, type SafetensorsFormat, toFormat } from "./formats.ts";
import { JsonError, JsonScanner } from "./json_scanner.ts";

/**
 * A safetensors file, or an index of several files, breaks the format. `path` names the file, and
 * the message the reason.
 */
export class SafetensorsError extends FileError {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "SafetensorsError";
}

/** Bytes before the header: its length. */
export const LENGTH_BYTES = 8;

/** Largest header that the format allows. */
export const MAX_HEADER_BYTES = 100_000_000;

/** Letters that a text of the runtime has at most, less some. */
const MAX_TEXT_BYTES = 2 ** 29 - 2 ** 10;

/**
 * Returns the largest header to read.
 *
 * @throws RangeError when it is more than a text can hold.
 */
export function headerLimit(size: ByteSize | undefined): number {
  const bytes = size === undefined ? MAX_HEADER_BYTES : parseBytes(size, "maxHeaderSize");
  if (bytes <= MAX_TEXT_BYTES) return bytes;
  throw new RangeError(
    `Cannot use maxHeaderSize ${formatBytes(bytes)}: a text of the runtime has at most ` +
      `${formatBytes(MAX_TEXT_BYTES)}`,
  );
}

/** Fields that describe a tensor; others are ignored. */
const FIELDS: ReadonlySet<string> = new Set(["dtype", "shape", "data_offsets"]);

/** The character that a decoder writes for bytes that are not UTF-8. */
const REPLACEMENT = "\ufffd";

/** Number of tensors read between two looks at the clock, about half a millisecond. */
const TENSORS_OF_STEP = 256;

/** One tensor as a file describes it. */
export interface TensorEntry {
  /** Name of the tensor. */
  readonly name: string;
  /** Element type, by the format's own name. */
  readonly format: SafetensorsFormat;
  /** Size of each axis, outermost first. */
  readonly shape: Shape;
  /** Offset of its first byte from the start of the data, {@link SafetensorsHeader.dataOffset}. */
  readonly byteOffset: number;
  /** Number of bytes. */
  readonly byteLength: number;
}

/** The contents of a header. */
export interface SafetensorsHeader {
  /** The tensors, in the order of their bytes. */
  readonly tensors: readonly TensorEntry[];
  /** Metadata: strings about the file as a whole. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Offset of the data in the file: a tensor begins `dataOffset + byteOffset` bytes into it. */
  readonly dataOffset: number;
}

/** A header by itself, which does not know where its file's data begins. */
export type HeaderContents = Omit<SafetensorsHeader, "dataOffset">;

/** The file that a header belongs to. */
interface HeaderSource {
  readonly path: string;
  /** Number of bytes after the header; Infinity while unknown. */
  readonly dataByteLength: number;
}

/**
 * Reads the length that a file starts with.
 *
 * @throws SafetensorsError when it exceeds the format's limit or the file.
 */
export function readHeaderLength(
  bytes: Uint8Array<ArrayBuffer>,
  file: {
    readonly path: string;
    readonly byteLength: number;
    /** The limit; the format's own by default. */
    readonly maxHeaderBytes?: number;
  },
): number {
  const { maxHeaderBytes = MAX_HEADER_BYTES } = file;
  if (file.byteLength < LENGTH_BYTES || bytes.byteLength < LENGTH_BYTES) {
    throw new SafetensorsError(file.path, `it has ${file.byteLength} bytes, fewer than a header`);
  }
  const length = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  if (length > BigInt(maxHeaderBytes)) {
    const other = otherSort(bytes);
    throw new SafetensorsError(
      file.path,
      other === undefined
        ? `its header would have ${length} bytes, more than the ${maxHeaderBytes} allowed; pass ` +
          "{ maxHeaderSize } if it is right"
        : `it is no safetensors file but ${other}`,
    );
  }
  if (Number(length) > file.byteLength - LENGTH_BYTES) {
    throw new SafetensorsError(
      file.path,
      `its header has ${length} bytes, the file ${file.byteLength}: it is cut short`,
    );
  }
  return Number(length);
}

/**
 * Reads a header with pauses for the event loop, because the largest ones take a second or two.
 *
 * @throws SafetensorsError when anything in it breaks the format, or does not fit the file.
 */
export async function parseHeader(
  bytes: Uint8Array,
  source: HeaderSource,
): Promise<HeaderContents> {
  const pauses = new Pauses();
  const { path } = source;
  const scanner = new JsonScanner(decodeHeader(bytes, path));
  const names = new Set<string>();
  const tensors: TensorEntry[] = [];
  let metadata: SafetensorsHeader["metadata"] = {};
  try {
    for (let name = scanner.firstName(); name !== undefined; name = scanner.nextName()) {
      if (names.has(name)) throw new SafetensorsError(path, `its header has "${name}" twice`);
      names.add(name);
      if (name === "__metadata__") metadata = readMetadata(scanner, path);
      else tensors.push(readTensor(scanner, { path, name }));
      if (names.size % TENSORS_OF_STEP === 0) await pauses.whenDue();
    }
    scanner.end();
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause;
    throw new SafetensorsError(path, `its header is not JSON: ${cause.message}`, { cause });
  }
  await pauses.whenDue();
  tensors.sort((a, b) => a.byteOffset - b.byteOffset || a.byteLength - b.byteLength);
  checkCoverage(tensors, source);
  return { tensors, metadata: Object.freeze(metadata) };
}

function decodeHeader(bytes: Uint8Array, path: string): string {
  // A decoder with checks takes four times as long, and makes a text of twice the size.
  let text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  try {
    if (text.includes(REPLACEMENT)) {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    }
  } catch (cause) {
    throw new SafetensorsError(path, "its header is not UTF-8", { cause });
  }
  // The format forbids white space before it, and its own library reads that.
  if (!/^[ \t\n\r]*\{/.test(text)) {
    throw new SafetensorsError(path, `its header does not start with "{"`);
  }
  return text;
}

/** The names in a header, and the file that it belongs to. */
interface Named {
  readonly path: string;
  readonly name: string;
}

function readTensor(scanner: JsonScanner, tensor: Named): TensorEntry {
  if (!scanner.isAtObject) {
    scanner.value();
    throw wrongTensor(tensor, "is not described by an object");
  }
  let dtype: unknown;
  let shape: unknown;
  let offsets: unknown;
  for (let field = scanner.firstName(); field !== undefined; field = scanner.nextName()) {
    if (field === "dtype" && dtype === undefined) dtype = scanner.value();
    else if (field === "shape" && shape === undefined) shape = scanner.value();
    else if (field === "data_offsets" && offsets === undefined) offsets = scanner.value();
    else if (FIELDS.has(field)) throw wrongTensor(tensor, `has "${field}" twice`);
    else scanner.value();
  }
  const format = toFormat(dtype);
  if (format === undefined) {
    throw wrongTensor(tensor, `has the unknown type ${JSON.stringify(dtype)}`);
  }
  if (!isSizes(shape)) throw wrongTensor(tensor, "has a shape that is not a list of sizes");
  if (!isSizes(offsets) || offsets.length !== 2) {
    throw wrongTensor(tensor, "has offsets that are not two sizes");
  }
  const [byteOffset = 0, end = 0] = offsets;
  const fields = { format, shape: Object.freeze(shape), byteOffset, byteLength: end - byteOffset };
  checkSize(tensor, fields);
  return { name: tensor.name, ...fields };
}

/** Checks that a tensor's bytes by its offsets are those by its shape. */
function checkSize(
  tensor: Named,
  { format, shape, byteOffset: start, byteLength }: Omit<TensorEntry, "name">,
): void {
  const end = start + byteLength;
  if (byteLength < 0) throw wrongTensor(tensor, `ends at ${end}, before it starts at ${start}`);
  const bits = shape.reduce(multiply, formatBits(format));
  if (!Number.isSafeInteger(bits)) {
    throw wrongTensor(tensor, `is too large: [${shape.join(", ")}]`);
  }
  if (bits % 8 !== 0) throw wrongTensor(tensor, `takes ${bits} bits, not a whole number of bytes`);
  if (bits / 8 === byteLength) return;
  throw wrongTensor(tensor, `takes ${bits / 8} bytes by its shape, ${byteLength} by its offsets`);
}

function wrongTensor({ path, name }: Named, reason: string): SafetensorsError {
  return new SafetensorsError(path, `tensor "${name}" ${reason}`);
}

function readMetadata(scanner: JsonScanner, path: string): Record<string, string> {
  const wrong = () => new SafetensorsError(path, "its __metadata__ is not an object of texts");
  const texts = new Map<string, string>();
  if (!scanner.isAtObject) {
    if (scanner.value() === null) return {};
    throw wrong();
  }
  for (let name = scanner.firstName(); name !== undefined; name = scanner.nextName()) {
    const text = scanner.value();
    if (typeof text !== "string") throw wrong();
    if (texts.has(name)) throw new SafetensorsError(path, `its header has "${name}" twice`);
    texts.set(name, text);
  }
  return Object.fromEntries(texts);
}

/** Multiplies sizes; returns Infinity once a product cannot be exact, even when a 0 follows. */
export function multiply(product: number, size: number): number {
  if (!Number.isSafeInteger(product)) return Infinity;
  return product * size;
}

/** Checks that tensors lie one after another, from the first byte of the data to the last. */
function checkCoverage(tensors: readonly TensorEntry[], source: HeaderSource): void {
  let covered = 0;
  for (const { name, byteOffset, byteLength } of tensors) {
    if (byteOffset !== covered) {
      const problem = byteOffset < covered ? "overlaps the tensor before it" : "follows a gap";
      throw new SafetensorsError(
        source.path,
        `tensor "${name}" ${problem}: it starts at ${byteOffset}, expected ${covered}`,
      );
    }
    covered += byteLength;
  }
  if (covered === source.dataByteLength || source.dataByteLength === Infinity) return;
  const problem = covered > source.dataByteLength ? "it is cut short" : "bytes follow the last one";
  throw new SafetensorsError(
    source.path,
    `its tensors take ${covered} bytes, the data has ${source.dataByteLength}: ${problem}`,
  );
}

/** Returns the length and the header, padded with spaces so that the data is aligned to 8 bytes. */
export function encodeHeader(header: HeaderContents): Uint8Array<ArrayBuffer> {
  const { tensors, metadata } = header;
  const entries = tensors.map(({ name, format, shape, byteOffset, byteLength }) => {
    const offsets = [byteOffset, byteOffset + byteLength];
    return encodeEntry(name, { dtype: format, shape, data_offsets: offsets });
  });
  if (Object.keys(metadata).length > 0) entries.unshift(encodeEntry("__metadata__", metadata));
  const json = new TextEncoder().encode(`{${entries.join(",")}}`);
  const length = roundUp(json.byteLength, LENGTH_BYTES);
  if (length > MAX_HEADER_BYTES) {
    throw new RangeError(
      `Cannot save ${tensors.length} tensors: their header would have ${length} bytes, more than ` +
        `the ${MAX_HEADER_BYTES} allowed`,
    );
  }
  const bytes = new Uint8Array(LENGTH_BYTES + length).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length), true);
  bytes.set(json, LENGTH_BYTES);
  return bytes;
}

/** Encodes one entry; an object of all would sort names like "10" before the others. */
function encodeEntry(name: string, value: unknown): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}
