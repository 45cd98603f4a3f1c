// The error of persisted memory and of memory that sleeps, with the reason as a field.

import { ReasonError } from "../words/errors.ts";
import { visibleText } from "../words/format.ts";
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
export class PersistError extends ReasonError<PersistProblem> {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "PersistError";
}

/** Returns the error for a refusal of the keeper. */
export function refusalOf(
  name: string,
  { refused, state, facts, pids = [], limit, used }: KeeperAnswer,
): PersistError {
  const shown = `"${visibleText(name)}"`;
  if (state === "asleep") {
    const { pid, where } = facts?.asleep ?? {};
    const words = `it is asleep in process ${pid}, in ${where}; wake it there`;
    return new PersistError("asleep", `Cannot open ${shown}: ${words}`);
  }
  if (refused === "descriptors") {
    const words =
      `the keeper may have ${limit} files open and has ${used}; forget other names, or ` +
      "raise the limit (ulimit -Hn) before the keeper starts";
    return new PersistError(refused, `Cannot persist ${shown}: ${words}`);
  }
  if (refused === "openers") {
    const words = `${pids.length} programs have it open, which is the most`;
    return new PersistError(refused, `Cannot open ${shown}: ${words}`);
  }
  const words = `the keeper did not understand (${refused})`;
  return new PersistError("gone", `Cannot persist ${shown}: ${words}`);
}
