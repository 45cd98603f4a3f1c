// Reads the header of a safetensors file, without its tensors.

import type { FilePath } from "../../disk/file_path.ts";
import { FileReading, type OpenedFile } from "../../disk/file_reading.ts";
import type { HostBytes, HostMemory } from "../../memory/host_memory.ts";
import type { ByteSize } from "../../words/format.ts";
import { OptionSet, SIZE } from "../../words/options.ts";
import { ArrivingBytes, isArriving } from "../arriving_bytes.ts";
import type { ByteSource } from "../byte_source.ts";
import { SafetensorsError } from "./error.ts";
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
 * No GPU is needed. The file may also come as bytes, as a blob or a stream of them, or from the web: then no
 * more than the header is read.
 *
 * @throws SafetensorsError when the file breaks the format; the message has the reason.
 */
export async function readSafetensorsHeader(
  source: FilePath | ByteSource | HostMemory,
  options: ReadHeaderOptions = {},
): Promise<SafetensorsHeader> {
  const { maxHeaderSize } = READ_HEADER_OPTIONS.read(options, "readSafetensorsHeader");
  const maxHeaderBytes = headerLimit(maxHeaderSize);
  if (isArriving(source)) {
    await using bytes = await ArrivingBytes.open(source);
    return await readArrivingHeader(bytes, maxHeaderBytes);
  }
  using reading = new FileReading(source);
  return await readHeader(await reading.opened(), maxHeaderBytes);
}

/** Reads the header of an open file. */
export async function readHeader(
  { file, byteLength }: OpenedFile,
  maxHeaderBytes: number,
): Promise<SafetensorsHeader> {
  const start = new Uint8Array(Math.min(LENGTH_BYTES, byteLength));
  await file.read(start, 0);
  const source = { path: file.path, byteLength };
  const length = readHeaderLength(start, { ...source, maxHeaderBytes });
  const json = new Uint8Array(length);
  await file.read(json, LENGTH_BYTES);
  return await headerOf(json, source);
}

/** Reads the header at the beginning of bytes that arrive. */
export async function readArrivingHeader(
  bytes: ArrivingBytes,
  maxHeaderBytes: number,
): Promise<SafetensorsHeader> {
  const { name: path, byteLength = Infinity } = bytes;
  const read = async (count: number) => {
    const part = await bytes.take(count);
    if (part.byteLength === count) return part;
    throw new SafetensorsError(path, `it ended after ${bytes.offset} bytes, within its header`);
  };
  const start = await read(LENGTH_BYTES);
  const length = readHeaderLength(start, { path, byteLength, maxHeaderBytes });
  return await headerOf(await read(length), { path, byteLength });
}

/** Reads the header at the beginning of bytes that are there. */
export async function readHeaderOf(
  bytes: HostBytes,
  { path, maxHeaderBytes }: { readonly path: string; readonly maxHeaderBytes: number },
): Promise<SafetensorsHeader> {
  const source = { path, byteLength: bytes.byteLength };
  const length = readHeaderLength(bytes.slice(0, LENGTH_BYTES), { ...source, maxHeaderBytes });
  return await headerOf(bytes.slice(LENGTH_BYTES, LENGTH_BYTES + length), source);
}

async function headerOf(
  json: Uint8Array,
  { path, byteLength }: { readonly path: string; readonly byteLength: number },
): Promise<SafetensorsHeader> {
  const dataOffset = LENGTH_BYTES + json.byteLength;
  const header = await parseHeader(json, { path, dataByteLength: byteLength - dataOffset });
  return { ...header, dataOffset };
}
