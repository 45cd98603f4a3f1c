// Reads the header of a safetensors file, without its tensors.

import type { FilePath } from "../../disk/file_path.ts";
import { FileReading, type OpenedFile } from "../../disk/file_reading.ts";
import type { ByteSize } from "../../words/format.ts";
import { OptionSet, SIZE } from "../../words/options.ts";
import {
  headerLimit,
  LENGTH_BYTES,
  parseHeader,
  readHeaderLength,
  type SafetensorsHeader,
} from "./header.ts";

/** Options for {@link readSafetensorsHeader}. */
export interface ReadHeaderOptions {
  /** Largest header that is read: 100 MB, as the format has it, by default. */
  readonly maxHeaderSize?: ByteSize | undefined;
}

const READ_HEADER_OPTIONS = new OptionSet<ReadHeaderOptions>({ maxHeaderSize: SIZE });

/**
 * Reads the names, types, shapes and places of the tensors in a safetensors file, and its metadata.
 * No GPU is needed.
 *
 * @throws SafetensorsError when the file breaks the format; the message has the reason.
 */
export async function readSafetensorsHeader(
  path: FilePath,
  options: ReadHeaderOptions = {},
): Promise<SafetensorsHeader> {
  const { maxHeaderSize } = READ_HEADER_OPTIONS.read(options, "readSafetensorsHeader");
  const maxHeaderBytes = headerLimit(maxHeaderSize);
  using reading = new FileReading(path);
  return await readHeader(await reading.opened(), maxHeaderBytes);
}

/** Reads the header of an open file. */
export async function readHeader(
  { file, byteLength }: OpenedFile,
  maxHeaderBytes: number,
): Promise<SafetensorsHeader> {
  const start = new Uint8Array(Math.min(LENGTH_BYTES, byteLength));
  await file.read(start, 0);
  const length = readHeaderLength(start, { path: file.path, byteLength, maxHeaderBytes });
  const json = new Uint8Array(length);
  await file.read(json, LENGTH_BYTES);
  const dataOffset = LENGTH_BYTES + length;
  const source = { path: file.path, dataByteLength: byteLength - dataOffset };
  return { ...await parseHeader(json, source), dataOffset };
}
