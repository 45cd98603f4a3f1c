// numpy's .npz archives: several arrays by name in one file, stored or deflated.

import type { DeviceAllocator } from "../../buffers/device_allocator.ts";
import type { DeviceBuffer } from "../../buffers/device_buffer.ts";
import type { GpuBuffer } from "../../buffers/gpu_buffer.ts";
import type { DiskFile } from "../../disk/disk_file.ts";
import { type FilePath, pathOf } from "../../disk/file_path.ts";
import { FileReading } from "../../disk/file_reading.ts";
import { allocateBits, type DType } from "../../dtype.ts";
import { contextOf } from "../../memory/memory_resource.ts";
import {
  encodeNpyHeader,
  type NpyHeader,
  NumpyError,
  readNpyHeader,
} from "../../numpy/npy_header.ts";
import {
  contentOffset,
  MOST_NAME_BYTES,
  type PackedFile,
  readZipDirectory,
  type ZipEntry,
  zipPieces,
} from "../../numpy/zip.ts";
import type { CudaStream } from "../../order/stream.ts";
import { currentStreamOf, streamOn } from "../../order/stream_choice.ts";
import { writeInto } from "../../transfer/gathered_transfer.ts";
import type { TransferOptions } from "../../transfer/pending_transfer.ts";
import { produceFile, WRITING_KINDS, type WritingOptions } from "../../transfer/produce_file.ts";
import { TRANSFER_KINDS } from "../../transfer/transfer_choice.ts";
import { builtin } from "../../words/builtin.ts";
import { describeValue, formatBytes, formatCount } from "../../words/format.ts";
import { FLAG, OptionSet } from "../../words/options.ts";
import { comesFrom, Parts, partsOf } from "../../words/parts.ts";
import { reportProgress } from "../../words/progress.ts";
import { refuseCloning } from "../../words/uncloneable.ts";
import { areDisposed, findByName, type LoadedWords, requireType } from "../loaded_contents.ts";
import { toNamedBuffers } from "../named_buffers.ts";
import {
  dataBytesOf,
  LOAD_NPY_OPTIONS,
  type LoadNpyOptions,
  readBytes,
  readWhole,
  toDevice,
} from "./load_npy.ts";

const ENDING = ".npy";

const ARCHIVE_WORDS: LoadedWords = { whole: "archive", noun: "array" };

/** Arrays by name: an object, or a Map. */
export type NamedArrays =
  | Readonly<Record<string, GpuBuffer>>
  | Iterable<readonly [name: string, array: GpuBuffer]>;

/** Options for {@link saveNpz}. */
export interface SaveNpzOptions extends TransferOptions, WritingOptions {
  /** Whether the arrays are compressed, as by numpy's savez_compressed; false by default. */
  readonly compress?: boolean | undefined;
  /** Stream whose earlier work comes first; the device's default stream by default. */
  readonly stream?: CudaStream | undefined;
}

const SAVE_NPZ_OPTIONS = new OptionSet<SaveNpzOptions>({
  ...TRANSFER_KINDS,
  ...WRITING_KINDS,
  compress: FLAG,
});

/** An archive's contents by name: an array on the GPU, or the error of one not loaded. */
type NpzContents = ReadonlyMap<string, DeviceBuffer | NumpyError>;

/**
 * Arrays of an archive on the GPU, by name. Disposing it frees all of them. Arrays of types that the
 * kit lacks, such as texts and dates, are named but not loaded.
 */
export class NpzArrays
  implements Disposable, AsyncDisposable, Iterable<[name: string, array: DeviceBuffer]> {
  readonly #contents: NpzContents;
  #disposed = false;

  /** @ignore Adopts arrays. */
  constructor(parts: Parts<NpzContents>) {
    this.#contents = partsOf(parts, new.target);
    refuseCloning(this);
  }

  /** Whether it was disposed, or its memory was. */
  get disposed(): boolean {
    return this.#disposed || areDisposed([...this].map(([, array]) => array));
  }

  /** All names, in the order of the archive. */
  get names(): readonly string[] {
    return [...this.#contents.keys()];
  }

  /** Number of names. */
  get size(): number {
    return this.#contents.size;
  }

  /** Returns whether there is an array of that name, loaded or not. */
  has(name: string): boolean {
    return this.#contents.has(name);
  }

  /** The names that were not loaded: {@link NpzArrays.array} throws for them and says why. */
  get unreadable(): readonly string[] {
    return this.names.filter((name) => this.#contents.get(name) instanceof NumpyError);
  }

  /**
   * Returns an array by its name.
   *
   * @throws NumpyError when its elements have no type here, or it is no array.
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the arrays were disposed.
   */
  array(name: string): DeviceBuffer;
  /**
   * Returns an array by its name, and checks its element type.
   *
   * @throws TypeError when it has another element type.
   * @throws NumpyError when its elements have no type here, or it is no array.
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the arrays were disposed.
   */
  array<D extends DType>(name: string, dtype: D): DeviceBuffer<D>;
  array(name: string, dtype?: DType): DeviceBuffer {
    const found = findByName(this, this.#contents, name, ARCHIVE_WORDS);
    if (found instanceof NumpyError) throw found;
    requireType(ARCHIVE_WORDS, name, { found: found.dtype, wanted: dtype });
    return found;
  }

  /** Iterates over the names and arrays that were loaded. */
  *[Symbol.iterator](): IterableIterator<[name: string, array: DeviceBuffer]> {
    for (const [name, found] of this.#contents) {
      if (!(found instanceof NumpyError)) yield [name, found];
    }
  }

  /** Disposes all arrays. */
  dispose(): void {
    this.#disposed = true;
    for (const [, array] of this) array.dispose();
  }

  /** Same as {@link NpzArrays.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Same as {@link NpzArrays.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
    return Promise.resolve();
  }

  /** Returns the name for messages: `NpzArrays(3 arrays, 2 GiB)`. */
  toString(): string {
    const arrays = [...this];
    const byteLength = arrays.reduce((sum, [, array]) => sum + array.byteLength, 0);
    return `NpzArrays(${formatCount(arrays.length, "array")}, ${formatBytes(byteLength)})`;
  }

  /** Returns the name for JSON. */
  toJSON(): string {
    return this.toString();
  }

  /** Returns the text that the console shows: the arrays by name. */
  [Symbol.for("Deno.customInspect")](): string {
    const texts = [...this.#contents].map(([name, found]) =>
      `${name}: ${found instanceof NumpyError ? "unreadable" : found}`
    );
    return `NpzArrays(${texts.join(", ")})${this.disposed ? " disposed" : ""}`;
  }
}

comesFrom(NpzArrays, "loadNpz()");

/**
 * Loads the arrays of an archive into device memory, each into a block of its own; when one cannot be
 * loaded, none is. Only arrays of types that the kit lacks, and files that are not arrays, are left
 * out: `unreadable` names them. Checksums are verified. Needs `--allow-read`.
 *
 * @throws NumpyError when it is not such an archive, or was damaged.
 */
export async function loadNpz(
  path: FilePath,
  gpu: DeviceAllocator,
  options: LoadNpyOptions = {},
): Promise<NpzArrays> {
  options = LOAD_NPY_OPTIONS.read(options, "loadNpz");
  const { signal } = options;
  const stream = streamOn(contextOf(gpu, "load arrays onto"), options, "memory");
  using reading = new FileReading(path);
  const { file, byteLength } = await reading.opened(signal);
  const read = (offset: number, length: number) => readWhole(file, new Uint8Array(length), offset);
  const entries = readZipDirectory(file.path, byteLength, read);
  using undo = new DisposableStack();
  const found = new Map<string, DeviceBuffer | NumpyError>();
  const fileNames = new Set(entries.map(({ name }) => name));
  for (const entry of entries) {
    const short = entry.name.endsWith(ENDING) ? entry.name.slice(0, -ENDING.length) : entry.name;
    const name = fileNames.has(short) ? entry.name : short;
    const contents = await contentsOf(file, entry, signal);
    const header = headerIn(contents, `${file.path}/${entry.name}`);
    if (header instanceof NumpyError) {
      found.set(name, header);
      continue;
    }
    const end = header.byteLength + dataBytesOf(header);
    const label = options.label ?? name;
    const request = { gpu, header, stream, options: { ...options, label } };
    const array = await toDevice(() => contents.slice(header.byteLength, end), request);
    found.set(name, undo.use(array));
  }
  undo.move();
  return new NpzArrays(new Parts(found));
}

/** Returns the header of an array, or its error; the checksum has shown that it is whole. */
function headerIn(contents: Uint8Array, path: string): NpyHeader | NumpyError {
  try {
    const header = readNpyHeader(path, contents);
    const isWhole = header.byteLength + dataBytesOf(header) <= contents.byteLength;
    return isWhole ? header : new NumpyError(path, "it was cut off");
  } catch (error) {
    if (error instanceof NumpyError) return error;
    throw error;
  }
}

/**
 * Saves arrays as an archive of numpy. The new file replaces the old one once it is complete; until
 * then, and when anything fails, the old file stays as it was. The arrays are copied through the
 * host's memory. Needs `--allow-write`.
 *
 * @throws TypeError when a value is not a buffer, or its elements have no type in numpy; also for the
 *   arrays of an archive of which some were not loaded.
 * @throws RangeError when the archive would have 4 GiB; save each array with saveNpy() then.
 */
export async function saveNpz(
  path: FilePath,
  arrays: NamedArrays,
  options: SaveNpzOptions = {},
): Promise<void> {
  const { compress = false, stream, signal, onProgress, sync, inPlace } = SAVE_NPZ_OPTIONS.read(
    options,
    "saveNpz",
  );
  const name = pathOf(path);
  const named = namedArrays(name, arrays);
  const totalBytes = named.reduce((sum, { array }) => sum + array.byteLength, 0);
  let pieces: readonly Uint8Array<ArrayBuffer>[] = [];
  const packed = packArrays(name, named, { compress, stream, signal });
  const byteLength = packed.then((all) => {
    pieces = all;
    return all.reduce((sum, piece) => sum + piece.byteLength, 0);
  });
  byteLength.catch(() => {}); // told by the write, unless its path is refused
  await produceFile({ path, byteLength, uses: [], inPlace, sync, signal }, function* (file) {
    let offset = 0;
    for (const piece of pieces) {
      yield* writeInto(file, piece, offset);
      offset += piece.byteLength;
    }
    reportProgress(onProgress, totalBytes, totalBytes); // what it throws keeps the old file
  });
}

/** Downloads arrays and lays them out as an archive. */
async function packArrays(
  path: string,
  named: readonly NamedArray[],
  { compress, stream, signal }: Pick<SaveNpzOptions, "compress" | "stream" | "signal">,
): Promise<Uint8Array<ArrayBuffer>[]> {
  // All downloads are called here, so that later calls come after them.
  const downloads = named.map(({ array, header }) => {
    const contents = allocateBits("uint8", header.byteLength + array.byteLength);
    contents.set(header);
    const target = contents.subarray(header.byteLength);
    const chosen = stream ?? currentStreamOf(array.context);
    return array.as("uint8").download(target, { stream: chosen, signal }).then(() => contents);
  });
  const all = await Promise.all(downloads);
  const files: PackedFile[] = [];
  for (const [index, contents] of all.entries()) {
    const packed = compress ? await deflated(contents) : contents;
    files.push({
      name: `${named[index]?.name}${ENDING}`,
      isDeflated: compress === true,
      crc: crc32Of(contents),
      byteLength: contents.byteLength,
      packed,
    });
  }
  return zipPieces(path, files);
}

/** Reads a file of the archive and unpacks it; throws for a wrong checksum. */
async function contentsOf(
  file: DiskFile,
  entry: ZipEntry,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const { path } = file;
  const read = (offset: number, length: number) => readWhole(file, new Uint8Array(length), offset);
  const fileOffset = contentOffset(path, entry, read);
  const packed = await readBytes(file, { fileOffset, byteLength: entry.packedBytes, signal });
  const contents = entry.isDeflated ? await unpack(path, entry, packed) : packed;
  if (crc32Of(contents) === entry.crc) return contents;
  throw new NumpyError(path, `the checksum of "${entry.name}" is wrong`);
}

async function unpack(
  path: string,
  { name, byteLength }: ZipEntry,
  packed: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  let contents: Uint8Array<ArrayBuffer>;
  try {
    // A small file that would unpack to a huge one is stopped at the size that it claims.
    contents = await inflated(packed, Math.max(1, byteLength));
  } catch (cause) {
    throw new NumpyError(path, `"${name}" cannot be unpacked`, { cause });
  }
  if (contents.byteLength === byteLength) return contents;
  throw new NumpyError(path, `"${name}" has another size than its directory says`);
}

interface NamedArray {
  readonly name: string;
  readonly array: GpuBuffer;
  readonly header: Uint8Array<ArrayBuffer>;
}

function namedArrays(path: string, arrays: NamedArrays): NamedArray[] {
  if (arrays instanceof NpzArrays && arrays.unreadable.length > 0) {
    throw new TypeError(
      `Cannot save ${path}: it would lose what was not loaded, ` +
        `${arrays.unreadable.map(describeValue).join(", ")}; pass Object.fromEntries(arrays) to ` +
        "save the others",
    );
  }
  const names = new Set<string>();
  return toNamedBuffers(arrays, { path, noun: "array" }).map(([name, array]) => {
    if (name === "" || name.includes("\0")) {
      throw new TypeError(`Cannot save ${path}: ${describeValue(name)} is no name of an array`);
    }
    const { byteLength } = new TextEncoder().encode(name + ENDING);
    if (byteLength > MOST_NAME_BYTES) {
      throw new TypeError(
        `Cannot save ${path}: ${
          describeValue(name)
        } is a name of ${byteLength} bytes, archives have ` +
          `room for ${MOST_NAME_BYTES}`,
      );
    }
    if (names.has(name)) throw new TypeError(`Cannot save ${path}: there are two arrays "${name}"`);
    names.add(name);
    void array.span; // a disposed one says so
    return { name, array, header: encodeNpyHeader(array.dtype, array.shape) };
  });
}

function crc32Of(bytes: Uint8Array): number {
  return builtin("node:zlib").crc32(bytes);
}

function deflated(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return resultOf((callback) => builtin("node:zlib").deflateRaw(bytes, callback));
}

function inflated(
  packed: Uint8Array,
  maxOutputLength: number,
): Promise<Uint8Array<ArrayBuffer>> {
  return resultOf((callback) =>
    builtin("node:zlib").inflateRaw(packed, { maxOutputLength }, callback)
  );
}

/** Returns the bytes that a call of node:zlib passes to its callback. */
function resultOf(
  call: (callback: (error: Error | null, bytes: Uint8Array) => void) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    call((error, bytes) => error === null ? resolve(Uint8Array.from(bytes)) : reject(error));
  });
}
