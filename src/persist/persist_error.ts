// The error of persisted memory and of memory that sleeps, with the reason as a field.

import { visibleText } from "../words/format.ts";
import { requireKind, TEXT } from "../words/options.ts";
import type { KeeperAnswer } from "./keeper_words.ts";

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

/** Returns the error for a refusal of the keeper. */
export function refusalOf(
  name: string,
  { refused, state, facts, pids = [], limit, used }: KeeperAnswer,
): PersistError {
  const shown = visibleText(name);
  if (state === "asleep") {
    const asleep = facts?.asleep;
    return new PersistError(
      "asleep",
      `Cannot open "${shown}": it is asleep in process ${asleep?.pid}, in ${asleep?.where}; wake it there`,
    );
  }
  if (refused === "descriptors") {
    return new PersistError(
      "descriptors",
      `Cannot persist "${shown}": the keeper may have ${limit} files open and has ${used}; forget other ` +
        "names, or raise the limit (ulimit -Hn) before the keeper starts",
    );
  }
  if (refused === "openers") {
    return new PersistError(
      "openers",
      `Cannot open "${shown}": ${pids.length} programs have it open, which is the most`,
    );
  }
  return new PersistError(
    "gone",
    `Cannot persist "${shown}": the keeper did not understand (${refused})`,
  );
}
