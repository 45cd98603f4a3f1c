// Loads numpy's .npz archives: each array gets its memory before its bytes are read, and they come in
// pieces, so that an archive of any contents takes a few MiB of the host.

import type { DeviceAllocator, DeviceBuffer } from "../../buffers/device_buffer.ts";
import type { DiskFile } from "../../disk/disk_file.ts";
import type { FilePath } from "../../disk/file_path.ts";
import { FileReading } from "../../disk/file_reading.ts";
import { contextOf } from "../../memory/memory_resource.ts";
import { type NpyHeader, npyHeaderFrom, NumpyError } from "../../numpy/npy_header.ts";
import { readZipDirectory, type ZipEntry } from "../../numpy/zip_directory.ts";
import type { CudaStream } from "../../order/stream.ts";
import { streamOn } from "../../order/stream_choice.ts";
import { Pauses } from "../../order/waiting.ts";
import { ProgressTotal } from "../../transfer/in_parallel.ts";
import { Parts } from "../../words/parts.ts";
import { dataBytesOf, filled, fillFrom } from "./fill_array.ts";
import { LOAD_NPY_OPTIONS, type LoadNpyOptions } from "./load_npy.ts";
import { NpzArrays, type NpzContents } from "./npz_arrays.ts";
import { readWhole } from "./read_piece.ts";
import { UnpackedFile } from "./unpacked_file.ts";

/** Ending of an array's file. */
export const ARRAY_ENDING = ".npy";

/**
 * Loads the arrays of an archive into device memory, each into a block of its own; when one cannot be
 * loaded, none is. Only arrays of types that the kit lacks, and files that are not arrays, are left
 * out: `unreadable` names them. Checksums are verified. `onProgress` hears the bytes of all files
 * in the archive. Needs `--allow-read`.
 *
 * @throws NumpyError when it is not such an archive, contradicts itself, or was damaged.
 */
export async function loadNpz(
  path: FilePath,
  gpu: DeviceAllocator,
  options: LoadNpyOptions = {},
): Promise<NpzArrays> {
  options = LOAD_NPY_OPTIONS.read(options, "loadNpz");
  const { signal, onProgress } = options;
  const stream = streamOn(contextOf(gpu, "load arrays onto"), options, "memory");
  using reading = new FileReading(path);
  const { file, byteLength } = await reading.opened(signal);
  const pauses = new Pauses(signal);
  const read = (offset: number, length: number) => readWhole(file, new Uint8Array(length), offset);
  const entries = await readZipDirectory({ path: file.path, byteLength, read, pauses });
  const totalBytes = entries.reduce((sum, entry) => sum + entry.byteLength, 0);
  const progress = new ProgressTotal(totalBytes, onProgress);
  using undo = new DisposableStack();
  const found = new Map<string, NpzContents extends ReadonlyMap<string, infer T> ? T : never>();
  const fileNames = new Set(entries.map(({ name }) => name));
  for (const entry of entries) {
    const name = arrayName(entry, fileNames);
    const own = { ...options, label: options.label ?? name, onProgress: progress.part() };
    const contents = await loadFile(file, entry, { gpu, stream, pauses, options: own });
    found.set(name, contents instanceof NumpyError ? contents : undo.use(contents));
    own.onProgress(entry.byteLength);
  }
  undo.move();
  return new NpzArrays(new Parts<NpzContents>(found));
}

/** Returns the name of a file without its ending, unless another file has that name. */
function arrayName({ name }: ZipEntry, fileNames: ReadonlySet<string>): string {
  const short = name.endsWith(ARRAY_ENDING) ? name.slice(0, -ARRAY_ENDING.length) : name;
  return fileNames.has(short) ? name : short;
}

/** Loads one file as an array; returns the error of one that is whole, and no array for the GPU. */
async function loadFile(
  file: DiskFile,
  entry: ZipEntry,
  { pauses, ...request }: {
    readonly gpu: DeviceAllocator;
    readonly stream: CudaStream;
    readonly pauses: Pauses;
    readonly options: LoadNpyOptions;
  },
): Promise<DeviceBuffer | NumpyError> {
  using contents = new UnpackedFile(file, entry, pauses);
  const header = await headerOf(contents, `${file.path}/${entry.name}`);
  if (header instanceof NumpyError) {
    await contents.finish();
    return header;
  }
  return await filled({ ...request, header }, (buffer) => {
    return fillFrom(buffer, { ...request, header }, contents);
  });
}

/** Reads the header of an array, or returns its error: what is damaged fails by its checksum. */
async function headerOf(contents: UnpackedFile, path: string): Promise<NpyHeader | NumpyError> {
  const read = async (count: number) => {
    const bytes = new Uint8Array(Math.min(count, contents.leftBytes));
    await contents.read(bytes);
    return bytes;
  };
  try {
    const header = await npyHeaderFrom(path, read);
    if (dataBytesOf(header) <= contents.leftBytes) return header;
    return new NumpyError(path, "it was cut off");
  } catch (error) {
    if (error instanceof NumpyError && error.path === path) return error;
    throw error;
  }
}
