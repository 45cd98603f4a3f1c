// The driver's checks of a module's image before it compiles: it knows compiled code by its first
// bytes and PTX by its first word, followed by its version and target.

import { bytesOf, type Cell } from "./cells.ts";
import { refuse } from "../errors.ts";
import type { Machine } from "../model/machine.ts";

/** First word and further bytes of compiled code: an ELF file for CUDA, a fat binary. */
const COMPILED = [
  { magic: 0x464c457f, at: 18, bytes: [190, 0] },
  { magic: 0xba55ed50, at: 4, bytes: [1, 0, 16, 0] },
] as const;

/** Rejects an image that is neither compiled code nor PTX that this driver can compile. */
export function requireImage(machine: Machine, image: Cell): void {
  const bytes = bytesOf(image);
  const { buffer, byteOffset, byteLength } = bytes;
  const magic = byteLength < 4 ? 0 : new DataView(buffer, byteOffset).getUint32(0, true);
  const compiled = COMPILED.find((form) => form.magic === magic);
  if (compiled === undefined) return requirePtx(machine, bytes);
  const isWhole = compiled.bytes.every((byte, index) => bytes[compiled.at + index] === byte);
  if (!isWhole) refuse("CUDA_ERROR_INVALID_IMAGE");
}

function requirePtx(machine: Machine, bytes: Uint8Array): void {
  const end = bytes.indexOf(0);
  const text = new TextDecoder().decode(bytes.slice(0, end < 0 ? bytes.byteLength : end));
  if (!/^\s*(\/\/|\.version\b)/.test(text)) refuse("CUDA_ERROR_INVALID_IMAGE");
  if (end < 0) {
    machine.site.fail(
      "unterminated",
      `the ${bytes.byteLength} bytes of PTX text do not end with a zero byte`,
    );
  }
  const version = /^\s*\.version\s+(\d+)\.\d+/m.exec(text)?.[1];
  if (version === undefined) return refuse("CUDA_ERROR_INVALID_IMAGE");
  // PTX 9 came with CUDA 13, PTX 8 with CUDA 12, and so on.
  const newest = Math.floor(machine.settings.driverVersion / 1000) - 4;
  if (Number(version) > newest) refuse("CUDA_ERROR_UNSUPPORTED_PTX_VERSION");
  if (!/^\s*\.target\s+\w/m.test(text)) refuse("CUDA_ERROR_INVALID_PTX");
}
