// Queues work that touches memory, and holds it to the rules that the real driver does not check:
// access rights, races, bytes nobody wrote, and host bytes that change while the work waits.

import { hex } from "../errors.ts";
import { type Access, endOf, type Extent } from "../model/access_history.ts";
import type { ByteRange } from "../model/byte_ranges.ts";
import type { Moment } from "../model/happens_before.ts";
import type { Machine } from "../model/machine.ts";
import type { Region, Segment } from "../model/region.ts";
import type { HostWatch, Storage } from "../model/storage.ts";
import type { Operation, Stream, Work } from "../model/stream.ts";
import { submit } from "./submission.ts";

/** Bytes that an operation uses. */
export interface Use {
  readonly region: Region;
  readonly extent: Extent;
  readonly write: boolean;
}

/** Work and the memory that it uses. */
export interface MemoryWork extends Work {
  readonly uses: readonly Use[];
}

export function wholeUse(region: Region, write: boolean): Use {
  const extent = { start: 0, widthBytes: region.byteLength, pitchBytes: 0, rowCount: 1 };
  return { region, extent, write };
}

/** Submits work with the memory that it uses; throws before anything is queued when a rule is broken. */
export function queueMemoryWork(
  machine: Machine,
  stream: Stream,
  options: MemoryWork,
): Operation | undefined {
  return submit(machine, stream, {
    regions: options.uses.map(({ region }) => region),
    extents: options.uses.map(({ extent }) => extent),
    queue: (target) => queueNow(machine, target, options),
  });
}

/** Queues what begins or ends the life of a region's bytes, so that nothing may use them meanwhile. */
export function queueExclusive(
  machine: Machine,
  stream: Stream,
  options: Work & { region: Region },
): Operation {
  const { region, ...work } = options;
  const moment = machine.scheduler.nextMoment(stream);
  stream.timeline.lifeCount++;
  recordUses(machine, moment, [wholeUse(region, true)]);
  return machine.scheduler.enqueue(stream, moment, work);
}

function queueNow(machine: Machine, stream: Stream, options: MemoryWork): Operation {
  const { uses, ...work } = options;
  const moment = machine.scheduler.nextMoment(stream);
  recordUses(machine, moment, uses);
  const watches = uses.flatMap(watchUse);
  return machine.scheduler.enqueue(stream, moment, {
    ...work,
    run() {
      checkWatches(machine, stream, watches);
      for (const use of uses) if (!use.write) requireWritten(machine, use);
      work.run?.();
      for (const use of uses) if (use.write) markWritten(use);
    },
  });
}

/** Adds uses to the history of their memory, or throws when one races with an earlier use. */
export function recordUses(machine: Machine, moment: Moment, uses: readonly Use[]): void {
  const accesses = uses.flatMap((use) =>
    use.region.extents(use.extent).map(({ segment, extent }) => {
      const access = { extent, write: use.write, moment, call: machine.site.name };
      return { use, segment, access };
    })
  );
  for (const { use, segment, access } of accesses) {
    const earlier = segment.storage.history.conflict(access);
    if (earlier !== undefined) failRace(machine, { use, segment, access, earlier });
  }
  for (const { segment, access } of accesses) segment.storage.history.add(access);
}

/** Throws when an operation reads unwritten bytes. */
export function requireWritten(machine: Machine, use: Use): void {
  const { region, extent } = use;
  if (unwrittenIn(region, extent.start, endOf(extent)) === undefined) return;
  for (const [start, end] of rowsOf(extent)) {
    const found = unwrittenIn(region, start, end);
    if (found === undefined) continue;
    machine.site.fail(
      "unwritten",
      `it reads ${extent.widthBytes * extent.rowCount} bytes at ` +
        `${hex(region.address + extent.start)} of ${found.segment.owner.label}, and nobody has ` +
        `written the byte at offset ${found.gap}; write before reading`,
    );
  }
}

/** Finds the first byte of a range that nobody has written, in the coordinates of its storage. */
function unwrittenIn(region: Region, from: number, to: number) {
  for (const { segment, start, end } of region.parts(from, to)) {
    const gap = segment.storage.firstUnwritten(start, end);
    if (gap !== undefined) return { segment, gap };
  }
  return undefined;
}

/** Notes that an operation has written its bytes. */
export function markWritten({ region, extent }: Use): void {
  const isKnown = region.kind === "device" &&
    unwrittenIn(region, extent.start, endOf(extent)) === undefined;
  if (isKnown) return;
  const written = new Map<Storage, ByteRange[]>();
  for (const row of rowsOf(extent)) {
    for (const { segment, start, end } of region.parts(...row)) {
      written.getOrInsertComputed(segment.storage, () => []).push({ start, end });
    }
  }
  for (const [storage, ranges] of written) storage.markWritten(ranges);
}

/** Lists the rows; without a gap between them they are one, so that a million rows are one step. */
function* rowsOf(extent: Extent): Generator<[start: number, end: number]> {
  const { start, pitchBytes, widthBytes, rowCount } = extent;
  if (pitchBytes === widthBytes) return yield [start, endOf(extent)];
  for (let row = 0; row < rowCount; row++) {
    yield [start + row * pitchBytes, start + row * pitchBytes + widthBytes];
  }
}

/** A use of bytes that the host can change meanwhile. */
interface WatchedUse {
  readonly use: Use;
  readonly watch: HostWatch;
}

function watchUse(use: Use): WatchedUse[] {
  if (use.region.kind !== "host") return [];
  return use.region.extents(use.extent).flatMap(({ segment, extent }) => {
    const watch = segment.storage.watch(extent);
    return watch === undefined ? [] : [{ use, watch }];
  });
}

function checkWatches(machine: Machine, stream: Stream, watches: readonly WatchedUse[]): void {
  const changed = watches.find(({ watch }) => !watch.isIntact());
  for (const { watch } of watches) watch.release();
  if (changed === undefined) return;
  const { region, extent, write } = changed.use;
  machine.site.fail(
    "hostChanged",
    `the host changed its ${write ? "destination" : "source"}, ${endOf(extent) - extent.start} ` +
      `bytes at ${hex(region.address + extent.start)}, while the work waited on ` +
      `${stream.timeline.label}; wait for the stream before touching them`,
  );
}

function failRace(
  machine: Machine,
  { use, segment, access, earlier }: {
    use: Use;
    segment: Segment;
    access: Access;
    earlier: Access;
  },
): never {
  return machine.site.fail(
    "race",
    `race, it ${access.write ? "writes" : "reads"} ${endOf(use.extent) - use.extent.start} ` +
      `bytes at ${hex(use.region.address + use.extent.start)} of ${segment.owner.label} on ` +
      `${access.moment.timeline.label} while ${earlier.call} ` +
      `${earlier.write ? "writes" : "reads"} them on ${earlier.moment.timeline.label}; order ` +
      `the streams with an event, or wait`,
  );
}
