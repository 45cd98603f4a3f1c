// Which live objects to list, and in which order.

import { type ByteSize, describeValue, parseBytes } from "../format.ts";
import { LIVE_KINDS, type LiveKind } from "../accounting/ledger.ts";
import {
  eitherOf,
  listOf,
  NUMBER,
  oneOf,
  type OptionKind,
  OptionSet,
  SIZE,
  TEXT,
} from "../options.ts";

/** By what a list of live objects is sorted: largest, oldest, or first in the alphabet first. */
export type LiveOrder = "size" | "age" | "name" | "kind";

/** Which live objects to list; an object must fit everything that is given. */
export interface LiveQuery {
  /** What it is, or what it may be. */
  readonly kind?: LiveKind | readonly LiveKind[];
  /** Its name, a part of it, or a pattern that it matches. */
  readonly label?: string | RegExp;
  /** The track or labelled scope it was made in. */
  readonly scope?: string;
  /** A part of the place where it was made, such as the name of a file. */
  readonly origin?: string;
  /** How large it is at least. */
  readonly minSize?: ByteSize;
  /** How large it is at most. */
  readonly maxSize?: ByteSize;
  /** How long ago it was made at least, in seconds. */
  readonly olderThanSeconds?: number;
  /** How long ago it was made at most, in seconds. */
  readonly newerThanSeconds?: number;
  /** The order; largest first by default. */
  readonly sortBy?: LiveOrder;
}

const KIND = oneOf(...LIVE_KINDS);
const PATTERN: OptionKind = {
  expected: "a regular expression",
  accepts: (value) => value instanceof RegExp,
};
const ORDER = oneOf("size", "age", "name", "kind");

/** What a query may be. */
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

/** One live object. */
export interface LiveObject {
  /** Its number in this process. */
  readonly id: number;
  /** What it is. */
  readonly kind: LiveKind;
  /** Its label, or its kind and number. */
  readonly name: string;
  /** The label that its maker gave it. */
  readonly label: string | undefined;
  /** Bytes it holds. */
  readonly byteLength: number;
  /** Seconds since it was made. */
  readonly ageSeconds: number;
  /** Where it was made, when that is known. */
  readonly origin: string | undefined;
  /** The track or labelled scope it was made in. */
  readonly scope: string | undefined;
  /** Where it was made, nearest first; one place unless whole stacks are kept. */
  readonly stack: readonly string[] | undefined;
}

/**
 * Makes a test of a query.
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
 * Returns the comparison of an order; what is equal in it comes oldest first.
 *
 * @throws TypeError when there is no such order.
 */
export function comparisonOf(order: LiveOrder): (a: LiveObject, b: LiveObject) => number {
  if (!Object.hasOwn(ORDERS, order)) {
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
