// MemorySnapshot: the memory of PyTorch's allocator at a moment, and the steps that led there.

import { type CardPart, hiddenNote, note, table } from "../cards/card.ts";
import { segment } from "../cards/memory_bar.ts";
import { show } from "../cards/show_card.ts";
import type { Figure } from "../notebook/figure.ts";
import { checkSize, describeValue, formatBytes, formatCount } from "../words/format.ts";
import { NUMBER, oneOf, OptionSet } from "../words/options.ts";
import { comesFrom, type Parts, partsOf } from "../words/parts.ts";
import { plotHistory } from "./history_plot.ts";
import { devicesOf, type SnapshotDevice, type StackUsage, usagesOf } from "./snapshot_amounts.ts";
import { plotComparison, plotFragmentation, plotSegments } from "./segment_plots.ts";
import type {
  SnapshotAnnotation,
  SnapshotContents,
  SnapshotEvent,
  SnapshotSegment,
} from "./snapshot_form.ts";

/** Options for the plots and lists of a {@link MemorySnapshot}. */
export interface SnapshotOptions {
  /** Index of the device; in plots the one that holds most by default, and in lists all. */
  readonly device?: number | undefined;
  /** Number of stacks that are told apart. */
  readonly stackCount?: number | undefined;
}

/** Options for {@link MemorySnapshot.plotTimeline}. */
export interface SnapshotTimelineOptions extends SnapshotOptions {
  /** Axis of the allocator's steps, each as wide as the next, by default, or of time. */
  readonly axis?: "time" | "steps" | undefined;
}

const KINDS = { device: NUMBER, stackCount: NUMBER };
const SNAPSHOT_OPTIONS = new OptionSet<SnapshotOptions>(KINDS);
const AXIS = oneOf("time", "steps");
const TIMELINE_OPTIONS = new OptionSet<SnapshotTimelineOptions>({ ...KINDS, axis: AXIS });

/**
 * A memory snapshot of PyTorch. {@link readMemorySnapshot} reads one. As a cell's last expression it
 * shows a card with the largest stacks; its methods draw plots.
 */
export class MemorySnapshot {
  /** The name of its file. */
  readonly name: string;
  /** The devices that hold memory or have a history. */
  readonly devices: readonly SnapshotDevice[];
  /** Memory that the allocator took from the driver, with the blocks in it. */
  readonly segments: readonly SnapshotSegment[];
  /** The allocator's steps on each device, by its index, oldest first. */
  readonly events: readonly (readonly SnapshotEvent[])[];
  /** Stretches of time that the program named. */
  readonly annotations: readonly SnapshotAnnotation[];
  /** The allocator's settings, in PyTorch's names. */
  readonly settings: Readonly<Record<string, unknown>>;

  /** @ignore Makes a snapshot of its contents. */
  constructor(parts: Parts<SnapshotContents & { readonly name: string }>) {
    const { name, segments, events, annotations, settings } = partsOf(parts, new.target);
    this.name = name;
    this.segments = segments;
    this.events = events;
    this.annotations = annotations;
    this.settings = settings;
    this.devices = devicesOf(this);
  }

  /** Bytes taken from the driver on all devices. */
  get reservedBytes(): number {
    return this.#sum("reservedBytes");
  }

  /** Bytes of blocks that the program uses on all devices. */
  get allocatedBytes(): number {
    return this.#sum("allocatedBytes");
  }

  /** Bytes of the same blocks, and of those that a stream still uses, on all devices. */
  get activeBytes(): number {
    return this.#sum("activeBytes");
  }

  /**
   * Plots memory over time: an area for each of the 8 stacks that held most, and a line for the
   * memory taken from the driver. It counts the bytes that were asked for, as PyTorch's viewer does.
   *
   * @throws RangeError for a device that the snapshot does not have.
   */
  plotTimeline(options: SnapshotTimelineOptions = {}): Figure {
    options = TIMELINE_OPTIONS.read(options, "plotTimeline");
    return plotHistory(this, { ...this.#chosen(options, 8), axis: options.axis ?? "steps" });
  }

  /**
   * Plots the segments and the blocks in them, the largest segments first, with the 3 places that
   * hold most, bytes lost to rounding and free ones.
   *
   * @throws RangeError for a device that the snapshot does not have.
   */
  plotMap(options: SnapshotOptions = {}): Figure {
    return plotSegments(this, this.#chosen(SNAPSHOT_OPTIONS.read(options, "plotMap"), 3));
  }

  /** Plots the used part of each pool and stream, and the reasons why the rest is not used. */
  plotFragmentation(): Figure {
    return plotFragmentation(this);
  }

  /**
   * Lists the places in the program that hold memory, the largest first: 20 by default.
   *
   * @throws RangeError for a device that the snapshot does not have.
   */
  largestStacks(options: SnapshotOptions = {}): StackUsage[] {
    options = SNAPSHOT_OPTIONS.read(options, "largestStacks");
    const { device, stackCount } = this.#chosen(options, 20);
    const isAsked = ({ device: own }: SnapshotSegment) =>
      options.device === undefined || own === device;
    return usagesOf(this.segments.filter(isAsked)).slice(0, stackCount);
  }

  /**
   * Plots the places whose memory differs most between this snapshot and a later one.
   *
   * @throws TypeError when the other is no snapshot.
   */
  compare(later: MemorySnapshot): Figure {
    if (later instanceof MemorySnapshot) return plotComparison(this, later);
    throw new TypeError(
      `Cannot compare with ${describeValue(later)}: expected what await readMemorySnapshot() gives`,
    );
  }

  /** Returns its name and amounts: `MemorySnapshot a.pickle: 2 MiB of 4 MiB allocated, 9 steps`. */
  toString(): string {
    return `MemorySnapshot ${this.name}: ${summaryOf(this)}`;
  }

  #sum(amount: keyof SnapshotDevice): number {
    return this.devices.reduce((sum, device) => sum + device[amount], 0);
  }

  #chosen({ device, stackCount }: SnapshotOptions, usualCount: number) {
    const [fullest] = this.devices.toSorted((a, b) => b.reservedBytes - a.reservedBytes);
    const count = checkSize(stackCount ?? usualCount, "number of stacks");
    const chosen = this.devices.find((each) => each.device === device) ?? fullest;
    if (device === undefined || chosen?.device === device) {
      return { device: chosen?.device ?? 0, stackCount: count };
    }
    const known = this.devices.map((each) => each.device).join(", ") || "none";
    throw new RangeError(`Cannot find device ${device} in ${this.name}: it has ${known}`);
  }
}

comesFrom(MemorySnapshot, "readMemorySnapshot()");
show(MemorySnapshot, (snapshot) => ({
  title: snapshot.name,
  kind: "MemorySnapshot",
  summary: summaryOf(snapshot),
  parts: [
    ...snapshot.devices.map(deviceBar),
    ...stackTable(snapshot),
    ...note("plotTimeline(), plotMap() and plotFragmentation() draw it"),
  ],
}));

function summaryOf({ events, allocatedBytes, reservedBytes }: MemorySnapshot): string {
  const stepCount = events.reduce((sum, { length }) => sum + length, 0);
  return `${formatBytes(allocatedBytes)} of ${formatBytes(reservedBytes)} allocated, ` +
    formatCount(stepCount, "step");
}

function stackTable({ segments, activeBytes }: MemorySnapshot): CardPart[] {
  const usages = usagesOf(segments);
  if (usages.length === 0) return [];
  const rows = usages.slice(0, 10).map(({ stack, count, byteLength }) => ({
    cells: [stack.name, String(count), formatBytes(byteLength)],
    share: byteLength / Math.max(1, activeBytes),
  }));
  return [
    table({ "allocated at": "left", blocks: "right", size: "right" }, rows),
    ...hiddenNote(usages.length - rows.length),
  ];
}

function deviceBar(
  { device, reservedBytes, allocatedBytes, activeBytes }: SnapshotDevice,
): CardPart {
  return {
    type: "bar",
    caption: `device ${device}`,
    segments: [
      segment("allocated", allocatedBytes, "solid"),
      segment("a stream still uses it", activeBytes - allocatedBytes, "hatched"),
      segment("free", reservedBytes - activeBytes, "empty"),
    ],
  };
}
