// The driver's checks of a module's image before it compiles: it knows compiled code by its first
// bytes and PTX by its first word, followed by its version and target.

import { cString } from "../../c_strings.ts";
import type { CUresult } from "../../constants.ts";
import type { Machine } from "../model/machine.ts";
import { bytesOf, type Cell, getText } from "./cells.ts";

/** Status with which the driver refuses an image. */
export type ImageFault = keyof typeof CUresult;

/** First word and further bytes of compiled code: an ELF file for CUDA, a fat binary. */
const COMPILED = [
  { magic: 0x464c457f, at: 18, bytes: [190, 0] },
  { magic: 0xba55ed50, at: 4, bytes: [1, 0, 16, 0] },
] as const;

/** Bytes of the header of a cubin. */
const HEADER_BYTES = 64;

/** Finds the status for an image that is neither compiled code nor PTX this driver can compile. */
export function imageFault(machine: Machine, image: Cell): ImageFault | undefined {
  const bytes = bytesOf(image);
  const compiled = compiledForm(bytes);
  if (compiled === undefined) return ptxFault(machine, bytes);
  const isWhole = compiled.bytes.every((byte, index) => bytes[compiled.at + index] === byte);
  return isWhole ? undefined : "CUDA_ERROR_INVALID_IMAGE";
}

/** Returns the PTX of an image, and that of the pieces of a linked one; other compiled code has none. */
export function ptxOf(image: Cell): string {
  const bytes = bytesOf(image);
  return getText(compiledForm(bytes) === undefined ? bytes : bytes.subarray(HEADER_BYTES));
}

function compiledForm({ buffer, byteOffset, byteLength }: Uint8Array) {
  const magic = byteLength < 4 ? 0 : new DataView(buffer, byteOffset).getUint32(0, true);
  return COMPILED.find((form) => form.magic === magic);
}

function ptxFault(machine: Machine, bytes: Uint8Array): ImageFault | undefined {
  const text = getText(bytes);
  if (!/^\s*(\/\/|\.version\b)/.test(text)) return "CUDA_ERROR_INVALID_IMAGE";
  if (!bytes.includes(0)) {
    machine.site.fail(
      "unterminated",
      `the ${bytes.byteLength} bytes of PTX text do not end with a zero byte`,
    );
  }
  const version = /^\s*\.version\s+(\d+)\.\d+/m.exec(text)?.[1];
  if (version === undefined) return "CUDA_ERROR_INVALID_IMAGE";
  // PTX 9 came with CUDA 13, PTX 8 with CUDA 12, and so on.
  const newest = Math.floor(machine.settings.driverVersion / 1000) - 4;
  if (Number(version) > newest) return "CUDA_ERROR_UNSUPPORTED_PTX_VERSION";
  return /^\s*\.target\s+\w/m.test(text) ? undefined : "CUDA_ERROR_INVALID_PTX";
}

/** CUjitInputType of PTX, and of object files, which hold code for GPUs in the host's own format. */
const PTX_INPUT = 1;
const OBJECT_INPUT = 3;

/** Finds the status for a piece that is not of the type which the caller names. */
export function inputFault(
  machine: Machine,
  type: number,
  bytes: Uint8Array,
): ImageFault | undefined {
  const isElf = new TextDecoder("latin1").decode(bytes.subarray(1, 4)) === "ELF";
  if (type === OBJECT_INPUT) return isElf ? undefined : "CUDA_ERROR_INVALID_IMAGE";
  const isText = (bytes[0] ?? 0) === 0x2e || (bytes[0] ?? 0) === 0x2f || (bytes[0] ?? 0) <= 0x20;
  if (isText !== (type === PTX_INPUT)) return "CUDA_ERROR_INVALID_IMAGE";
  return imageFault(machine, Uint8Array.from(bytes));
}

/** Returns an empty cubin with the PTX of its pieces: its kernels are those that the machine knows. */
export function linkedImage(ptx: string): Uint8Array<ArrayBuffer> {
  const text = cString(ptx);
  const bytes = new Uint8Array(HEADER_BYTES + text.byteLength);
  bytes.set(text, HEADER_BYTES);
  const [form] = COMPILED;
  new DataView(bytes.buffer).setUint32(0, form.magic, true);
  bytes.set(form.bytes, form.at);
  return bytes;
}
