// Reads the header of a safetensors file, without its tensors.

import type { FilePath } from "../../disk/file_path.ts";
import { FileReading, type OpenedFile } from "../../disk/file_reading.ts";
import type { HostMemory } from "../../memory/host_memory.ts";
import type { ByteSize } from "../../words/format.ts";
import { OptionSet, SIZE } from "../../words/options.ts";
import { ArrivingBytes, isArriving } from "../arriving_bytes.ts";
import type { ByteSource } from "../byte_source.ts";
import {
  headerLimit,
  LENGTH_BYTES,
  parseHeader,
  readHeaderLength,
  SafetensorsError,
  type SafetensorsHeader,
} from "./header.ts";

/** Options for {@link readSafetensorsHeader}. */
export interface ReadHeaderOptions {
  /** Largest header that is read: 100 MB by default. */
  readonly maxHeaderSize?: ByteSize | undefined;
}

/** Checks the options above. */
export const READ_HEADER_OPTIONS: OptionSet<ReadHeaderOptions> = new OptionSet({
  maxHeaderSize: SIZE,
});

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
  const read = async (offset: number, count: number) => {
    const bytes = new Uint8Array(Math.min(count, byteLength - offset));
    await file.read(bytes, offset);
    return bytes;
  };
  return await readHeaderBy(read, { path: file.path, byteLength, maxHeaderBytes });
}

/** Reads the header at the beginning of bytes that arrive. */
export async function readArrivingHeader(
  bytes: ArrivingBytes,
  maxHeaderBytes: number,
): Promise<SafetensorsHeader> {
  const { name: path, byteLength = Infinity } = bytes;
  const read = async (_: number, count: number) => {
    const part = await bytes.take(count);
    if (part.byteLength === count) return part;
    throw new SafetensorsError(path, `it ended after ${bytes.offset} bytes, within its header`);
  };
  return await readHeaderBy(read, { path, byteLength, maxHeaderBytes });
}

/** Reads a header from bytes that are asked for in turn. */
export async function readHeaderBy(
  read: (offset: number, count: number) => Promise<Uint8Array<ArrayBuffer>>,
  source: {
    readonly path: string;
    /** Bytes of the file; Infinity while unknown. */
    readonly byteLength: number;
    readonly maxHeaderBytes: number;
  },
): Promise<SafetensorsHeader> {
  const length = readHeaderLength(await read(0, LENGTH_BYTES), source);
  const dataOffset = LENGTH_BYTES + length;
  const { path, byteLength } = source;
  const json = await read(LENGTH_BYTES, length);
  const header = await parseHeader(json, { path, dataByteLength: byteLength - dataOffset });
  return { ...header, dataOffset };
}
