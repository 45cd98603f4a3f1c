// Live objects in groups: which line, kind, label or scope holds how many bytes.

import { refuseIndicesOf } from "../buffers/array_habits.ts";
import { describeValue, formatBytes } from "../words/format.ts";
import { oneOf } from "../words/options.ts";
import { comesFrom, type Parts, partsOf } from "../words/parts.ts";
import { formatTable } from "../words/text_table.ts";
import type { LiveObject } from "./live_query.ts";

/** A property to group live objects by: the line that made them, their kind, label or scope. */
export type LiveGroupKey = "origin" | "kind" | "label" | "scope";

/** Live objects that have something in common. */
export interface LiveGroup {
  /** The value that they share; undefined where it is unknown. */
  readonly name: string | undefined;
  /** Number of objects. */
  readonly count: number;
  /** Bytes that they hold together. */
  readonly byteLength: number;
}

const KEY = oneOf("origin", "kind", "label", "scope");

/** Groups of live objects, the largest first; prints as a table. */
export class LiveGroups implements Iterable<LiveGroup> {
  /** The property that the objects of a group share. */
  readonly key: LiveGroupKey;
  /** The groups. */
  readonly groups: readonly LiveGroup[];
  /** Advice for recording the places of all objects, where some have none; empty otherwise. */
  readonly hint: string;

  static {
    refuseIndicesOf(LiveGroups.prototype, "groups");
  }

  /** @ignore Groups objects. */
  constructor(
    parts: Parts<Pick<LiveGroups, "key" | "hint"> & { readonly objects: readonly LiveObject[] }>,
  ) {
    const { key, objects, hint } = partsOf(parts, new.target);
    if (!KEY.accepts(key)) {
      throw new TypeError(`Cannot group by ${describeValue(key)}: expected ${KEY.expected}`);
    }
    this.key = key;
    this.hint = key === "origin" ? hint : "";
    this.groups = [...Map.groupBy(objects, (object) => object[key])]
      .map(([name, members]) => ({
        name,
        count: members.length,
        byteLength: members.reduce((sum, { byteLength }) => sum + byteLength, 0),
      }))
      .sort((a, b) => b.byteLength - a.byteLength || b.count - a.count);
  }

  /** Heading of the first column of the table. */
  get heading(): string {
    return this.key === "origin" ? "made at" : this.key;
  }

  /** Walks the groups. */
  [Symbol.iterator](): Iterator<LiveGroup> {
    return this.groups[Symbol.iterator]();
  }

  /** Lays the groups out as text. */
  toString(): string {
    const rows = this.groups.map(({ name, count, byteLength }) => [
      name ?? "unknown",
      String(count),
      formatBytes(byteLength),
    ]);
    const table = formatTable([[this.heading, "count", "size"], ...rows], [
      "left",
      "right",
      "right",
    ]);
    return [table, ...[this.hint].filter(Boolean)].join("\n");
  }

  /** The groups as plain data. */
  toJSON(): readonly LiveGroup[] {
    return this.groups;
  }

  /** Shows the table on a console. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }
}

comesFrom(LiveGroups, "gpu.live().by()");
