// Safetensors files for tests: the fixtures of the format's own library, and files made by hand.

import { PROJECT_ROOT } from "../project_files.ts";

const FOLDER = new URL("tests/support/safetensors/", PROJECT_ROOT);

/** One tensor of each common type, written by the format's own library. */
export const TYPES_FIXTURE: URL = new URL("types.safetensors", FOLDER);

/** Types that no typed array holds, written by the format's own library. */
export const WIDE_FIXTURE: URL = new URL("wide.safetensors", FOLDER);

/** A header and the bytes behind it, right or wrong. */
export interface FileParts {
  /** The header: a value to be written as JSON, or its text, or its bytes. */
  readonly header: unknown;
  /** The data; nothing by default. */
  readonly data?: Uint8Array;
  /** The length to claim; the header's own by default. */
  readonly length?: bigint;
}

/** Puts a file together. */
export function fileOf({ header, data = new Uint8Array(), length }: FileParts): Uint8Array {
  const bytes = header instanceof Uint8Array
    ? header
    : new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  const file = new Uint8Array(8 + bytes.byteLength + data.byteLength);
  new DataView(file.buffer).setBigUint64(0, length ?? BigInt(bytes.byteLength), true);
  file.set(bytes, 8);
  file.set(data, 8 + bytes.byteLength);
  return file;
}
