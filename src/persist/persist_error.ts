// The error of persisted memory and of memory that sleeps, with the reason as a field.

import { requireKind, TEXT } from "../words/options.ts";

/** The reason why memory cannot be persisted, opened, forgotten, or put to sleep. */
export type PersistProblem =
  | "no-keeper"
  | "version"
  | "unsupported"
  | "origin"
  | "kind"
  | "elsewhere"
  | "descriptors"
  | "openers"
  | "open"
  | "asleep"
  | "ending"
  | "gone";

/** Memory cannot be persisted, opened, or put to sleep; `reason` says why, and nothing was changed. */
export class PersistError extends Error {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "PersistError";
  /** The reason. */
  readonly reason: PersistProblem;

  /** Creates an error from a reason and a message. */
  constructor(reason: PersistProblem, message: string, options?: ErrorOptions) {
    requireKind(reason, TEXT, "new PersistError");
    requireKind(message, TEXT, "new PersistError");
    super(message, options);
    this.reason = reason;
  }
}
