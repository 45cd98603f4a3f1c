// Queries for live objects: which to list, and in which order.

import { LIVE_KINDS, type LiveKind } from "../accounting/ledger.ts";
import { type ByteSize, describeValue, parseBytes } from "../words/format.ts";
import {
  eitherOf,
  listOf,
  NUMBER,
  oneOf,
  type OptionKind,
  OptionSet,
  SIZE,
  TEXT,
} from "../words/options.ts";

/** Order of a list of live objects: largest first, oldest first, or alphabetical. */
export type LiveOrder = "size" | "age" | "name" | "kind";

/** Options for {@link CudaDevice.live}; an object is listed when it matches all of them. */
export interface LiveQuery {
  /** The kind of object, or several kinds. */
  readonly kind?: LiveKind | readonly LiveKind[] | undefined;
  /** A part of the object's name, or a pattern that the name matches. */
  readonly label?: string | RegExp | undefined;
  /** The track or labelled scope that it was created in. */
  readonly scope?: string | undefined;
  /** A part of the place where it was created, such as the name of a file. */
  readonly origin?: string | undefined;
  /** Smallest size. */
  readonly minSize?: ByteSize | undefined;
  /** Largest size. */
  readonly maxSize?: ByteSize | undefined;
  /** Lowest age in seconds. */
  readonly olderThanSeconds?: number | undefined;
  /** Highest age in seconds. */
  readonly newerThanSeconds?: number | undefined;
  /** The order; largest first by default. */
  readonly sortBy?: LiveOrder | undefined;
}

const KIND = oneOf(...LIVE_KINDS);
const PATTERN: OptionKind = {
  expected: "a regular expression",
  accepts: (value) => value instanceof RegExp,
};
const ORDER = oneOf("size", "age", "name", "kind");

/** Checks the options above. */
export const LIVE_QUERY: OptionSet<LiveQuery> = new OptionSet({
  kind: eitherOf(KIND, listOf(KIND)),
  label: eitherOf(TEXT, PATTERN),
  scope: TEXT,
  origin: TEXT,
  minSize: SIZE,
  maxSize: SIZE,
  olderThanSeconds: NUMBER,
  newerThanSeconds: NUMBER,
  sortBy: ORDER,
});

/** A live object: a buffer, stream, event or graph that was not disposed. */
export interface LiveObject {
  /** The object's number, unique in this process. */
  readonly id: number;
  /** The kind of object. */
  readonly kind: LiveKind;
  /** The object's label, or its kind and number. */
  readonly name: string;
  /** The label that the program gave it. */
  readonly label: string | undefined;
  /** Bytes that it holds. */
  readonly byteLength: number;
  /** Seconds since it was created. */
  readonly ageSeconds: number;
  /** The place where it was created; undefined when that is unknown. */
  readonly origin: string | undefined;
  /** The track or labelled scope that it was created in. */
  readonly scope: string | undefined;
  /** Places on the stack where it was created, nearest first; one unless all are kept. */
  readonly stack: readonly string[] | undefined;
  /** Place of its contents while its memory sleeps: `"asleep, 4 GiB in host memory"`. */
  readonly asleep?: string | undefined;
}

/**
 * Returns the predicate of a query.
 *
 * @throws RangeError when a size cannot be read.
 */
export function matcherOf(query: LiveQuery): (object: LiveObject) => boolean {
  const { kind, label, scope, origin, olderThanSeconds = -Infinity } = query;
  const { newerThanSeconds = Infinity } = query;
  const kinds = kind === undefined ? undefined : new Set([kind].flat());
  const minBytes = parseBytes(query.minSize ?? 0, "minSize");
  const maxBytes = parseBytes(query.maxSize ?? Number.MAX_SAFE_INTEGER, "maxSize");
  return (object) =>
    (kinds === undefined || kinds.has(object.kind)) &&
    (label === undefined || matches(object.name, label)) &&
    (scope === undefined || object.scope === scope) &&
    (origin === undefined || (object.origin ?? "").includes(origin)) &&
    object.byteLength >= minBytes && object.byteLength <= maxBytes &&
    object.ageSeconds >= olderThanSeconds && object.ageSeconds <= newerThanSeconds;
}

const ORDERS: Readonly<Record<LiveOrder, (a: LiveObject, b: LiveObject) => number>> = {
  size: (a, b) => b.byteLength - a.byteLength,
  age: (a, b) => b.ageSeconds - a.ageSeconds,
  name: (a, b) => compareText(a.name, b.name),
  kind: (a, b) => compareText(a.kind, b.kind) || b.byteLength - a.byteLength,
};

/**
 * Returns the comparison function of an order; equal objects are sorted oldest first.
 *
 * @throws TypeError when there is no such order.
 */
export function comparisonOf(order: LiveOrder): (a: LiveObject, b: LiveObject) => number {
  if (!ORDER.accepts(order)) {
    throw new TypeError(
      `Cannot sort by ${describeValue(order)}: expected ${ORDER.expected}`,
    );
  }
  const compare = ORDERS[order];
  return (a, b) => compare(a, b) || a.id - b.id;
}

function matches(name: string, label: string | RegExp): boolean {
  // search() and not test(): a pattern with the g flag would remember its last place.
  return typeof label === "string" ? name.includes(label) : name.search(label) !== -1;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
