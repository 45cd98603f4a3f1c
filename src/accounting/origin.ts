// Finds where an object was created: the first line of the caller's own code on the stack. A stack
// costs 5 to 30 microseconds, a program's first one 600, so outside notebooks only large blocks get
// one, at a bounded rate.

import { readVariable } from "../../ffi/library.ts";
import { inNotebook } from "./notebook_kernel.ts";

/**
 * Start of the kit's own scripts: its folder, the files of a release, whose names begin alike, or the
 * one file into which a program was bundled with it.
 */
export const OWN_FILES: string = ownFiles(import.meta.url);

/** True in a release, whose files are bundled. */
const IS_RELEASE = OWN_FILES.endsWith("/vramkit");

function ownFiles(url: string): string {
  if (url.endsWith("/accounting/origin.ts")) return new URL("../", url).href;
  return url.replace(/\/vramkit(_\w+)?\.js$/, "/vramkit");
}

/**
 * Size from which blocks know where they were created, unless there are too many of them: to fill one
 * takes ten times as long as a stack.
 */
const MIN_BYTES = 16 * 2 ** 20;

/** Stacks for a burst of allocations: enough for all large blocks of an ordinary program. */
const BURST = 256;

/** After a burst one stack in this time, so that a tight loop spends less than one percent on them. */
const MILLISECONDS_EACH = 4;

/** Frames that a stack keeps: the kit's own and a few of the caller's. */
const FRAME_COUNT = 12;

/** Frames that a whole stack keeps. */
const WHOLE_FRAME_COUNT = 50;

/**
 * Amount of detail about where objects are created: nothing, large blocks at a bounded rate, each
 * object's line, or each object's whole stack.
 */
export type OriginDetail = "none" | "sampled" | "line" | "stack";

const DETAILS: readonly OriginDetail[] = ["none", "sampled", "line", "stack"];

/** The part of V8's stack interface that is used here. */
interface CallSite {
  getScriptNameOrSourceURL(): string | null | undefined;
  getLineNumber(): number | null;
  getColumnNumber(): number | null;
}

/** V8's Error, which lets a program format stacks itself. */
interface StackTraces {
  stackTraceLimit: number;
  prepareStackTrace?: ((error: unknown, sites: CallSite[]) => unknown) | undefined;
  captureStackTrace(target: object): void;
}

const traces = Error as unknown as StackTraces;

/** Decides which objects know their origin, and finds it. */
export class OriginFinder {
  detail: OriginDetail = defaultDetail();
  #left = BURST;
  #filledAt = 0;

  /** Finds the places on the stack for a block made at `now` (Date.now), nearest first. */
  find(byteLength: number, now: number): readonly string[] | undefined {
    const { detail } = this;
    if (detail === "sampled") {
      if (byteLength < MIN_BYTES || !this.#takeSample(now)) return undefined;
    } else if (detail === "none") {
      return undefined;
    }
    return detail === "stack" ? callerPlaces(WHOLE_FRAME_COUNT) : callerPlaces(FRAME_COUNT, 1);
  }

  /** Takes one stack of the burst, which time fills up again. */
  #takeSample(now: number): boolean {
    const earned = Math.floor((now - this.#filledAt) / MILLISECONDS_EACH);
    if (earned > 0) {
      this.#left = Math.min(BURST, this.#left + earned);
      this.#filledAt = now;
    }
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }
}

/** Returns the value of VRAMKIT_ORIGINS, or else the default for this program. */
function defaultDetail(): OriginDetail {
  const chosen = readVariable("VRAMKIT_ORIGINS");
  if (chosen === undefined) return inNotebook() ? "line" : "sampled";
  const known = DETAILS.find((name) => name === chosen);
  if (known !== undefined) return known;
  throw new TypeError(
    `Cannot record origins as "${chosen}": expected "none", "sampled", "line" or "stack"`,
  );
}

/**
 * Returns the caller's places on the stack, such as `"main.ts:12:9"`, or `"cell:3:7"` in a
 * notebook. They become text at once, because an Error kept for later would keep the objects of its
 * frames alive.
 */
function callerPlaces(frameCount: number, placeCount = Infinity): readonly string[] {
  const places: string[] = [];
  for (const site of captureSites(frameCount)) {
    const place = placeOf(site);
    if (place !== undefined) places.push(place);
    if (places.length >= placeCount) break;
  }
  return places;
}

function captureSites(frameCount: number): CallSite[] {
  const { stackTraceLimit, prepareStackTrace } = traces;
  const holder: { stack?: unknown } = {};
  try {
    traces.stackTraceLimit = frameCount;
    traces.prepareStackTrace = (_error, sites) => sites;
    traces.captureStackTrace(holder);
    const { stack } = holder;
    return Array.isArray(stack) ? stack : [];
  } finally {
    traces.stackTraceLimit = stackTraceLimit;
    traces.prepareStackTrace = prepareStackTrace;
  }
}

/** Returns the place of a frame; undefined for the kit's, the runtime's and built-in ones. */
function placeOf(site: CallSite): string | undefined {
  const script = site.getScriptNameOrSourceURL() ?? "";
  // A program beside a release may bear such a name as well, but is TypeScript.
  if (script.startsWith(OWN_FILES) && !(IS_RELEASE && script.endsWith(".ts"))) return undefined;
  if (script.startsWith("ext:") || script.startsWith("node:")) return undefined;
  const line = site.getLineNumber(); // counts the lines of the script the first time
  if (line === null) return undefined;
  const file = script.slice(script.lastIndexOf("/") + 1) || "cell";
  return `${file}:${line}:${site.getColumnNumber() ?? 1}`;
}
