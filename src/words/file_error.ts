// Files that do not keep to their format: the base class of errors about them, and the kinds that people
// pass by mistake.

import { visibleText } from "./format.ts";
import { requireKind, TEXT } from "./options.ts";

/** @internal A file breaks its format; `path` names it, and the message has the reason. */
export abstract class FileError extends Error {
  readonly path: string;

  /** Creates an error for a file. */
  constructor(path: string, reason: string, options?: ErrorOptions) {
    requireKind(path, TEXT, `new ${new.target.name}`);
    requireKind(reason, TEXT, `new ${new.target.name}`);
    super(visibleText(`Cannot load ${path}: ${reason}`), options);
    this.path = path;
  }
}

/** The first bytes of each kind, as letters. */
const BEGINNINGS: readonly (readonly [begins: RegExp, sort: string])[] = [
  [/^PK/, "a ZIP archive, as .npz and .pt files are"],
  [/^\x93NUMPY/, "a .npy file of numpy's"],
  [/^.{8}\{"/s, "safetensors"],
  [/^GGUF/, "GGUF"],
  [/^\x80/, "a pickle of Python's"],
  [/^\x89HDF/, "HDF5"],
  [/^version /, "a pointer of Git LFS, which `git lfs pull` replaces"],
  [/^\s*<(!doct|html)/i, "a web page"],
  [/^\{\s*"/, "JSON"],
];

/** Returns the kind of a file by its first bytes; undefined when they do not tell. */
export function otherSort(start: Uint8Array): string | undefined {
  const letters = String.fromCharCode(...start.subarray(0, 16));
  return BEGINNINGS.find(([begins]) => begins.test(letters))?.[1];
}
