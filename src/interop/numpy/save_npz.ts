// Saves arrays as numpy's .npz archives, stored or deflated, in pieces: an archive of any size takes a few
// MiB of the host, and the event loop has its turns meanwhile.

import type { GpuBuffer } from "../../buffers/gpu_buffer.ts";
import { MEMORY, type MemorySpan, partOf } from "../../copies/copy.ts";
import type { DiskFile } from "../../disk/disk_file.ts";
import { type FilePath, pathOf } from "../../disk/file_path.ts";
import { encodeNpyHeader } from "../../numpy/npy_header.ts";
import { MAX_NAME_BYTES, type ZipFile } from "../../numpy/zip_format.ts";
import { localHeader, localHeaderBytes, zipDirectory } from "../../numpy/zip_records.ts";
import type { CudaStream } from "../../order/stream.ts";
import { currentStreamOf } from "../../order/stream_choice.ts";
import { MILLISECONDS_BETWEEN_TURNS, nextTurn } from "../../order/waiting.ts";
import { checkDownload } from "../../transfer/file_transfer.ts";
import { readInto, writeInto } from "../../transfer/gathered_transfer.ts";
import { noteTransfer } from "../../transfer/host_transfer.ts";
import type { TransferOptions } from "../../transfer/pending_transfer.ts";
import { produceFile, WRITING_KINDS, type WritingOptions } from "../../transfer/produce_file.ts";
import type { Step } from "../../transfer/stepped_work.ts";
import { TRANSFER_KINDS } from "../../transfer/transfer_choice.ts";
import { builtin } from "../../words/builtin.ts";
import { describeValue } from "../../words/format.ts";
import { joined } from "../../words/joined_bytes.ts";
import { FLAG, OptionSet } from "../../words/options.ts";
import { reportProgress } from "../../words/progress.ts";
import { cannotSave, toNamedBuffers } from "../named_buffers.ts";
import { ARRAY_ENDING } from "./load_npz.ts";
import { NpzArrays } from "./npz_arrays.ts";

/** Bytes that are stored at a time. */
const STORED_BYTES = 4 * 2 ** 20;

/** Bytes that are deflated at a time: some 5 ms. More would be packed hardly better. */
const DEFLATED_BYTES = 256 * 2 ** 10;

/** Arrays by name: an object, or a Map. */
export type NamedArrays =
  | Readonly<Record<string, GpuBuffer>>
  | Iterable<readonly [name: string, array: GpuBuffer]>;

/** Options for {@link saveNpz}. */
export interface SaveNpzOptions extends TransferOptions, WritingOptions {
  /** Compresses the arrays, as numpy's savez_compressed does; false by default. */
  readonly compress?: boolean | undefined;
  /** Stream whose earlier work comes first; the device's default stream by default. */
  readonly stream?: CudaStream | undefined;
}

const SAVE_NPZ_OPTIONS = new OptionSet<SaveNpzOptions>({
  ...TRANSFER_KINDS,
  ...WRITING_KINDS,
  compress: FLAG,
});

/** An array to save, and its place in the order of calls. */
interface NamedArray {
  readonly name: string;
  readonly span: MemorySpan;
  readonly stream: CudaStream;
  /** Its header in numpy's format. */
  readonly header: Uint8Array<ArrayBuffer>;
}

/**
 * Saves arrays as an archive of numpy. The new file replaces the old one once it is complete; until
 * then, and when anything fails, the old file stays as it was. The arrays go through a few MiB of the
 * host's memory. Needs `--allow-write`.
 *
 * @throws TypeError when a value is not a buffer, or its elements have no type in numpy; also for the
 *   arrays of an archive of which some were not loaded.
 * @throws RangeError when the names have more than 64 MiB together.
 */
export async function saveNpz(
  path: FilePath,
  arrays: NamedArrays,
  options: SaveNpzOptions = {},
): Promise<void> {
  options = SAVE_NPZ_OPTIONS.read(options, "saveNpz");
  const { compress = false, stream, signal, onProgress, sync, inPlace } = options;
  const name = pathOf(path);
  const named = namedArrays(name, arrays, stream);
  const totalBytes = named.reduce((sum, { span }) => sum + span.byteLength, 0);
  const uses = named.map(({ span, stream }) => ({ ...span, access: "read", stream }) as const);
  const wholeBytes = storedBytes(name, named);
  const byteLength = compress ? 0 : wholeBytes;
  await produceFile({ path, byteLength, uses, inPlace, sync, signal }, function* (file) {
    const archive = new ArchiveWriting(file, { compress, signal });
    let doneBytes = 0;
    const report = (movedBytes: number) => {
      doneBytes += movedBytes;
      reportProgress(onProgress, doneBytes, totalBytes); // what it throws keeps the old file
    };
    for (const array of named) yield* archive.add(array, report);
    if (totalBytes === 0) report(0);
    yield* archive.finish(name);
  });
}

/** Writes the files of an archive one after another, and its directory. */
class ArchiveWriting {
  readonly #file: DiskFile;
  readonly #isDeflated: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #files: ZipFile[] = [];
  #offset = 0;
  /** Time of the next turn of the event loop. */
  #turnTime = performance.now() + MILLISECONDS_BETWEEN_TURNS;

  constructor(
    file: DiskFile,
    { compress, signal }: { readonly compress: boolean; readonly signal: AbortSignal | undefined },
  ) {
    this.#file = file;
    this.#isDeflated = compress;
    this.#signal = signal;
  }

  /** Writes an array; its header in the archive has the checksum, so that it comes last. */
  *add(array: NamedArray, report: (movedBytes: number) => void): Generator<Step, void> {
    const { name, header, span, stream } = array;
    const offset = this.#offset;
    const byteLength = header.byteLength + span.byteLength;
    const file = { name: `${name}${ARRAY_ENDING}`, byteLength };
    const start = offset + localHeaderBytes(file);
    const pieceBytes = this.#isDeflated ? DEFLATED_BYTES : STORED_BYTES;
    const bytes = new Uint8Array(Math.min(pieceBytes, byteLength));
    if (span.byteLength > 0) noteTransfer({ direction: "download", span, stream });
    this.#offset = start;
    let crc = 0;
    for (let at = 0; at < byteLength; at += pieceBytes) {
      this.#signal?.throwIfAborted();
      const piece = bytes.subarray(0, byteLength - at);
      const movedBytes = yield* this.#fill(piece, array, at);
      crc = builtin("node:zlib").crc32(piece, crc);
      const isLast = at + piece.byteLength === byteLength;
      const packed = this.#isDeflated ? deflated(piece, isLast) : piece;
      this.#offset += packed.byteLength;
      if (!isLast) yield* this.#write(packed, this.#offset - packed.byteLength);
      else {
        const packedBytes = this.#offset - start;
        const last = { ...file, isDeflated: this.#isDeflated, crc, packedBytes, offset };
        this.#files.push(last);
        yield* this.#writeLast(packed, last, start);
      }
      if (movedBytes > 0) report(movedBytes);
      if (performance.now() > this.#turnTime) yield this.#turn();
    }
  }

  /** Writes the end of a file and its header, at once where they lie side by side. */
  *#writeLast(
    packed: Uint8Array<ArrayBuffer>,
    file: ZipFile,
    start: number,
  ): Generator<Step, void> {
    const header = localHeader(file);
    if (packed.byteLength === file.packedBytes && packed.byteLength <= DEFLATED_BYTES) {
      return yield* this.#write(joined([header, packed]), file.offset);
    }
    yield* this.#write(packed, start + file.packedBytes - packed.byteLength);
    yield* this.#write(header, file.offset);
  }

  /** Fills a piece of an array's file from a place on, and returns the number of bytes from the GPU. */
  *#fill(
    piece: Uint8Array<ArrayBuffer>,
    { header, span, stream }: NamedArray,
    at: number,
  ): Generator<Step, number> {
    const ofHeader = header.subarray(at, at + piece.byteLength);
    piece.set(ofHeader);
    const elements = piece.subarray(ofHeader.byteLength);
    const { byteLength } = elements;
    if (byteLength === 0) return 0;
    const offset = Math.max(0, at - header.byteLength);
    const part = partOf(span, { offset, byteLength });
    yield* readInto(elements, { parts: [{ span: part }], stream, signal: this.#signal });
    return byteLength;
  }

  /** A turn of the event loop; a call that blocks does without. */
  #turn(): Step {
    const finishNow = () => {
      this.#turnTime = performance.now() + MILLISECONDS_BETWEEN_TURNS;
      return true;
    };
    return { promise: nextTurn().then(finishNow), finishNow };
  }

  /** Writes the directory. */
  *finish(path: string): Generator<Step, void> {
    for (const records of joinedSome(zipDirectory(path, this.#files, this.#offset))) {
      yield* this.#write(records, this.#offset);
      this.#offset += records.byteLength;
    }
  }

  /** Writes bytes for which room was made before, unless their number was not known. */
  *#write(bytes: Uint8Array<ArrayBuffer>, offset: number): Generator<Step, void> {
    if (this.#isDeflated) this.#file.requireSize(offset + bytes.byteLength);
    yield* writeInto(this.#file, bytes, offset);
  }
}

/** Deflates a piece of a file: one that is not the last ends where another can follow. */
function deflated(bytes: Uint8Array<ArrayBuffer>, isLast: boolean): Uint8Array<ArrayBuffer> {
  const { constants, deflateRawSync } = builtin("node:zlib");
  const finishFlush = isLast ? constants.Z_FINISH : constants.Z_FULL_FLUSH;
  return Uint8Array.from(deflateRawSync(bytes, { finishFlush }));
}

/** Joins short records, of which a directory has one for each array. */
function* joinedSome(
  records: readonly Uint8Array<ArrayBuffer>[],
): Generator<Uint8Array<ArrayBuffer>, void> {
  let rest = records;
  while (rest.length > 0) {
    let byteLength = 0;
    const count = rest.findIndex((record) => (byteLength += record.byteLength) > STORED_BYTES);
    const some = count < 0 ? rest : rest.slice(0, Math.max(1, count));
    yield joined(some);
    rest = rest.slice(some.length);
  }
}

/** Returns the size of an archive of stored arrays; its directory is checked before anything is written. */
function storedBytes(path: string, named: readonly NamedArray[]): number {
  let offset = 0;
  const files = named.map(({ name, header, span }) => {
    const byteLength = header.byteLength + span.byteLength;
    const file = { name: `${name}${ARRAY_ENDING}`, byteLength, packedBytes: byteLength };
    const placed = { ...file, isDeflated: false, crc: 0, offset };
    offset += localHeaderBytes(file) + byteLength;
    return placed;
  });
  const records = zipDirectory(path, files, offset);
  return records.reduce((sum, { byteLength }) => sum + byteLength, offset);
}

/**
 * Checks the arrays before a file is touched.
 *
 * @throws TypeError that names the wrong one.
 */
function namedArrays(
  path: string,
  arrays: NamedArrays,
  stream: CudaStream | undefined,
): NamedArray[] {
  if (arrays instanceof NpzArrays && arrays.unreadable.length > 0) {
    const lost = arrays.unreadable.map(describeValue).join(", ");
    const remedy = "pass Object.fromEntries(arrays) to save the others";
    throw cannotSave(path, `it would lose what was not loaded, ${lost}; ${remedy}`);
  }
  const names = new Set<string>();
  return toNamedBuffers(arrays, { path, noun: "array" }).map(([name, array]) => {
    if (name === "" || name.includes("\0")) {
      throw cannotSave(path, `${describeValue(name)} is no name of an array`);
    }
    const { byteLength } = new TextEncoder().encode(name + ARRAY_ENDING);
    if (byteLength > MAX_NAME_BYTES) {
      const words = `is a name of ${byteLength} bytes, archives have room for ${MAX_NAME_BYTES}`;
      throw cannotSave(path, `${describeValue(name)} ${words}`);
    }
    if (names.has(name)) throw cannotSave(path, `there are two arrays "${name}"`);
    names.add(name);
    const span = array[MEMORY](); // a disposed one says so
    const chosen = stream ?? currentStreamOf(array.context);
    checkDownload(span, chosen);
    return { name, span, stream: chosen, header: encodeNpyHeader(array.dtype, array.shape) };
  });
}
