// Safetensors files for tests: the fixtures of the format's own library, and files made by hand.

import { PROJECT_ROOT } from "../project_files.ts";

const FOLDER = new URL("tests/support/safetensors/", PROJECT_ROOT);

/** One tensor of each common type, written by the format's own library. */
export const TYPES_FIXTURE: URL = new URL("types.safetensors", FOLDER);

/** Types that no typed array holds, written by the format's own library. */
export const WIDE_FIXTURE: URL = new URL("wide.safetensors", FOLDER);

/** Puts a file together, right or wrong; the header is bytes, a text, or a value to write as JSON. */
export function fileOf({ header, data = new Uint8Array(), length }: {
  readonly header: unknown;
  readonly data?: Uint8Array;
  /** The length to claim; the header's own by default. */
  readonly length?: bigint;
}): Uint8Array {
  const bytes = header instanceof Uint8Array
    ? header
    : new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  const file = new Uint8Array(8 + bytes.byteLength + data.byteLength);
  new DataView(file.buffer).setBigUint64(0, length ?? BigInt(bytes.byteLength), true);
  file.set(bytes, 8);
  file.set(data, 8 + bytes.byteLength);
  return file;
}
