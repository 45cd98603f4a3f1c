// Reads the directory of a ZIP archive, and believes nothing of it: the numbers of files and bytes agree
// with what is there, and files lie apart, each inside the archive and under its own name.

import type { Pauses } from "../order/waiting.ts";
import { NumpyError } from "./npy_header.ts";
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

/** A file of an archive that was found. */
export interface ZipEntry extends ZipFile {
  /** Offset of its bytes. */
  readonly contentOffset: number;
}

/** An archive to read. */
interface ZipSource {
  /** Path of the file, for errors. */
  readonly path: string;
  readonly byteLength: number;
  /** Reads a part of it; throws when it is not there. */
  readonly read: (offset: number, byteLength: number) => Uint8Array<ArrayBuffer>;
  /** The turns of the event loop during a long directory. */
  readonly pauses: Pauses;
}

interface DirectoryPlace {
  readonly offset: number;
  readonly size: number;
  /** Number of files, as the record at the end tells it. */
  readonly count: number;
}

interface CentralEntry extends ZipFile {
  readonly method: number;
  readonly flags: number;
  /** The name as it is written. */
  readonly nameBytes: Uint8Array;
}

const MAX_COMMENT_BYTES = 0xffff;

/** The newest version of the format, times ten. */
const MAX_VERSION = 63;

/** Number of files between two looks at the clock. */
const FILES_BETWEEN_PAUSES = 64;

/** Ways to pack that archives know and numpy does not use, in the words of messages. */
const OTHER_METHODS: Readonly<Record<number, string>> = {
  9: "Deflate64",
  12: "bzip2",
  14: "LZMA",
  93: "Zstandard",
  95: "XZ",
};

/**
 * Reads the directory of an archive, in its order.
 *
 * @throws NumpyError when it is not an archive, contradicts itself, or is encrypted or packed in
 *   another way.
 */
export async function readZipDirectory(source: ZipSource): Promise<ZipEntry[]> {
  const { path, read, pauses } = source;
  const place = findDirectory(source);
  const { offset, size, count } = place;
  if (size > MAX_DIRECTORY_BYTES) {
    throw new NumpyError(path, `its directory of ${size} bytes is too long`);
  }
  const bytes = read(offset, size);
  const found: CentralEntry[] = [];
  const names = new Set<string>();
  for (let at = 0; at < size;) {
    const { entry, end } = readEntry(path, bytes, at);
    if (names.has(entry.name)) throw new NumpyError(path, `it has "${entry.name}" twice`);
    names.add(entry.name);
    found.push(entry);
    at = end;
    if (found.length % FILES_BETWEEN_PAUSES === 0) await pauses.whenDue();
  }
  if (found.length !== count) {
    const words = `its end announces ${count} files, its directory has ${found.length}`;
    throw new NumpyError(path, `it is damaged: ${words}`);
  }
  const ends = endsOf(found, place);
  const entries: ZipEntry[] = [];
  for (const entry of found) {
    const end = ends.get(entry) ?? 0;
    const { method: _method, flags: _flags, nameBytes: _name, ...rest } = entry;
    entries.push({ ...rest, contentOffset: contentOffset(source, entry, end) });
    if (entries.length % FILES_BETWEEN_PAUSES === 0) await pauses.whenDue();
  }
  return entries;
}

/** Returns where each file has to end: before the next one, or before the directory. */
function endsOf(
  entries: readonly CentralEntry[],
  directory: DirectoryPlace,
): Map<CentralEntry, number> {
  const ordered = entries.toSorted((a, b) => a.offset - b.offset);
  return new Map(ordered.map((entry, i) => [entry, ordered[i + 1]?.offset ?? directory.offset]));
}

/**
 * Returns the offset of a file's bytes, which the header before them tells.
 *
 * @throws NumpyError when that header contradicts the directory, or the bytes reach beyond `end`.
 */
function contentOffset({ path, read }: ZipSource, entry: CentralEntry, end: number): number {
  const { name, nameBytes, offset, packedBytes } = entry;
  const damaged = new NumpyError(path, `the header of "${name}" is damaged`);
  const overlapping = new NumpyError(path, `"${name}" overlaps with what follows it`);
  const headerBytes = RECORD_BYTES.local + nameBytes.byteLength;
  if (offset + headerBytes + packedBytes > end) throw overlapping;
  const header = read(offset, headerBytes);
  const view = viewOf(header);
  const flags = view.getUint16(6, true);
  const isSame = view.getUint32(0, true) === SIGNATURES.local &&
    ((flags ^ entry.flags) & (FLAGS.encrypted | FLAGS.utf8)) === 0 &&
    view.getUint16(8, true) === entry.method &&
    view.getUint16(26, true) === nameBytes.byteLength &&
    header.subarray(RECORD_BYTES.local).every((byte, i) => byte === nameBytes[i]);
  if (!isSame) throw damaged;
  const [packed, whole] = [view.getUint32(18, true), view.getUint32(22, true)];
  const isElsewhere = (flags & FLAGS.descriptor) !== 0 || packed === IN_64_BITS ||
    whole === IN_64_BITS;
  if (!isElsewhere && (packed !== packedBytes || whole !== entry.byteLength)) throw damaged;
  const start = offset + headerBytes + view.getUint16(28, true);
  if (start + packedBytes > end) throw overlapping;
  return start;
}

/** Finds the directory through the record at the archive's end. */
function findDirectory(source: ZipSource): DirectoryPlace {
  const { path, byteLength, read } = source;
  const tailBytes = Math.min(byteLength, RECORD_BYTES.end + MAX_COMMENT_BYTES);
  const start = byteLength - tailBytes;
  const view = viewOf(read(start, tailBytes));
  for (let at = tailBytes - RECORD_BYTES.end; at >= 0; at--) {
    if (view.getUint32(at, true) !== SIGNATURES.end) continue;
    if (at + RECORD_BYTES.end + view.getUint16(at + 20, true) !== tailBytes) continue;
    const [disk, itsDisk, here, count] = [4, 6, 8, 10].map((place) =>
      view.getUint16(at + place, true)
    ) as [number, number, number, number];
    const [size, offset] = [view.getUint32(at + 12, true), view.getUint32(at + 16, true)];
    const place = { count, size, offset };
    const large = findDirectory64(source, start + at, place);
    if (large !== undefined) return large;
    if (disk !== 0 || itsDisk !== 0 || here !== count) throw spanning(path);
    return requireBefore(path, place, start + at);
  }
  throw new NumpyError(path, "it is no ZIP archive, as .npz files are");
}

/** Finds the directory through the records of 64 bits, which follow it where there are any. */
function findDirectory64(
  { path, read }: ZipSource,
  endOffset: number,
  small: DirectoryPlace,
): DirectoryPlace | undefined {
  const { locator: locatorBytes, end64: end64Bytes } = RECORD_BYTES;
  const isNeeded = small.count === IN_64_BITS_SHORT || small.size === IN_64_BITS ||
    small.offset === IN_64_BITS;
  const locatorOffset = endOffset - locatorBytes;
  const locator = locatorOffset < 0 ? undefined : viewOf(read(locatorOffset, locatorBytes));
  if (locator?.getUint32(0, true) !== SIGNATURES.locator) {
    // A number that happens to be the largest one is then the number itself.
    if (isNeeded && small.size + small.offset !== endOffset) throw damagedEnd(path);
    return undefined;
  }
  const at = numberOf(locator.getBigUint64(8, true));
  if (at + end64Bytes > locatorOffset) throw damagedEnd(path);
  const end = viewOf(read(at, end64Bytes));
  if (end.getUint32(0, true) !== SIGNATURES.end64) throw damagedEnd(path);
  if (at + 12 + numberOf(end.getBigUint64(4, true)) !== locatorOffset) throw damagedEnd(path);
  if (locator.getUint32(4, true) !== 0 || locator.getUint32(16, true) > 1) throw spanning(path);
  const [here, count, size, offset] = [24, 32, 40, 48].map((place) =>
    numberOf(end.getBigUint64(place, true))
  ) as [number, number, number, number];
  if (here !== count) throw spanning(path);
  const agrees = (less: number, max: number, full: number) => less === max || less === full;
  const isSame = agrees(small.count, IN_64_BITS_SHORT, count) &&
    agrees(small.size, IN_64_BITS, size) && agrees(small.offset, IN_64_BITS, offset);
  if (!isSame) throw damagedEnd(path);
  return requireBefore(path, { offset, size, count }, at);
}

/** Checks that a directory ends where the records that tell its place begin. */
function requireBefore(path: string, place: DirectoryPlace, end: number): DirectoryPlace {
  if (place.offset + place.size === end) return place;
  throw damagedEnd(path);
}

function damagedEnd(path: string): NumpyError {
  return new NumpyError(path, "its directory is not where its end says");
}

function spanning(path: string): NumpyError {
  return new NumpyError(path, "it is one of several parts of an archive");
}

/** Reads the entry of the directory at an offset, and returns where it ends. */
function readEntry(
  path: string,
  directory: Uint8Array,
  at: number,
): { readonly entry: CentralEntry; readonly end: number } {
  const damaged = new NumpyError(path, "its directory is damaged");
  const view = viewOf(directory);
  const nameStart = at + RECORD_BYTES.central;
  if (nameStart > directory.byteLength) throw damaged;
  if (view.getUint32(at, true) !== SIGNATURES.central) throw damaged;
  const [nameLength, extraLength, commentLength, disk] = [28, 30, 32, 34].map((place) =>
    view.getUint16(at + place, true)
  ) as [number, number, number, number];
  const extraStart = nameStart + nameLength;
  const end = extraStart + extraLength + commentLength;
  if (end > directory.byteLength) throw damaged;
  if (disk !== 0) throw spanning(path);
  const flags = view.getUint16(at + 8, true);
  const nameBytes = directory.subarray(nameStart, extraStart);
  const name = nameOf(path, nameBytes, flags);
  const method = view.getUint16(at + 10, true);
  const version = view.getUint16(at + 6, true);
  checkPacking(path, name, { flags, method, version });
  const sizes = {
    byteLength: view.getUint32(at + 24, true),
    packedBytes: view.getUint32(at + 20, true),
    offset: view.getUint32(at + 42, true),
  };
  const extra = directory.subarray(extraStart, extraStart + extraLength);
  const whole = withLargeSizes(path, sizes, extra);
  const isDeflated = method === METHODS.deflated;
  if (!isDeflated && whole.byteLength !== whole.packedBytes) {
    throw new NumpyError(path, `"${name}" is stored with two sizes`);
  }
  const crc = view.getUint32(at + 16, true);
  return { entry: { name, nameBytes, flags, method, isDeflated, crc, ...whole }, end };
}

function nameOf(path: string, bytes: Uint8Array, flags: number): string {
  if (bytes.includes(0)) throw new NumpyError(path, "a name in its directory has a zero byte");
  if ((flags & FLAGS.utf8) === 0) return decodeCodePage(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new NumpyError(path, "a name in its directory is no UTF-8, as it says", { cause });
  }
}

function checkPacking(
  path: string,
  name: string,
  { flags, method, version }: {
    readonly flags: number;
    readonly method: number;
    readonly version: number;
  },
): void {
  if (version > MAX_VERSION) {
    throw new NumpyError(path, `"${name}" needs version ${version / 10} of the format`);
  }
  if ((flags & (FLAGS.encrypted | FLAGS.stronglyEncrypted)) !== 0) {
    throw new NumpyError(path, `"${name}" is encrypted`);
  }
  if ((flags & FLAGS.patched) !== 0) throw new NumpyError(path, `"${name}" is a patch`);
  if (method === METHODS.stored || method === METHODS.deflated) return;
  const way = OTHER_METHODS[method] ?? `method ${method}`;
  throw new NumpyError(
    path,
    `"${name}" is packed with ${way}, in a way that numpy does not use: expected stored or deflated`,
  );
}

/** Sizes of 4 GiB and more are in a field of their own, in this order, and no others. */
function withLargeSizes(
  path: string,
  sizes: { byteLength: number; packedBytes: number; offset: number },
  extra: Uint8Array,
): { byteLength: number; packedBytes: number; offset: number } {
  const names = (["byteLength", "packedBytes", "offset"] as const)
    .filter((name) => sizes[name] === IN_64_BITS);
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

/** The upper half of code page 437, in which archives have names that are not marked as UTF-8. */
const UPPER =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀" +
  "αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

/** Returns the text of bytes in code page 437. */
function decodeCodePage(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte < 128 ? String.fromCharCode(byte) : UPPER[byte - 128])
    .join("");
}
