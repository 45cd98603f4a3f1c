// What is wrong with a safetensors file: the file and the reason, in one class.

import { visibleText } from "../../format.ts";

/** A safetensors file, or an index of several, does not keep the format. */
export class SafetensorsError extends Error {
  /** Tells the class from others. */
  override readonly name = "SafetensorsError";
  /** The file. */
  readonly path: string;

  /** Describes what is wrong with a file. */
  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(visibleText(`Cannot load ${path}: ${reason}`), options);
    this.path = path;
  }
}
