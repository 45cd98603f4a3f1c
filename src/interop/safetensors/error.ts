// The error for a wrong safetensors file, with the file and the reason.

import { visibleText } from "../../words/format.ts";
import { requireKind, TEXT } from "../../words/options.ts";

/**
 * A safetensors file, or an index of several files, breaks the format. `path` names the file, and
 * the message the reason.
 */
export class SafetensorsError extends Error {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "SafetensorsError";
  /** The file. */
  readonly path: string;

  /** Creates an error for a file. */
  constructor(path: string, reason: string, options?: ErrorOptions) {
    requireKind(path, TEXT, "new SafetensorsError");
    requireKind(reason, TEXT, "new SafetensorsError");
    super(visibleText(`Cannot load ${path}: ${reason}`), options);
    this.path = path;
  }
}
