// What is alive, as rows that print as a table: the answer to "what holds my GPU memory?".

import { formatBytes, formatSeconds } from "../format.ts";
import { type LedgerEntry, nameOf } from "../accounting/ledger.ts";
import {
  comparisonOf,
  LIVE_QUERY,
  type LiveFields,
  type LiveOrder,
  type LiveQuery,
  matcherOf,
} from "./live_query.ts";
import { formatTable } from "../text_table.ts";

/** One live object. */
export interface LiveObject extends LiveFields {
  /** Where it was made, nearest first; one place unless whole stacks are kept. */
  readonly stack: readonly string[] | undefined;
}

/** A row, and the record through which its object is given back. */
interface LiveRow {
  readonly object: LiveObject;
  readonly entry: LedgerEntry;
}

/** A table longer than this is no answer on a console. */
const PRINTED_ROWS = 40;

/** Live objects as they were when they were listed, largest first. */
export class LiveTable implements Iterable<LiveObject> {
  readonly #rows: readonly LiveRow[];

  private constructor(rows: readonly LiveRow[]) {
    this.#rows = rows;
  }

  /** Lists ledger entries that fit a query. */
  static of(entries: readonly LedgerEntry[], query: LiveQuery = {}): LiveTable {
    LIVE_QUERY.read(query, "live");
    const now = Date.now();
    return new LiveTable(entries.map((entry) => ({ entry, object: describe(entry, now) })))
      .filter(query).sort(query.sortBy ?? "size");
  }

  /** The rows, with their origins as they are told now: a cell's number is known when it is over. */
  get objects(): readonly LiveObject[] {
    return this.#rows.map(({ object, entry }) => ({ ...object, origin: entry.origin }));
  }

  /** How many objects. */
  get count(): number {
    return this.#rows.length;
  }

  /** Bytes they hold together. */
  get byteLength(): number {
    return this.#rows.reduce((sum, { object }) => sum + object.byteLength, 0);
  }

  /** Keeps the rows that fit a query or a function, in the same order unless the query has one. */
  filter(query: LiveQuery | ((object: LiveObject) => boolean)): LiveTable {
    const fits = typeof query === "function" ? query : matcherOf(LIVE_QUERY.read(query, "filter"));
    const kept = new LiveTable(this.#rows.filter(({ object }) => fits(object)));
    const order = typeof query === "function" ? undefined : query.sortBy;
    return order === undefined ? kept : kept.sort(order);
  }

  /** Sorts the rows into another table: largest, oldest, or first in the alphabet first. */
  sort(order: LiveOrder): LiveTable {
    const compare = comparisonOf(order);
    return new LiveTable(this.#rows.toSorted((a, b) => compare(a.object, b.object)));
  }

  /** Gives all objects of the table back, whoever holds them; those that are gone stay so. */
  release(): void {
    for (const { entry } of this.#rows) entry.release();
  }

  /** Walks the rows. */
  [Symbol.iterator](): Iterator<LiveObject> {
    return this.objects[Symbol.iterator]();
  }

  /** Lays the first rows out as text, with the sum of all below. */
  toString(): string {
    const rows = this.objects.slice(0, PRINTED_ROWS).map((object) => [
      object.name,
      object.kind,
      formatBytes(object.byteLength),
      formatSeconds(object.ageSeconds),
      object.scope ?? "",
      object.origin ?? "",
    ]);
    const table = formatTable(
      [["name", "kind", "size", "age", "scope", "made at"], ...rows],
      ["left", "left", "right", "right"],
    );
    const hidden = this.count > rows.length ? [`... and ${this.count - rows.length} more`] : [];
    const sum = `${this.count} live, ${formatBytes(this.byteLength)}`;
    return [table, ...hidden, sum].join("\n");
  }

  /** The rows as plain data. */
  toJSON(): readonly LiveObject[] {
    return this.objects;
  }

  /** Shows the table on a console. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }
}

function describe(entry: LedgerEntry, now: number): LiveObject {
  return {
    id: entry.id,
    kind: entry.kind,
    name: nameOf(entry),
    byteLength: entry.byteLength,
    ageSeconds: (now - entry.createdAt) / 1000,
    origin: entry.origin,
    scope: entry.scope,
    stack: entry.stack,
  };
}
