// The image of a module: PTX text, a cubin or a fat binary, checked before the driver sees it. The
// driver trusts the sizes in a binary, so one that was cut off would end the process.

import { type KernelEntries, readEntries } from "../../ffi/ptx.ts";

/** An image that the driver can load. */
export interface ModuleImage {
  /** Its bytes; text ends with a zero byte. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Its kernels; undefined for code that does not tell them. */
  readonly entries: KernelEntries | undefined;
}

/** The first four bytes of an ELF file, as a cubin is. */
export const ELF_MAGIC = 0x464c457f;

/** The first four bytes of a fat binary. */
export const FATBIN_MAGIC = 0xba55ed50;

/** Bytes of the header of a 64-bit ELF file, and of one of its sections. */
const ELF_HEADER_BYTES = 64;
const SECTION_BYTES = 64;

/** A section without bytes in the file. */
const SHT_NOBITS = 8;

/** Returns whether a text is PTX: its first word after comments is the version. */
export function isPtx(text: string): boolean {
  return /^(\s|\/\/.*|\/\*[^]*?\*\/)*\.version\b/.test(text);
}

/** Returns whether a text is CUDA C++ that has a kernel. */
export function isCudaSource(text: string): boolean {
  return /\b__global__\b/.test(text);
}

/**
 * Checks an image.
 *
 * @throws TypeError for bytes that are not an image, or were cut off.
 */
export function readImage(image: string | Uint8Array): ModuleImage {
  if (typeof image === "string") return readPtx(image);
  const { byteLength } = image;
  const magic = byteLength < 4 ? 0 : viewOf(image).getUint32(0, true);
  if (magic === ELF_MAGIC) requireWholeElf(image);
  else if (magic === FATBIN_MAGIC) requireWholeFatbin(image);
  else {
    const text = new TextDecoder().decode(image);
    if (isPtx(text)) return readPtx(text.replace(/\0.*$/s, ""));
    throw new TypeError(
      `Cannot load ${byteLength} bytes as a module: they are no PTX, cubin or fat binary` +
        (isCudaSource(text) ? "; pass CUDA C++ to gpu.compile()" : ""),
    );
  }
  return { bytes: Uint8Array.from(image), entries: undefined };
}

function readPtx(text: string): ModuleImage {
  if (!isPtx(text)) {
    throw new TypeError(
      "Cannot load a text as a module: it is no PTX, which begins with .version; pass CUDA C++ to " +
        "gpu.compile()",
    );
  }
  const nul = text.indexOf("\0");
  const whole = nul < 0 ? text : text.slice(0, nul);
  return { bytes: new TextEncoder().encode(`${whole}\0`), entries: readEntries(whole) };
}

function requireWholeElf(image: Uint8Array): void {
  const { byteLength } = image;
  if (byteLength < ELF_HEADER_BYTES) throw cutOff("cubin", byteLength);
  const view = viewOf(image);
  const start = Number(view.getBigUint64(40, true));
  const size = view.getUint16(58, true);
  const count = view.getUint16(60, true);
  if (start + count * size > byteLength || (count > 0 && size < SECTION_BYTES)) {
    throw cutOff("cubin", byteLength);
  }
  for (let index = 0; index < count; index++) {
    const at = start + index * size;
    if (view.getUint32(at + 4, true) === SHT_NOBITS) continue;
    const end = view.getBigUint64(at + 24, true) + view.getBigUint64(at + 32, true);
    if (end > BigInt(byteLength)) throw cutOff("cubin", byteLength);
  }
}

/** A fat binary begins with its magic number, a version, its header's size and the size of the rest. */
function requireWholeFatbin(image: Uint8Array): void {
  const { byteLength } = image;
  if (byteLength < 16) throw cutOff("fat binary", byteLength);
  const view = viewOf(image);
  const end = BigInt(view.getUint16(6, true)) + view.getBigUint64(8, true);
  if (end > BigInt(byteLength)) throw cutOff("fat binary", byteLength);
}

function cutOff(kind: string, byteLength: number): TypeError {
  return new TypeError(`Cannot load a ${kind} of ${byteLength} bytes: it was cut off`);
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
