// The header of a safetensors file: eight bytes with its length, then JSON that names the tensors.
// Every limit of the format is checked here, so that what is loaded is exactly what was saved.

import type { Shape } from "../../buffers/shape.ts";
import { findDuplicateKey } from "./duplicate_key.ts";
import { SafetensorsError } from "./error.ts";
import { formatBits, type SafetensorsFormat, toFormat } from "./formats.ts";

/** Bytes before the header: its length. */
export const LENGTH_BYTES = 8;

/** The format's own limit. */
export const MAX_HEADER_BYTES = 100_000_000;

/** One tensor as a file describes it. */
export interface TensorEntry {
  /** Its name. */
  readonly name: string;
  /** Its element type, by the format's own name. */
  readonly format: SafetensorsFormat;
  /** Sizes along each axis. */
  readonly shape: Shape;
  /** Where its first byte lies, from the start of the data. */
  readonly byteOffset: number;
  /** How many bytes. */
  readonly byteLength: number;
}

/** What a header says. */
export interface SafetensorsHeader {
  /** The tensors, in the order of their bytes. */
  readonly tensors: readonly TensorEntry[];
  /** Texts about the file as a whole. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** The file that a header belongs to. */
export interface HeaderSource {
  /** Its path, for errors. */
  readonly path: string;
  /** How many bytes follow the header. */
  readonly dataByteLength: number;
}

/**
 * Reads the length that a file starts with.
 *
 * @throws SafetensorsError when it passes the format's limit, or the file's end.
 */
export function readHeaderLength(
  bytes: Uint8Array<ArrayBuffer>,
  file: { readonly path: string; readonly byteLength: number },
): number {
  if (file.byteLength < LENGTH_BYTES || bytes.byteLength < LENGTH_BYTES) {
    throw new SafetensorsError(file.path, `it has ${file.byteLength} bytes, fewer than a header`);
  }
  const length = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  if (length > BigInt(MAX_HEADER_BYTES)) {
    throw new SafetensorsError(
      file.path,
      `its header would have ${length} bytes, more than the ${MAX_HEADER_BYTES} allowed`,
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
 * Reads a header.
 *
 * @throws SafetensorsError when anything in it breaks the format, or does not fit the file.
 */
export function parseHeader(bytes: Uint8Array, source: HeaderSource): SafetensorsHeader {
  const { path } = source;
  const { __metadata__: metadata = {}, ...entries } = parseObject(bytes, path);
  const tensors = Object.entries(entries).map(([name, entry]) => toTensor(path, { name, entry }));
  tensors.sort((a, b) => a.byteOffset - b.byteOffset || a.byteLength - b.byteLength);
  checkCoverage(tensors, source);
  return { tensors, metadata: toMetadata(path, metadata) };
}

function parseObject(bytes: Uint8Array, path: string): Record<string, unknown> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new SafetensorsError(path, "its header is not UTF-8", { cause });
  }
  if (!text.startsWith("{")) throw new SafetensorsError(path, `its header does not start with "{"`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new SafetensorsError(path, "its header is not JSON", { cause });
  }
  const duplicate = findDuplicateKey(text);
  if (duplicate !== undefined) {
    throw new SafetensorsError(path, `its header has "${duplicate}" twice`);
  }
  return parsed as Record<string, unknown>;
}

function toTensor(path: string, { name, entry }: { name: string; entry: unknown }): TensorEntry {
  const fail = (reason: string) => new SafetensorsError(path, `tensor "${name}" ${reason}`);
  if (!isRecord(entry)) throw fail("is not described by an object");
  const { dtype, shape, data_offsets: offsets } = entry;
  const format = toFormat(dtype);
  if (format === undefined) throw fail(`has the unknown type ${JSON.stringify(dtype)}`);
  if (!isSizes(shape)) throw fail("has a shape that is not a list of sizes");
  if (!isSizes(offsets) || offsets.length !== 2) throw fail("has offsets that are not two sizes");
  const [start = 0, end = 0] = offsets;
  if (end < start) throw fail(`ends at ${end}, before it starts at ${start}`);
  const bits = shape.reduce(multiply, formatBits(format));
  if (!Number.isSafeInteger(bits)) throw fail(`is too large: [${shape.join(", ")}]`);
  if (bits % 8 !== 0) throw fail(`takes ${bits} bits, not a whole number of bytes`);
  const byteLength = end - start;
  if (bits / 8 !== byteLength) {
    throw fail(`takes ${bits / 8} bytes by its shape, ${byteLength} by its offsets`);
  }
  return { name, format, shape: Object.freeze([...shape]), byteOffset: start, byteLength };
}

/** Multiplies, and stays at Infinity once a product cannot be exact, also when a 0 follows. */
function multiply(product: number, size: number): number {
  if (!Number.isSafeInteger(product)) return Infinity;
  return product * size;
}

/** Tensors lie one after another, from the first byte of the data to the last. */
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
  if (covered === source.dataByteLength) return;
  const problem = covered > source.dataByteLength ? "it is cut short" : "bytes follow the last one";
  throw new SafetensorsError(
    source.path,
    `its tensors take ${covered} bytes, the data has ${source.dataByteLength}: ${problem}`,
  );
}

function toMetadata(path: string, value: unknown): Readonly<Record<string, string>> {
  if (!isRecord(value) || !Object.values(value).every((text) => typeof text === "string")) {
    throw new SafetensorsError(path, "its __metadata__ is not an object of texts");
  }
  return Object.freeze(value as Record<string, string>);
}

/** Writes the length and the header, padded with spaces so that the data is aligned to 8 bytes. */
export function encodeHeader(header: SafetensorsHeader): Uint8Array<ArrayBuffer> {
  const { tensors, metadata } = header;
  const entries = tensors.map(({ name, format, shape, byteOffset, byteLength }) => {
    const offsets = [byteOffset, byteOffset + byteLength];
    return [name, { dtype: format, shape, data_offsets: offsets }] as const;
  });
  const about = Object.keys(metadata).length === 0 ? [] : [["__metadata__", metadata] as const];
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries([...about, ...entries])));
  const length = Math.ceil(json.byteLength / LENGTH_BYTES) * LENGTH_BYTES;
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}
