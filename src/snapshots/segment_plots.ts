// The plots of what a snapshot holds: the map of segments and blocks, fragmentation by pool and stream,
// and two snapshots beside each other.

import type { Figure } from "../notebook/figure.ts";
import { cut, formatAddress, formatBytes, formatCount } from "../words/format.ts";
import { barFigure, type ByteBar } from "./bar_figure.ts";
import { type SnapshotFacts, usagesOf } from "./snapshot_amounts.ts";
import type { SnapshotBlock, SnapshotSegment } from "./snapshot_form.ts";
import { linesOf, namesOf, type SnapshotStack } from "./stacks.ts";

const MAX_MAP_ROWS = 40;
const MAX_ROWS = 30;
const MAX_COMPARED = 14;
const MAX_NAME_LENGTH = 34;
/** Lines of a stack that a block shows: there are thousands of blocks. */
const SHOWN_LINES = 5;
/** Share of a row between two segments, and the share below which a block is drawn with the next. */
const GAP_SHARE = 0.006;
const MIN_SHARE = 0.0008;

const PENDING = "freed, a stream still uses it";
const ROUNDING = "lost to rounding";
const IN_USE = "asked for and in use";
const SPLIT = "free between blocks";
const FREE_SEGMENTS = "free segments";
const USES = [IN_USE, ROUNDING, PENDING, SPLIT, FREE_SEGMENTS] as const;
const OTHERS = "other places";
const SMALL = "small blocks";

/** Plots the segments of a device, the largest first, as many beside each other as fit. */
export function plotSegments(
  snapshot: SnapshotFacts,
  { device, stackCount }: { readonly device: number; readonly stackCount: number },
): Figure {
  const segments = snapshot.segments.filter((segment) => segment.device === device)
    .toSorted((a, b) => b.byteLength - a.byteLength);
  const largest = usagesOf(segments).slice(0, stackCount);
  const told = namesOf(largest.map(({ stack }) => stack));
  const kinds = new Map<string, ByteBar[]>(
    [...told.values(), OTHERS, PENDING, ROUNDING, SMALL, "free"].map((name) => [name, []]),
  );
  const width = Math.max(1, segments[0]?.byteLength ?? 1);
  let [row, left, hiddenCount] = [0, 0, 0];
  for (const segment of segments) {
    if (left > 0 && left + segment.byteLength > width) [row, left] = [row + 1, 0];
    if (row >= MAX_MAP_ROWS) {
      hiddenCount++;
      continue;
    }
    for (const block of segment.blocks) {
      const start = left + block.address - segment.address;
      const usedKind = block.state === "pending" ? PENDING : told.get(block.stack) ?? OTHERS;
      const restKind = block.state === "free" ? "free" : ROUNDING;
      const asked = block.requestedBytes;
      const pieces = [
        [usedKind, start, asked],
        [restKind, start + asked, block.byteLength - asked],
      ] as const;
      for (const [kind, start, byteLength] of pieces) {
        const isSmall = byteLength < MIN_SHARE * width;
        if (byteLength === 0 || isSmall && kind === ROUNDING) continue;
        const bars = kinds.get(isSmall ? SMALL : kind) ?? [];
        const last = isSmall ? bars.at(-1) : undefined;
        // Blocks that are too narrow to be seen are one bar, as far as they lie side by side.
        if (last?.row === row && start - (last.start ?? 0) - last.byteLength < MIN_SHARE * width) {
          const words = ["several small blocks", ...last.words.slice(-1)];
          const joinedBytes = start + byteLength - (last.start ?? 0);
          bars[bars.length - 1] = { ...last, byteLength: joinedBytes, words };
        } else bars.push({ row, start, byteLength, words: wordsOf(block, segment) });
      }
    }
    left += segment.byteLength + GAP_SHARE * width;
  }
  const own = snapshot.devices.find((each) => each.device === device);
  const hidden = hiddenCount === 0 ? "" : `, without the ${hiddenCount} smallest`;
  return barFigure({
    title: `Segments: ${snapshot.name}, device ${device}`,
    subtitle:
      `${formatBytes(own?.allocatedBytes ?? 0)} of ${formatBytes(own?.reservedBytes ?? 0)} ` +
      `allocated in ${formatCount(segments.length, "segment")}${hidden}`,
    mode: "overlay",
    rowHeight: 17,
    rows: Math.min(row + 1, MAX_MAP_ROWS),
    kinds,
    emptyKind: "free",
    words: largest.map(({ stack, byteLength, count }) =>
      `${stack.name}: ${formatBytes(byteLength)} in ${formatCount(count, "block")}.`
    ),
  });
}

function wordsOf(block: SnapshotBlock, { pool, stream, byteLength }: SnapshotSegment): string[] {
  const place = formatAddress(BigInt(Math.max(0, block.address)));
  const asked = block.byteLength === block.requestedBytes || block.state === "free"
    ? ""
    : `, ${formatBytes(block.requestedBytes)} asked for`;
  return [
    `${block.state}: ${formatBytes(block.byteLength)} at ${place}${asked}`,
    ...block.state === "free" ? [] : linesOf(block.stack).slice(0, SHOWN_LINES),
    `in a segment of ${formatBytes(byteLength)}, ${queueName(pool, stream)}`,
  ];
}

function queueName(pool: string, stream: number): string {
  return `${pool === "default" ? "default pool" : `pool ${pool}`}, ` +
    (stream === 0 ? "default stream" : `stream ${stream.toString(16)}`);
}

/** Plots for each pool and stream of all devices what is used, and why the rest is not. */
export function plotFragmentation(snapshot: SnapshotFacts): Figure {
  const { segments, devices, reservedBytes, activeBytes } = snapshot;
  const groups = Map.groupBy(segments, ({ device, pool, stream }) => {
    const queue = queueName(pool, stream);
    return devices.length > 1 ? `device ${device}, ${queue}` : queue;
  });
  const rows = [...groups].map(([name, own]) => ({ name, ...usesOf(own) }))
    .sort((a, b) => b.totalBytes - a.totalBytes).slice(0, MAX_ROWS);
  const kinds = new Map<string, ByteBar[]>(USES.map((use) => [use, []]));
  for (const [row, { name, uses, largestFreeBytes }] of rows.entries()) {
    let start = 0;
    for (const [use, bars] of kinds) {
      const byteLength = uses.get(use) ?? 0;
      const words = [name, `${use}: ${formatBytes(byteLength)}`, largestFree(largestFreeBytes)];
      bars.push({ row, start, byteLength, words });
      start += byteLength;
    }
  }
  return barFigure({
    title: `Fragmentation: ${snapshot.name}`,
    subtitle:
      `${formatBytes(reservedBytes - activeBytes)} of ${formatBytes(reservedBytes)} free; ` +
      "torch.cuda.empty_cache() gives back free segments",
    mode: "overlay",
    rowHeight: 30,
    rows: rows.map(({ name }) => name),
    kinds,
    emptyKind: FREE_SEGMENTS,
    words: rows.map(({ name, uses, totalBytes, largestFreeBytes }) => {
      const freeBytes = (uses.get(SPLIT) ?? 0) + (uses.get(FREE_SEGMENTS) ?? 0);
      return `${name}: ${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} free, ` +
        `${largestFree(largestFreeBytes)}.`;
    }),
  });
}

function largestFree(byteLength: number): string {
  return `largest free block: ${formatBytes(byteLength)}`;
}

/** Adds up the bytes of segments by their use. */
function usesOf(segments: readonly SnapshotSegment[]) {
  const uses = new Map<string, number>();
  const add = (use: string, bytes: number) => uses.set(use, (uses.get(use) ?? 0) + bytes);
  let [totalBytes, largestFreeBytes] = [0, 0];
  for (const { byteLength, blocks } of segments) {
    totalBytes += byteLength;
    const isFree = blocks.every(({ state }) => state === "free");
    for (const { state, byteLength, requestedBytes } of blocks) {
      if (state === "pending") add(PENDING, byteLength);
      else if (state === "allocated") {
        add(IN_USE, requestedBytes);
        add(ROUNDING, byteLength - requestedBytes);
      } else {
        add(isFree ? FREE_SEGMENTS : SPLIT, byteLength);
        largestFreeBytes = Math.max(largestFreeBytes, byteLength);
      }
    }
  }
  return { uses, totalBytes, largestFreeBytes };
}

/** Plots the places whose bytes differ most between two snapshots. */
export function plotComparison(before: SnapshotFacts, after: SnapshotFacts): Figure {
  const places = new Map<string, { readonly stack: SnapshotStack; was: number; is: number }>();
  for (const [snapshot, when] of [[before, "was"], [after, "is"]] as const) {
    for (const { stack, byteLength } of usagesOf(snapshot.segments)) {
      const none = { stack, was: 0, is: 0 };
      places.getOrInsertComputed(JSON.stringify(stack.frames), () => none)[when] = byteLength;
    }
  }
  const rows = [...places.values()].map(({ stack, was, is }) => {
    const sign = is < was ? "−" : "+";
    const size = Math.abs(is - was);
    const change = size === 0 ? "the same" : `${sign}${formatBytes(size)}`;
    return { stack, amounts: [was, is], is, size, change };
  }).sort((a, b) => b.size - a.size || b.is - a.is).slice(0, MAX_COMPARED);
  const [was, is] = [before, after].map(({ activeBytes }) => formatBytes(activeBytes));
  const names = before.name === after.name ? ["before", "after"] : [before.name, after.name];
  return barFigure({
    title: "Two snapshots by place",
    subtitle: `${was}, then ${is}, at ${formatCount(places.size, "place")}`,
    mode: "group",
    rowHeight: 38,
    rows: rows.map(({ stack, change }) => `${cut(stack.name, MAX_NAME_LENGTH)}\n${change}`),
    kinds: new Map(names.map((name, at) => [
      name,
      rows.map(({ stack, amounts, change }, row) => {
        const byteLength = amounts[at] ?? 0;
        return {
          row,
          byteLength,
          words: [`${formatBytes(byteLength)}, ${change}`, ...linesOf(stack)],
        };
      }),
    ])),
    words: rows.map(({ stack, amounts, change }) =>
      `${stack.name}: ${amounts.map(formatBytes).join(", then ")}, ${change}.`
    ),
  });
}
