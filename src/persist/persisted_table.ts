// The list of what is persisted, as a table.

import { formatBytes, formatCount } from "../words/format.ts";
import { comesFrom, type Parts, partsOf } from "../words/parts.ts";
import { formatTable } from "../words/text_table.ts";
import { refuseCloning } from "../words/uncloneable.ts";
import { originWords, timeWords } from "./origin.ts";
import type { Persistence } from "./persistence.ts";

/** The headings of the columns. */
export const HEADER = ["name", "what", "size", "made", "of", "state", "open in"] as const;

/** Persisted objects, as {@link CudaDevice.persisted} lists them: a table, and its rows as data. */
export class PersistedTable implements Iterable<Persistence> {
  /** The rows, oldest first. */
  readonly rows: readonly Persistence[];

  /** @ignore Lists rows. */
  constructor(parts: Parts<readonly Persistence[]>) {
    this.rows = partsOf(parts, new.target);
    refuseCloning(this);
  }

  /** Number of names. */
  get count(): number {
    return this.rows.length;
  }

  /** Bytes of device memory of all names. */
  get byteLength(): number {
    return this.rows.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Iterates over the rows. */
  [Symbol.iterator](): Iterator<Persistence> {
    return this.rows[Symbol.iterator]();
  }

  /** Returns the rows as plain data. */
  toJSON(): readonly Persistence[] {
    return this.rows;
  }

  /** Returns the table as text. */
  toString(): string {
    const { count, byteLength, rows } = this;
    const title = `${formatCount(count, "persisted name")}, ${formatBytes(byteLength)}`;
    if (count === 0) return title;
    return `${title}\n${formatTable([HEADER, ...rows.map(cellsOf)], ["left", "left", "right"])}`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }
}

comesFrom(PersistedTable, "gpu.persisted()");

/** The cells of a row: name, contents, size, time, origin, state, processes. */
export function cellsOf(row: Persistence): readonly string[] {
  const { name, what, byteLength, madeAt, files, key, state, openedBy, asleepIn } = row;
  const size = asleepIn === undefined ? formatBytes(byteLength) : `asleep in ${asleepIn}`;
  const open = openedBy.length === 0 ? "nowhere" : openedBy.join(", ");
  return [name, what, size, timeWords(madeAt), originWords({ files, key }), state, open];
}
