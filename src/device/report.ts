// A full account of a device's memory: as text to read or to attach to a bug report, and as JSON.

import type { MemoryUsage } from "../accounting/counters.ts";
import type { LedgerEntry, LibraryUsage, LiveKind } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import type { Provenance } from "../measure/bandwidth_result.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import { comesFrom, type Parts, partsOf } from "../words/parts.ts";
import { formatTable } from "../words/text_table.ts";
import { type DeviceMemory, readDeviceMemory } from "./device_memory.ts";
import { listLive, type LiveTable } from "./live.ts";
import type { LiveObject } from "./live_query.ts";

/** Number and bytes of the live objects of one kind. */
export interface KindUsage {
  /** The kind. */
  readonly kind: LiveKind;
  /** Number of objects. */
  readonly count: number;
  /** Bytes that they hold. */
  readonly byteLength: number;
}

/** Number and bytes of the live blocks of one size class; classes are powers of two. */
export interface SizeClass {
  /** Smallest size in the class; blocks smaller than twice that belong to it. */
  readonly fromBytes: number;
  /** Number of blocks. */
  readonly count: number;
  /** Bytes that they hold. */
  readonly byteLength: number;
}

/** Memory that a cache or a pool keeps for reuse. */
export interface CacheUsage {
  /** Name of the cache or pool. */
  readonly name: string;
  /** Kind of memory that it keeps; `"array"` is ordinary memory of the host. */
  readonly kind: LiveKind | "array";
  /** Bytes that it keeps. */
  readonly byteLength: number;
  /** Bytes of the largest block that it keeps, where it knows them. */
  readonly largestBytes?: number;
}

/** The contents of a {@link MemoryReport} as plain data. */
export interface MemoryReportData {
  /** Device, driver, versions and date of the report. */
  readonly provenance: Provenance;
  /** The device's memory by use. */
  readonly memory: DeviceMemory;
  /** This program's device memory: now, peak and total. */
  readonly device: MemoryUsage;
  /** This program's page-locked host memory: now, peak and total. */
  readonly host: MemoryUsage;
  /** Live objects by kind. */
  readonly kinds: readonly KindUsage[];
  /** Live blocks by size, smallest first. */
  readonly sizes: readonly SizeClass[];
  /** Caches and pools, with the bytes that they keep for reuse. */
  readonly caches: readonly CacheUsage[];
  /** Libraries that hold memory of the device for the program: the communicators of groups. */
  readonly libraries: readonly LibraryUsage[];
  /** Blocks that the garbage collector released because they were not disposed. */
  readonly undisposed: { readonly count: number; readonly byteLength: number };
  /** The largest live objects, at most 100 of them. */
  readonly largest: readonly LiveObject[];
}

const LISTED_OBJECTS = 100;

/**
 * A full account of a device's memory at one moment, as {@link CudaDevice.report} returns it. Print
 * it, or store it with `JSON.stringify()`.
 */
export class MemoryReport {
  /** The contents as plain data. */
  readonly data: MemoryReportData;
  /** All live objects, largest first. */
  readonly live: LiveTable;

  /** @ignore Takes an account of the current state. */
  constructor(parts: Parts<{ readonly context: Context; readonly provenance: Provenance }>) {
    const { context, provenance } = partsOf(parts, new.target);
    const { ledger } = context;
    const entries = ledger.entries();
    this.live = listLive(ledger);
    this.data = {
      provenance,
      memory: readDeviceMemory(context),
      device: ledger.device.snapshot(),
      host: ledger.host.snapshot(),
      kinds: kindsOf(entries),
      sizes: sizesOf(entries),
      caches: [...ledger.caches].map(({ name, kind, byteLength, largestBytes }) => ({
        ...{ name, kind, byteLength },
        ...largestBytes === undefined ? {} : { largestBytes },
      })),
      libraries: [...ledger.libraries].map(({ name, byteLength }) => ({ name, byteLength })),
      undisposed: { count: ledger.undisposed.count, byteLength: ledger.undisposed.byteLength },
      largest: this.live.objects.slice(0, LISTED_OBJECTS),
    };
  }

  /** Returns the account as plain data, for JSON. */
  toJSON(): MemoryReportData {
    return this.data;
  }

  /** Returns the account as text. */
  toString(): string {
    const { provenance, memory, device, host, undisposed } = this.data;
    return [
      `${provenance.device}, driver ${provenance.driver}, Deno ${provenance.deno}, ` +
      `vramkit ${provenance.vramkit}, ${provenance.date}`,
      formatAmounts(memory),
      formatUsage({ device, host }),
      ...this.#formatHeld(),
      `collected undisposed: ${formatCount(undisposed.count, "block")}, ` +
      formatBytes(undisposed.byteLength),
      this.live.toString(),
    ].join("\n\n");
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }

  /** The objects that hold memory, as a table; none when nothing does. */
  #formatHeld(): string[] {
    const { kinds, caches, libraries, sizes } = this.data;
    const rows = [
      ...kinds.map((row) => [`live ${row.kind}`, String(row.count), formatBytes(row.byteLength)]),
      ...caches.filter(({ byteLength }) => byteLength > 0).flatMap((row) => [
        [`kept by ${row.name}`, "", formatBytes(row.byteLength)],
        ...row.largestBytes === undefined
          ? []
          : [["its largest block", "1", formatBytes(row.largestBytes)]],
      ]),
      ...libraries.map((row) => [`held by ${row.name}`, "", formatBytes(row.byteLength)]),
      ...sizes.map((row) => [
        `blocks from ${formatBytes(row.fromBytes)}`,
        String(row.count),
        formatBytes(row.byteLength),
      ]),
    ];
    if (rows.length === 0) return [];
    return [formatTable([["held", "count", "size"], ...rows], ["left", "right", "right"])];
  }
}

comesFrom(MemoryReport, "gpu.report()");

function formatAmounts(memory: DeviceMemory): string {
  const { freeBytes, totalBytes, liveBytes, cachedBytes, otherBytes, limitBytes } = memory;
  const limit = limitBytes === undefined ? "" : `, limited to ${formatBytes(limitBytes)}`;
  return `${formatBytes(totalBytes)}: ${formatBytes(liveBytes)} live, ` +
    `${formatBytes(cachedBytes)} cached, ${formatBytes(otherBytes)} others, ` +
    `${formatBytes(freeBytes)} free${limit}`;
}

function formatUsage(usages: Readonly<Record<string, MemoryUsage>>): string {
  const rows = Object.entries(usages).map(([place, usage]) => [
    place,
    `${formatBytes(usage.currentBytes)} in ${usage.currentCount}`,
    `${formatBytes(usage.peakBytes)} in ${usage.peakCount}`,
    `${formatBytes(usage.totalBytes)} in ${usage.totalCount}`,
  ]);
  return formatTable([["memory", "now", "at most", "in all"], ...rows]);
}

function kindsOf(entries: readonly LedgerEntry[]): KindUsage[] {
  const groups = Map.groupBy(entries, ({ kind }) => kind);
  return [...groups].map(([kind, own]) => ({ kind, ...totalOf(own) }));
}

function sizesOf(entries: readonly LedgerEntry[]): SizeClass[] {
  const blocks = entries.filter(({ byteLength }) => byteLength > 0);
  const groups = Map.groupBy(blocks, ({ byteLength }) => 2 ** Math.floor(Math.log2(byteLength)));
  return [...groups].map(([fromBytes, own]) => ({ fromBytes, ...totalOf(own) }))
    .sort((a, b) => a.fromBytes - b.fromBytes);
}

function totalOf(entries: readonly LedgerEntry[]): { count: number; byteLength: number } {
  const byteLength = entries.reduce((sum, entry) => sum + entry.byteLength, 0);
  return { count: entries.length, byteLength };
}
