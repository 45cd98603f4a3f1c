// The errors of `parseArgs()` in the words of all other messages, with the option that was meant.

import { messageOf } from "./format.ts";
import { nearestOf } from "./options.ts";

/**
 * Says what is wrong with an option.
 *
 * @param error The error that Node's `parseArgs()` threw.
 * @param names The options that there are, without dashes.
 */
export function describeParseError(error: unknown, names: readonly string[]): string {
  const message = messageOf(error);
  const option = /'(?:-\w, )?(--?[^ ']+)/.exec(message)?.[1];
  if (option === undefined) return message;
  if (message.startsWith("Unknown option")) {
    return `Cannot use ${option}: there is no such option${hintAt(option, names, "--")}`;
  }
  const needs = message.includes("does not take an argument") ? "takes no value" : "needs a value";
  return `Cannot use ${option}: it ${needs}`;
}

/** Returns the question whether another word was meant; empty when none is near. */
export function hintAt(given: string, names: readonly string[], before = ""): string {
  const nearest = nearestOf(names, given.replace(/^-+/, ""));
  return nearest === undefined ? "" : ` (did you mean ${before}${nearest}?)`;
}
