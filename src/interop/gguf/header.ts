// The header of a GGUF file: metadata by name, and the table of its tensors. Every limit is checked here, so
// that no tensor lies outside the file or over another one.

import { roundUp } from "../../../ffi/alignment.ts";
import type { Shape } from "../../buffers/shape.ts";
import type { FilePath } from "../../disk/file_path.ts";
import type { DType } from "../../dtype.ts";
import { FileReading, type OpenedFile } from "../../disk/file_reading.ts";
import { otherSort } from "../../words/file_error.ts";
import { headerLimit, multiply } from "../safetensors/header.ts";
import { READ_HEADER_OPTIONS, type ReadHeaderOptions } from "../safetensors/read_header.ts";
import { type GgufFormat, ggufFormat } from "./formats.ts";
import { type GgufValue, HeaderScanner } from "./header_scanner.ts";

/** The first bytes of every file. */
const MAGIC = "GGUF";

/** The versions that are read; both have the same layout. */
const VERSIONS: ReadonlySet<number> = new Set([2, 3]);

/** Alignment of tensors, unless the metadata name another one. */
const DEFAULT_ALIGNMENT = 32;

/** Axes that a tensor has at most, as in ggml. */
const MAX_GGML_AXES = 4;

/** The least bytes of an entry: a name's length, a type, and what follows. */
const MIN_VALUE_BYTES = 13;
const MIN_TENSOR_BYTES = 24;

/** One tensor as a file describes it. */
export interface GgufTensor {
  /** Name of the tensor. */
  readonly name: string;
  /** Element type, by ggml's own name. */
  readonly format: GgufFormat;
  /** Elements of a block: 1 where elements are not quantized. */
  readonly blockLength: number;
  /** Bytes of a block. */
  readonly blockBytes: number;
  /** Element type of the buffer that holds it: `uint8` for the bytes of blocks. */
  readonly dtype: DType;
  /** Size of each axis in elements, outermost first: ggml's `ne` in reverse. */
  readonly shape: Shape;
  /** Offset of its first byte from the start of the data, {@link GgufHeader.dataOffset}. */
  readonly byteOffset: number;
  /** Number of bytes. */
  readonly byteLength: number;
}

/** The contents of a header. */
export interface GgufHeader {
  /** Version of the format: 2 or 3. */
  readonly version: number;
  /** Metadata by name, such as `general.architecture`. */
  readonly metadata: Readonly<Record<string, GgufValue>>;
  /** The tensors, in the order of their bytes. */
  readonly tensors: readonly GgufTensor[];
  /** Alignment of the tensors' offsets in bytes. */
  readonly alignment: number;
  /** Offset of the data in the file: a tensor begins `dataOffset + byteOffset` bytes into it. */
  readonly dataOffset: number;
}

/** Options for {@link readGgufHeader}. */
export interface ReadGgufOptions extends ReadHeaderOptions {}

/**
 * Reads the metadata of a GGUF file, and the names, types, shapes and places of its tensors. No GPU is
 * needed. Of a model in several files it reads the one that is named.
 *
 * @throws GgufError when the file breaks the format; the message has the reason.
 */
export async function readGgufHeader(
  path: FilePath,
  options: ReadGgufOptions = {},
): Promise<GgufHeader> {
  const { maxHeaderSize } = READ_HEADER_OPTIONS.read(options, "readGgufHeader");
  const maxBytes = headerLimit(maxHeaderSize);
  using reading = new FileReading(path);
  return await parseGguf(await reading.opened(), { maxBytes });
}

/** Reads the header of an open file. */
export async function parseGguf(
  opened: OpenedFile,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
): Promise<GgufHeader> {
  const scanner = new HeaderScanner(opened, maxBytes, signal);
  const version = await readVersion(scanner, opened.byteLength);
  const tensorCount = await scanner.count("tensors", MIN_TENSOR_BYTES);
  const metadata = await readMetadata(scanner);
  const tensors = new Map<string, GgufTensor>();
  for (let i = 0; i < tensorCount; i++) {
    const tensor = await readTensor(scanner);
    if (tensors.has(tensor.name)) throw scanner.wrong(`it has tensor "${tensor.name}" twice`);
    tensors.set(tensor.name, tensor);
  }
  const alignment = alignmentOf(scanner, metadata);
  const dataOffset = roundUp(scanner.offset, alignment);
  const ordered = [...tensors.values()].sort((a, b) => {
    return a.byteOffset - b.byteOffset || a.byteLength - b.byteLength;
  });
  const dataBytes = Math.max(0, opened.byteLength - dataOffset); // the padding may reach past the end
  checkPlaces(scanner, ordered, { alignment, dataBytes });
  return {
    version,
    metadata: Object.fromEntries(metadata),
    tensors: ordered,
    alignment,
    dataOffset,
  };
}

async function readVersion(scanner: HeaderScanner, byteLength: number): Promise<number> {
  const start = await scanner.ahead(Math.min(16, byteLength));
  if (String.fromCharCode(...start.subarray(0, MAGIC.length)) !== MAGIC) {
    const other = otherSort(start);
    throw scanner.wrong(`it is no GGUF file${other === undefined ? "" : ` but ${other}`}`);
  }
  await scanner.uint32();
  const version = await scanner.uint32();
  if (VERSIONS.has(version)) return version;
  throw scanner.wrong(
    version % 2 ** 16 === 0 && version > 0
      ? "it is big-endian, as for s390x; gguf-convert-endian of Python's gguf makes it little-endian"
      : `it is of version ${version} of the format, and only 2 and 3 are read`,
  );
}

async function readMetadata(scanner: HeaderScanner): Promise<Map<string, GgufValue>> {
  const metadata = new Map<string, GgufValue>();
  for (let left = await scanner.count("metadata", MIN_VALUE_BYTES); left > 0; left--) {
    const name = await scanner.text(true);
    if (metadata.has(name)) throw scanner.wrong(`it has "${name}" twice`);
    metadata.set(name, await scanner.value(await scanner.uint32()));
  }
  return metadata;
}

async function readTensor(scanner: HeaderScanner): Promise<GgufTensor> {
  const name = await scanner.text(true);
  const wrong = (reason: string) => scanner.wrong(`tensor "${name}" ${reason}`);
  const axisCount = await scanner.uint32();
  if (axisCount > MAX_GGML_AXES) {
    throw wrong(`has ${axisCount} axes, at most ${MAX_GGML_AXES} are allowed`);
  }
  const sizes: number[] = [];
  for (let axis = 0; axis < axisCount; axis++) sizes.push(await scanner.size());
  const number = await scanner.uint32();
  const byteOffset = await scanner.size();
  const row = ggufFormat(number);
  if (row === undefined) throw wrong(`has the unknown type ${number}`);
  const [format, blockLength, blockBytes, dtype = "uint8"] = row;
  const [rowLength = 1] = sizes;
  if (rowLength % blockLength !== 0) {
    throw wrong(`has rows of ${rowLength} elements, and blocks of ${format} have ${blockLength}`);
  }
  const byteLength = sizes.slice(1).reduce(multiply, rowLength / blockLength * blockBytes);
  if (!Number.isSafeInteger(byteLength + byteOffset)) {
    throw wrong(`is too large: [${sizes.toReversed().join(", ")}] of ${format}`);
  }
  const shape = Object.freeze(sizes.reverse());
  return { name, format, blockLength, blockBytes, dtype, shape, byteOffset, byteLength };
}

function alignmentOf(scanner: HeaderScanner, metadata: ReadonlyMap<string, GgufValue>): number {
  const given = metadata.get("general.alignment") ?? DEFAULT_ALIGNMENT;
  const isWhole = typeof given === "number" && (given >>> 0) === given && given > 0;
  if (isWhole && (given & (given - 1)) === 0) return given;
  throw scanner.wrong(`its alignment is ${given}, and no power of two`);
}

function checkPlaces(
  scanner: HeaderScanner,
  tensors: readonly GgufTensor[],
  { alignment, dataBytes }: { readonly alignment: number; readonly dataBytes: number },
): void {
  let end = 0;
  for (const { name, byteOffset, byteLength } of tensors) {
    const wrong = (reason: string) => scanner.wrong(`tensor "${name}" ${reason}`);
    if (byteOffset % alignment !== 0) {
      throw wrong(`begins at ${byteOffset}, which is not aligned to ${alignment}`);
    }
    if (byteOffset < end) throw wrong(`overlaps the tensor before it, which ends at ${end}`);
    end = byteOffset + byteLength;
    if (end > dataBytes) throw wrong(`ends at ${end}, and the data has ${dataBytes} bytes`);
  }
}
