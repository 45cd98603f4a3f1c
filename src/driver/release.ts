// Releases: each one of a list is tried, and a failure is reported and never thrown, so that it
// affects nothing else and hides no error that is being thrown.

import { messageOf } from "../words/format.ts";
import { warn } from "../words/warning.ts";
import type { Driver } from "./driver.ts";

/** Releases one thing; throws on failure. */
export type Release = () => void;

/** Drivers for which it was reported that nothing can be released any more. */
const told = new WeakSet<Driver>();

/** Runs releases one after another, also after a failure; returns whether all succeeded. */
export function releaseAll(driver: Driver, what: string, releases: Iterable<Release>): boolean {
  let isDone = true;
  for (const release of releases) isDone = tryRelease(driver, what, release) && isDone;
  return isDone;
}

/** Runs a release and reports a failure; returns whether it succeeded. */
export function tryRelease(driver: Driver, what: string, release: Release): boolean {
  try {
    release();
    return true;
  } catch (error) {
    reportLost(driver, what, error);
    return false;
  }
}

/** Calls a function whose failure is told elsewhere; returns whether it succeeded. */
export function succeeds(body: () => void): boolean {
  try {
    body();
    return true;
  } catch {
    return false;
  }
}

/** Reports what could not be released; once, after an error that broke the context. */
export function reportLost(driver: Driver, what: string, error: unknown): void {
  if (told.has(driver)) return;
  const isBroken = driver.firstSticky !== undefined;
  if (isBroken) told.add(driver);
  const rest = isBroken ? "; nor can what is disposed from here on" : "";
  warn(`${what} could not be given back: ${messageOf(error)}${rest}`, {
    owner: driver,
    about: what,
  });
}
