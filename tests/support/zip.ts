// ZIP archives for tests, honest ones and others.

import { crc32, deflateRawSync } from "node:zlib";
import type { ZipFile } from "../../src/numpy/zip_format.ts";
import { localHeader, zipDirectory } from "../../src/numpy/zip_records.ts";

/** A file to pack, and what its records say instead of the truth. */
export interface PackedFile {
  readonly name: string;
  readonly contents: Uint8Array<ArrayBuffer>;
  readonly isDeflated?: boolean;
  /** Numbers that only the directory has. */
  readonly lies?: Partial<ZipFile>;
}

/** Packs files by name, stored, into an archive. */
export function archiveOf(
  files: Readonly<Record<string, Uint8Array<ArrayBuffer>>>,
): Uint8Array<ArrayBuffer> {
  return packed(Object.entries(files).map(([name, contents]) => ({ name, contents })));
}

/** Packs files into an archive. */
export function packed(files: readonly PackedFile[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const entries: ZipFile[] = [];
  let offset = 0;
  for (const { name, contents, isDeflated = false, lies } of files) {
    const bytes = isDeflated ? Uint8Array.from(deflateRawSync(contents)) : contents;
    const file = {
      name,
      isDeflated,
      crc: crc32(contents),
      packedBytes: bytes.byteLength,
      byteLength: contents.byteLength,
      offset,
    };
    const header = localHeader(file);
    parts.push(header, bytes);
    entries.push({ ...file, ...lies });
    offset += header.byteLength + bytes.byteLength;
  }
  return joined(...parts, ...zipDirectory("x.npz", entries, offset));
}

/** Joins arrays. */
export function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let end = 0;
  for (const part of parts) {
    whole.set(part, end);
    end += part.byteLength;
  }
  return whole;
}
