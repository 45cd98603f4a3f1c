// Giving things back: each release of a list is tried, and what fails is reported and never thrown, so
// that it costs what it names and hides no error that is on its way.

import type { Driver } from "./driver.ts";
import { messageOf } from "./format.ts";

/** Gives one thing back, and throws when that fails. */
export type Release = () => void;

/** Drivers of which it was said that nothing can be given back any more. */
const told = new WeakSet<Driver>();

/** Runs releases one after another, whatever becomes of each; tells whether all succeeded. */
export function releaseAll(driver: Driver, what: string, releases: Iterable<Release>): boolean {
  let isDone = true;
  for (const release of releases) isDone = tryRelease(driver, what, release) && isDone;
  return isDone;
}

/** Runs a release; reports a failure, and tells whether it succeeded. */
export function tryRelease(driver: Driver, what: string, release: Release): boolean {
  try {
    release();
    return true;
  } catch (error) {
    reportLost(driver, what, error);
    return false;
  }
}

/**
 * Says on the console that something could not be given back. After an error that broke the context
 * nothing can, which is said once.
 */
export function reportLost(driver: Driver, what: string, error: unknown): void {
  if (told.has(driver)) return;
  const isBroken = driver.firstSticky !== undefined;
  if (isBroken) told.add(driver);
  const rest = isBroken ? "; nor can what is disposed from here on" : "";
  console.warn(`vramkit: ${what} could not be given back: ${messageOf(error)}${rest}`);
}
