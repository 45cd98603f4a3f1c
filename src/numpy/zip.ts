// ZIP archives as numpy writes them: the directory at the end, and files that are stored or deflated.

import { NumpyError } from "./npy_header.ts";

/** A file of an archive. */
export interface ZipEntry {
  readonly name: string;
  /** Whether it is deflated; otherwise it is stored uncompressed. */
  readonly isDeflated: boolean;
  /** Checksum of its contents. */
  readonly crc: number;
  /** Its size in the archive. */
  readonly packedBytes: number;
  /** Its own size. */
  readonly byteLength: number;
  readonly offset: number;
}

/** Reads a part of the archive; throws when it is not there. */
export type ReadPart = (offset: number, byteLength: number) => Uint8Array<ArrayBuffer>;

/** The longest name of a file. */
export const MAX_NAME_BYTES = 0xffff;

const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
const LOCATOR_BYTES = 20;
const END_64_BYTES = 56;
const CENTRAL_BYTES = 46;
const LOCAL_BYTES = 30;

/** More than a directory of half a million files. */
const MAX_DIRECTORY_BYTES = 64 << 20;

const SIGNATURES = {
  local: 0x04034b50,
  central: 0x02014b50,
  end: 0x06054b50,
  locator: 0x07064b50,
  end64: 0x06064b50,
} as const;

const METHODS = { stored: 0, deflated: 8 } as const;
const FLAGS = { encrypted: 1, utf8: 1 << 11 } as const;
const ZIP64 = 0xffff_ffff;
const ZIP64_EXTRA = 1;

/**
 * Reads the directory of an archive.
 *
 * @throws NumpyError when it is not an archive, or is encrypted or packed in another way.
 */
export function readZipDirectory(path: string, byteLength: number, read: ReadPart): ZipEntry[] {
  const { offset, size, count } = findDirectory(path, byteLength, read);
  const isInside = offset + size <= byteLength && size <= MAX_DIRECTORY_BYTES;
  if (!isInside) throw new NumpyError(path, "its directory lies outside of it");
  const bytes = read(offset, size);
  const view = viewOf(bytes);
  const entries: ZipEntry[] = [];
  const names = new Set<string>();
  for (let at = 0; entries.length < count;) {
    if (at + CENTRAL_BYTES > size || view.getUint32(at, true) !== SIGNATURES.central) {
      throw new NumpyError(path, "its directory is damaged");
    }
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((place) =>
      view.getUint16(at + place, true)
    ) as [number, number, number];
    const end = at + CENTRAL_BYTES + nameBytes + extraBytes + commentBytes;
    if (end > size) throw new NumpyError(path, "its directory is damaged");
    const entry = readEntry(path, bytes, { at, nameBytes, extraBytes });
    if (names.has(entry.name)) throw new NumpyError(path, `it has "${entry.name}" twice`);
    if (entry.offset + LOCAL_BYTES + entry.packedBytes > offset) {
      throw new NumpyError(path, `"${entry.name}" lies outside of it`);
    }
    names.add(entry.name);
    entries.push(entry);
    at = end;
  }
  return entries;
}

/** Returns the offset of a file's bytes, which its own header tells. */
export function contentOffset(path: string, entry: ZipEntry, read: ReadPart): number {
  const view = viewOf(read(entry.offset, LOCAL_BYTES));
  if (view.getUint32(0, true) !== SIGNATURES.local) {
    throw new NumpyError(path, `the header of "${entry.name}" is damaged`);
  }
  return entry.offset + LOCAL_BYTES + view.getUint16(26, true) + view.getUint16(28, true);
}

/** A file to write, with its bytes as in the archive. */
export interface PackedFile extends Omit<ZipEntry, "offset" | "packedBytes"> {
  readonly packed: Uint8Array<ArrayBuffer>;
}

/**
 * Lays out an archive as a list of pieces.
 *
 * @throws RangeError when it would have 4 GiB, or too many files or names.
 */
export function zipPieces(path: string, files: readonly PackedFile[]): Uint8Array<ArrayBuffer>[] {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  for (const file of files) {
    const name = new TextEncoder().encode(file.name);
    const local = new Uint8Array(LOCAL_BYTES + name.byteLength);
    const central = new Uint8Array(CENTRAL_BYTES + name.byteLength);
    const [here, there] = [viewOf(local), viewOf(central)];
    here.setUint32(0, SIGNATURES.local, true);
    there.setUint32(0, SIGNATURES.central, true);
    there.setUint16(4, 20, true);
    there.setUint32(42, offset, true);
    for (const [view, at] of [[here, 4], [there, 6]] as const) {
      view.setUint16(at, 20, true); // the version that can read it
      view.setUint16(at + 2, FLAGS.utf8, true);
      view.setUint16(at + 4, file.isDeflated ? METHODS.deflated : METHODS.stored, true);
      view.setUint16(at + 8, (1 << 5) | 1, true); // the first day of 1980, as numpy has it
      view.setUint32(at + 10, file.crc, true);
      view.setUint32(at + 14, file.packed.byteLength, true);
      view.setUint32(at + 18, file.byteLength, true);
      view.setUint16(at + 22, name.byteLength, true);
    }
    local.set(name, LOCAL_BYTES);
    central.set(name, CENTRAL_BYTES);
    pieces.push(local, file.packed);
    directory.push(central);
    offset += local.byteLength + file.packed.byteLength;
  }
  const size = directory.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (offset + size >= ZIP64 || files.length >= 0xffff || size > MAX_DIRECTORY_BYTES) {
    throw new RangeError(
      `Cannot save ${path}: an archive has less than 4 GiB, 65535 arrays and 64 MiB of names; save ` +
        "each with saveNpy()",
    );
  }
  const end = new Uint8Array(END_BYTES);
  const view = viewOf(end);
  view.setUint32(0, SIGNATURES.end, true);
  view.setUint16(8, files.length, true);
  view.setUint16(10, files.length, true);
  view.setUint32(12, size, true);
  view.setUint32(16, offset, true);
  return [...pieces, ...directory, end];
}

/** Finds the directory through the record at the archive's end. */
function findDirectory(
  path: string,
  byteLength: number,
  read: ReadPart,
): { offset: number; size: number; count: number } {
  const tailBytes = Math.min(byteLength, END_BYTES + MAX_COMMENT_BYTES);
  const start = byteLength - tailBytes;
  const tail = read(start, tailBytes);
  const view = viewOf(tail);
  for (let at = tailBytes - END_BYTES; at >= 0; at--) {
    if (view.getUint32(at, true) !== SIGNATURES.end) continue;
    if (at + END_BYTES + view.getUint16(at + 20, true) !== tailBytes) continue;
    const [count, size, offset] = [
      view.getUint16(at + 10, true),
      view.getUint32(at + 12, true),
      view.getUint32(at + 16, true),
    ];
    if (count < 0xffff && size < ZIP64 && offset < ZIP64) return { offset, size, count };
    return findDirectory64(path, start + at, read);
  }
  throw new NumpyError(path, "it is no ZIP archive, as .npz files are");
}

function findDirectory64(
  path: string,
  endOffset: number,
  read: ReadPart,
): { offset: number; size: number; count: number } {
  const damaged = new NumpyError(path, "its directory is damaged");
  if (endOffset < LOCATOR_BYTES) throw damaged;
  const locator = viewOf(read(endOffset - LOCATOR_BYTES, LOCATOR_BYTES));
  if (locator.getUint32(0, true) !== SIGNATURES.locator) throw damaged;
  const at = numberOf(locator.getBigUint64(8, true));
  if (at + END_64_BYTES > endOffset) throw damaged;
  const end = viewOf(read(at, END_64_BYTES));
  if (end.getUint32(0, true) !== SIGNATURES.end64) throw damaged;
  const [count, size, offset] = [32, 40, 48].map((place) =>
    numberOf(end.getBigUint64(place, true))
  ) as [number, number, number];
  return { offset, size, count };
}

function readEntry(
  path: string,
  directory: Uint8Array,
  { at, nameBytes, extraBytes }: { at: number; nameBytes: number; extraBytes: number },
): ZipEntry {
  const view = viewOf(directory);
  const nameStart = at + CENTRAL_BYTES;
  const name = new TextDecoder().decode(directory.subarray(nameStart, nameStart + nameBytes));
  const flags = view.getUint16(at + 8, true);
  const method = view.getUint16(at + 10, true);
  if ((flags & FLAGS.encrypted) !== 0) throw new NumpyError(path, `"${name}" is encrypted`);
  if (method !== METHODS.stored && method !== METHODS.deflated) {
    throw new NumpyError(path, `"${name}" is packed in a way that numpy does not use`);
  }
  const sizes = {
    byteLength: view.getUint32(at + 24, true),
    packedBytes: view.getUint32(at + 20, true),
    offset: view.getUint32(at + 42, true),
  };
  const extra = directory.subarray(nameStart + nameBytes, nameStart + nameBytes + extraBytes);
  const whole = withLargeSizes(path, sizes, extra);
  const isDeflated = method === METHODS.deflated;
  if (!isDeflated && whole.byteLength !== whole.packedBytes) {
    throw new NumpyError(path, `"${name}" is stored with two sizes`);
  }
  return { name, isDeflated, crc: view.getUint32(at + 16, true), ...whole };
}

/** Sizes of 4 GiB and more are in a field of their own, in this order, and no others. */
function withLargeSizes(
  path: string,
  sizes: { byteLength: number; packedBytes: number; offset: number },
  extra: Uint8Array,
): { byteLength: number; packedBytes: number; offset: number } {
  const names = (["byteLength", "packedBytes", "offset"] as const)
    .filter((name) => sizes[name] === ZIP64);
  if (names.length === 0) return sizes;
  const view = viewOf(extra);
  for (let at = 0; at + 4 <= extra.byteLength;) {
    const [id, byteLength] = [view.getUint16(at, true), view.getUint16(at + 2, true)];
    at += 4;
    if (
      id === ZIP64_EXTRA && byteLength >= names.length * 8 && at + byteLength <= extra.byteLength
    ) {
      const large = { ...sizes };
      for (const [index, name] of names.entries()) {
        large[name] = numberOf(view.getBigUint64(at + index * 8, true));
      }
      return large;
    }
    at += byteLength;
  }
  throw new NumpyError(path, "its directory is damaged");
}

/** Sizes beyond 2^53 - 1 lie outside of every file. */
function numberOf(value: bigint): number {
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
