// The error for a wrong GGUF file, with the file and the reason.

import { visibleText } from "../../words/format.ts";
import { requireKind, TEXT } from "../../words/options.ts";

/** A GGUF file breaks the format, or is of a kind that is not read. `path` names it. */
export class GgufError extends Error {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "GgufError";
  /** The file. */
  readonly path: string;

  /** Creates an error for a file. */
  constructor(path: string, reason: string, options?: ErrorOptions) {
    requireKind(path, TEXT, "new GgufError");
    requireKind(reason, TEXT, "new GgufError");
    super(visibleText(`Cannot load ${path}: ${reason}`), options);
    this.path = path;
  }
}
