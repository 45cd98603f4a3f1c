// What is alive, as rows that print as a table: the answer to "what holds my GPU memory?".

import { formatBytes } from "./format.ts";
import { type LedgerEntry, type LiveKind, nameOf } from "./ledger.ts";
import { formatTable } from "./text_table.ts";

/** One live object. */
export interface LiveObject {
  /** Its number in this process. */
  readonly id: number;
  /** What it is. */
  readonly kind: LiveKind;
  /** Its label, or its kind and number. */
  readonly name: string;
  /** Bytes it holds. */
  readonly byteLength: number;
  /** Seconds since it was made. */
  readonly ageSeconds: number;
  /** Where it was made, when that is known. */
  readonly origin: string | undefined;
}

/** Live objects, largest first. */
export class LiveTable implements Iterable<LiveObject> {
  /** The rows. */
  readonly objects: readonly LiveObject[];

  /** Lists ledger entries. */
  constructor(entries: readonly LedgerEntry[]) {
    const now = Date.now();
    this.objects = entries.map((entry) => ({
      id: entry.id,
      kind: entry.kind,
      name: nameOf(entry),
      byteLength: entry.byteLength,
      ageSeconds: (now - entry.createdAt) / 1000,
      origin: entry.origin,
    })).sort((a, b) => b.byteLength - a.byteLength || a.id - b.id);
  }

  /** How many objects. */
  get count(): number {
    return this.objects.length;
  }

  /** Bytes they hold together. */
  get byteLength(): number {
    return this.objects.reduce((sum, object) => sum + object.byteLength, 0);
  }

  /** Walks the rows. */
  [Symbol.iterator](): Iterator<LiveObject> {
    return this.objects[Symbol.iterator]();
  }

  /** Lays the rows out as text. */
  toString(): string {
    const rows = this.objects.map((object) => [
      object.name,
      object.kind,
      formatBytes(object.byteLength),
      `${object.ageSeconds.toFixed(1)} s`,
      object.origin ?? "",
    ]);
    const table = formatTable(
      [["name", "kind", "size", "age", "made at"], ...rows],
      ["left", "left", "right", "right"],
    );
    return `${table}\n${this.count} live, ${formatBytes(this.byteLength)}`;
  }

  /** Shows the table on a console. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }
}
