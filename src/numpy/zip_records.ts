// Writes the records of a ZIP archive: a header before each file, and the directory at the end. Numbers
// that need more than 32 bits are in fields of 64 bits, as numpy has them, and no others.

import {
  FLAGS,
  IN_64_BITS,
  IN_64_BITS_SHORT,
  MAX_DIRECTORY_BYTES,
  METHODS,
  RECORD_BYTES,
  SIGNATURES,
  viewOf,
  ZIP64_EXTRA,
  type ZipFile,
} from "./zip_format.ts";

/** Version of the format that a reader has to know: 2.0, or 4.5 for numbers of 64 bits. */
const VERSIONS = { usual: 20, large: 45 } as const;

/** The first day of 1980, as numpy has it. */
const DATE = (1 << 5) | 1;

/** Deflated bytes may be more than the contents: from here on there is room for 64 bits. */
const MIN_ZIP64_BYTES = 0xf000_0000;

/** Returns the size of the header before a file: known before the file is packed. */
export function localHeaderBytes(
  { name, byteLength }: Pick<ZipFile, "name" | "byteLength">,
): number {
  const extraBytes = byteLength >= MIN_ZIP64_BYTES ? 20 : 0;
  return RECORD_BYTES.local + new TextEncoder().encode(name).byteLength + extraBytes;
}

/** Writes the header before a file. */
export function localHeader(file: ZipFile): Uint8Array<ArrayBuffer> {
  const isLarge = file.byteLength >= MIN_ZIP64_BYTES;
  return encode(file, {
    recordBytes: RECORD_BYTES.local,
    signature: SIGNATURES.local,
    commonOffset: 4,
    isLarge,
    extra: isLarge ? [file.byteLength, file.packedBytes] : [],
  });
}

/**
 * Writes the directory of an archive, which lies at `offset`, and the records behind it.
 *
 * @throws RangeError when its names are too long together.
 */
export function zipDirectory(
  path: string,
  files: readonly ZipFile[],
  offset: number,
): Uint8Array<ArrayBuffer>[] {
  const entries = files.map((file) => {
    const extra = [file.byteLength, file.packedBytes, file.offset]
      .filter((size) => size >= IN_64_BITS);
    const entry = encode(file, {
      recordBytes: RECORD_BYTES.central,
      signature: SIGNATURES.central,
      commonOffset: 6,
      isLarge: extra.length > 0,
      extra,
    });
    const view = viewOf(entry);
    view.setUint16(4, view.getUint16(6, true), true);
    view.setUint32(42, Math.min(file.offset, IN_64_BITS), true);
    return entry;
  });
  const size = entries.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (size > MAX_DIRECTORY_BYTES) {
    throw new RangeError(
      `Cannot save ${path}: an archive has at most 64 MiB of names; save each with saveNpy()`,
    );
  }
  return [...entries, ...endRecords({ offset, size, count: files.length })];
}

/** Writes a file's record: both kinds have the same fields behind their signatures. */
function encode(
  file: ZipFile,
  { recordBytes, signature, commonOffset, isLarge, extra }: {
    readonly recordBytes: number;
    readonly signature: number;
    readonly commonOffset: number;
    readonly isLarge: boolean;
    /** Numbers of the field of 64 bits. */
    readonly extra: readonly number[];
  },
): Uint8Array<ArrayBuffer> {
  const name = new TextEncoder().encode(file.name);
  const extraBytes = extra.length === 0 ? 0 : 4 + 8 * extra.length;
  const record = new Uint8Array(recordBytes + name.byteLength + extraBytes);
  const view = viewOf(record);
  const at = commonOffset;
  const isLocal = signature === SIGNATURES.local;
  const shortSize = (size: number) => isLocal && isLarge ? IN_64_BITS : Math.min(size, IN_64_BITS);
  view.setUint32(0, signature, true);
  view.setUint16(at, isLarge ? VERSIONS.large : VERSIONS.usual, true);
  view.setUint16(at + 2, FLAGS.utf8, true);
  view.setUint16(at + 4, file.isDeflated ? METHODS.deflated : METHODS.stored, true);
  view.setUint16(at + 8, DATE, true);
  view.setUint32(at + 10, file.crc, true);
  view.setUint32(at + 14, shortSize(file.packedBytes), true);
  view.setUint32(at + 18, shortSize(file.byteLength), true);
  view.setUint16(at + 22, name.byteLength, true);
  view.setUint16(at + 24, extraBytes, true);
  record.set(name, recordBytes);
  if (extraBytes === 0) return record;
  const start = recordBytes + name.byteLength;
  view.setUint16(start, ZIP64_EXTRA, true);
  view.setUint16(start + 2, extraBytes - 4, true);
  for (const [i, size] of extra.entries()) {
    view.setBigUint64(start + 4 + 8 * i, BigInt(size), true);
  }
  return record;
}

/** Writes the records that tell where the directory is. */
function endRecords(
  { offset, size, count }: { offset: number; size: number; count: number },
): Uint8Array<ArrayBuffer>[] {
  const end = new Uint8Array(RECORD_BYTES.end);
  const view = viewOf(end);
  view.setUint32(0, SIGNATURES.end, true);
  view.setUint16(8, Math.min(count, IN_64_BITS_SHORT), true);
  view.setUint16(10, Math.min(count, IN_64_BITS_SHORT), true);
  view.setUint32(12, size, true);
  view.setUint32(16, Math.min(offset, IN_64_BITS), true);
  if (count < IN_64_BITS_SHORT && offset < IN_64_BITS) return [end];
  const large = new Uint8Array(RECORD_BYTES.end64 + RECORD_BYTES.locator);
  const all = viewOf(large);
  all.setUint32(0, SIGNATURES.end64, true);
  all.setBigUint64(4, BigInt(RECORD_BYTES.end64 - 12), true);
  all.setUint16(12, VERSIONS.large, true);
  all.setUint16(14, VERSIONS.large, true);
  all.setBigUint64(24, BigInt(count), true);
  all.setBigUint64(32, BigInt(count), true);
  all.setBigUint64(40, BigInt(size), true);
  all.setBigUint64(48, BigInt(offset), true);
  all.setUint32(RECORD_BYTES.end64, SIGNATURES.locator, true);
  all.setBigUint64(RECORD_BYTES.end64 + 8, BigInt(offset + size), true);
  all.setUint32(RECORD_BYTES.end64 + 16, 1, true);
  return [large, end];
}
