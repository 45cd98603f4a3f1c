// Live objects as rows that print as a table: the answer to "what holds my GPU memory?".

import { type Ledger, type LedgerEntry, nameOf } from "../accounting/ledger.ts";
import { refuseIndicesOf } from "../buffers/array_habits.ts";
import { requireNoCapture } from "../order/capture.ts";
import { formatBytes, formatCount, formatSeconds } from "../words/format.ts";
import { CALLBACK, isAccepted } from "../words/options.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { formatTable } from "../words/text_table.ts";
import { refuseCloning } from "../words/uncloneable.ts";
import { type LiveGroupKey, LiveGroups } from "./live_groups.ts";
import {
  comparisonOf,
  LIVE_QUERY,
  type LiveObject,
  type LiveOrder,
  type LiveQuery,
  matcherOf,
} from "./live_query.ts";

/** A row, and the record that releases its object. */
interface LiveRow {
  readonly object: LiveObject;
  readonly entry: LedgerEntry;
}

const UNCLONEABLE = Symbol("a table of live objects can dispose them; pass on its objects");

/** Rows printed at most; a longer table is not readable on a console. */
const PRINTED_ROWS = 40;

/**
 * A list of live objects, taken at one moment, largest first. {@link CudaDevice.live} returns one.
 * It prints as a table, and can be filtered, grouped, sorted and disposed.
 */
export class LiveTable implements Iterable<LiveObject> {
  readonly #rows: readonly LiveRow[];
  /** The device was told to find the place of every object. */
  readonly #findsAll: boolean;

  static {
    refuseIndicesOf(LiveTable.prototype, "objects");
  }

  /** @ignore Lists rows. */
  constructor(parts: Parts<{ readonly rows: readonly LiveRow[]; readonly findsAll: boolean }>) {
    const { rows, findsAll } = partsOf(parts, new.target);
    this.#rows = rows;
    this.#findsAll = findsAll;
    refuseCloning(this, UNCLONEABLE);
  }

  /** The rows. Origins are looked up now, as a cell's number is known once it has run. */
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
   *
   * @throws TypeError for a function that returns a promise.
   */
  filter(query: LiveQuery | ((object: LiveObject) => boolean)): LiveTable {
    if (!isMatcher(query)) query = LIVE_QUERY.read(query, "filter");
    const fits = isMatcher(query) ? query : matcherOf(query);
    const kept = this.#with(this.#rows.filter(({ object }) => isAccepted(fits, object)));
    const order = isMatcher(query) ? undefined : query.sortBy;
    return order === undefined ? kept : kept.sort(order);
  }

  /** Returns the rows sorted: largest first, oldest first, or in alphabetical order. */
  sort(order: LiveOrder): LiveTable {
    const compare = comparisonOf(order);
    return this.#with(this.#rows.toSorted((a, b) => compare(a.object, b.object)));
  }

  /**
   * Groups the rows by the line where they were created, by kind, by label or by scope, with the
   * count and the bytes of each group; largest first.
   *
   * @throws TypeError when there is no such group.
   *
   * @example
   * ```ts
   * import { CudaDevice } from "vramkit";
   *
   * using gpu = CudaDevice.open(0, { driver: "auto", origins: "line" });
   * const batches = [1, 2, 3].map(() => gpu.alloc("float32", 1024));
   * console.log(gpu.live().by("origin")); // a table: one line of this file, 3 objects, 12 KiB
   * for (const batch of batches) batch.dispose();
   * ```
   */
  by(key: LiveGroupKey): LiveGroups {
    return new LiveGroups(new Parts({ key, objects: this.objects, hint: this.hint }));
  }

  /** Advice on how to record the places of all rows when some have none; empty otherwise. */
  get hint(): string {
    const unknown = this.#rows.filter(({ entry }) => entry.origin === undefined).length;
    if (unknown === 0 || this.#findsAll) return "";
    return `${formatCount(unknown, "place")} not recorded: open the device with ` +
      `{ origins: "line" } to have all`;
  }

  /**
   * Disposes all objects of the table. References to them stay and report that they are disposed;
   * objects that are gone already are skipped.
   *
   * @throws TypeError while a graph is being captured.
   */
  dispose(): void {
    if (this.#rows.length > 0) requireNoCapture("dispose what is live");
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
      object.asleep === undefined ? object.kind : `${object.kind}, asleep`,
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
    if (rows.length === 0) return sum;
    return [table, ...hidden, sum, ...[this.hint].filter(Boolean)].join("\n");
  }

  /** The rows as plain data. */
  toJSON(): readonly LiveObject[] {
    return this.objects;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }

  #with(rows: readonly LiveRow[]): LiveTable {
    return new LiveTable(new Parts({ rows, findsAll: this.#findsAll }));
  }
}

comesFrom(LiveTable, "gpu.live()");

/** Lists the entries of a ledger that match a query. */
export function listLive(ledger: Ledger, query: LiveQuery = {}): LiveTable {
  query = LIVE_QUERY.read(query, "live");
  const now = Date.now();
  const rows = ledger.entries().map((entry) => ({ entry, object: describe(entry, now) }));
  const { detail } = ledger.origins;
  return new LiveTable(new Parts({ rows, findsAll: detail === "line" || detail === "stack" }))
    .filter(query).sort(query.sortBy ?? "size");
}

function isMatcher(query: unknown): query is (object: LiveObject) => boolean {
  return CALLBACK.accepts(query);
}

function describe(entry: LedgerEntry, now: number): LiveObject {
  return {
    id: entry.id,
    kind: entry.kind,
    name: nameOf(entry),
    label: entry.label,
    byteLength: entry.byteLength,
    ageSeconds: (now - entry.createdAt) / 1000,
    origin: entry.origin,
    scope: entry.scope,
    stack: entry.stack,
    ...(entry.asleep === undefined ? {} : { asleep: entry.asleep }),
  };
}
