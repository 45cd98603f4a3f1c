// Live objects as rows that print as a table: the answer to "what holds my GPU memory?".

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

/** A live object: a buffer, stream, event or graph that was not disposed. */
export interface LiveObject extends LiveFields {
  /**
   * Places on the stack where it was created, nearest first; one place unless whole stacks are
   * kept.
   */
  readonly stack: readonly string[] | undefined;
}

/** A row, and the record that releases its object. */
interface LiveRow {
  readonly object: LiveObject;
  readonly entry: LedgerEntry;
}

/** Rows printed at most; a longer table is not readable on a console. */
const PRINTED_ROWS = 40;

/**
 * A list of live objects, taken at one moment, largest first. {@link CudaDevice.live} returns one.
 * It prints as a table, and can be filtered, sorted and released.
 */
export class LiveTable implements Iterable<LiveObject> {
  readonly #rows: readonly LiveRow[];

  private constructor(rows: readonly LiveRow[]) {
    this.#rows = rows;
  }

  /** Lists the ledger entries that match a query. */
  static of(entries: readonly LedgerEntry[], query: LiveQuery = {}): LiveTable {
    LIVE_QUERY.read(query, "live");
    const now = Date.now();
    return new LiveTable(entries.map((entry) => ({ entry, object: describe(entry, now) })))
      .filter(query).sort(query.sortBy ?? "size");
  }

  /**
   * The rows. Origins are looked up now, because a notebook cell's number is known only after it
   * has run.
   */
  get objects(): readonly LiveObject[] {
    return this.#rows.map(({ object, entry }) => ({ ...object, origin: entry.origin }));
  }

  /** Number of objects. */
  get count(): number {
    return this.#rows.length;
  }

  /** Bytes that all objects hold together. */
  get byteLength(): number {
    return this.#rows.reduce((sum, { object }) => sum + object.byteLength, 0);
  }

  /**
   * Returns the rows that match a query or a function, in the same order unless the query names
   * one.
   */
  filter(query: LiveQuery | ((object: LiveObject) => boolean)): LiveTable {
    const fits = typeof query === "function" ? query : matcherOf(LIVE_QUERY.read(query, "filter"));
    const kept = new LiveTable(this.#rows.filter(({ object }) => fits(object)));
    const order = typeof query === "function" ? undefined : query.sortBy;
    return order === undefined ? kept : kept.sort(order);
  }

  /** Returns the rows sorted: largest first, oldest first, or in alphabetical order. */
  sort(order: LiveOrder): LiveTable {
    const compare = comparisonOf(order);
    return new LiveTable(this.#rows.toSorted((a, b) => compare(a.object, b.object)));
  }

  /**
   * Releases all objects of the table. References to them stay and report that they are disposed;
   * objects that are gone already are skipped.
   */
  release(): void {
    for (const { entry } of this.#rows) entry.release();
  }

  /** Iterates over the rows. */
  [Symbol.iterator](): Iterator<LiveObject> {
    return this.objects[Symbol.iterator]();
  }

  /** Returns the first rows as a text table, with the sum of all rows below. */
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

  /** Returns the text that the console shows. */
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
