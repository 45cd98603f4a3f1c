// The base class of errors about files that do not keep to their format.

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
