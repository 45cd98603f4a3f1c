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
  const kinds = new Map(
    [...told.values(), OTHERS, PENDING, ROUNDING, SMALL, "free"].map((name) => [
      name,
      { isEmpty: name === "free", bars: [] as ByteBar[] },
    ]),
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
        const bars = kinds.get(isSmall ? SMALL : kind)?.bars ?? [];
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
  const groups = Map.groupBy(
    snapshot.segments,
    ({ device, pool, stream }) =>
      `${snapshot.devices.length > 1 ? `device ${device}, ` : ""}${queueName(pool, stream)}`,
  );
  const all = [...groups].map(([name, segments]) => ({ name, ...usesOf(segments) }))
    .sort((a, b) => b.totalBytes - a.totalBytes);
  const rows = all.slice(0, MAX_ROWS);
  const kinds = ["asked for and in use", ROUNDING, PENDING, "free between blocks", "free segments"];
  const free = snapshot.reservedBytes - snapshot.activeBytes;
  return barFigure({
    title: `Fragmentation: ${snapshot.name}`,
    subtitle: `${formatBytes(free)} of ${formatBytes(snapshot.reservedBytes)} free; ` +
      "torch.cuda.empty_cache() gives back free segments",
    mode: "stack",
    rowHeight: 30,
    rows: rows.map(({ name }) => name),
    kinds: new Map(kinds.map((kind, index) => [kind, {
      isEmpty: index === 4,
      bars: rows.map(({ name, uses, largestFreeBytes }, row) => ({
        row,
        byteLength: uses[index] ?? 0,
        words: [
          name,
          `${kind}: ${formatBytes(uses[index] ?? 0)}`,
          `largest free block: ${formatBytes(largestFreeBytes)}`,
        ],
      })),
    }])),
    words: rows.map(({ name, uses, totalBytes, largestFreeBytes }) =>
      `${name}: ${formatBytes((uses[3] ?? 0) + (uses[4] ?? 0))} of ${
        formatBytes(totalBytes)
      } free, ` +
      `the largest free block has ${formatBytes(largestFreeBytes)}.`
    ),
  });
}

/** Adds up the bytes of segments: asked for, rounding, pending, free beside others, free alone. */
function usesOf(segments: readonly SnapshotSegment[]) {
  const uses = [0, 0, 0, 0, 0];
  const add = (use: number, byteLength: number) => uses[use] = (uses[use] ?? 0) + byteLength;
  let [totalBytes, largestFreeBytes] = [0, 0];
  for (const { byteLength, blocks } of segments) {
    totalBytes += byteLength;
    const isUsed = blocks.some(({ state }) => state !== "free");
    for (const { state, byteLength, requestedBytes } of blocks) {
      if (state === "pending") add(2, byteLength);
      else if (state === "free") {
        add(isUsed ? 3 : 4, byteLength);
        largestFreeBytes = Math.max(largestFreeBytes, byteLength);
      } else {
        add(0, requestedBytes);
        add(1, byteLength - requestedBytes);
      }
    }
  }
  return { uses, totalBytes, largestFreeBytes };
}

/** Plots the places whose bytes differ most between two snapshots. */
export function plotComparison(before: SnapshotFacts, after: SnapshotFacts): Figure {
  const places = new Map<string, { readonly stack: SnapshotStack; readonly bytes: number[] }>();
  for (const [index, snapshot] of [before, after].entries()) {
    for (const { stack, byteLength } of usagesOf(snapshot.segments)) {
      const place = places.getOrInsertComputed(
        JSON.stringify(stack.frames),
        () => ({ stack, bytes: [0, 0] }),
      );
      place.bytes[index] = byteLength;
    }
  }
  const differenceOf = ([was = 0, is = 0]: readonly number[]) => is - was;
  const all = [...places.values()].sort((a, b) =>
    Math.abs(differenceOf(b.bytes)) - Math.abs(differenceOf(a.bytes)) ||
    (b.bytes[1] ?? 0) - (a.bytes[1] ?? 0)
  );
  const rows = all.slice(0, MAX_COMPARED);
  const [was, is] = [before, after].map(({ activeBytes }) => formatBytes(activeBytes));
  const changeOf = (bytes: readonly number[]) => {
    const change = differenceOf(bytes);
    return change === 0 ? "the same" : `${change < 0 ? "−" : "+"}${formatBytes(Math.abs(change))}`;
  };
  const names = before.name === after.name ? ["before", "after"] : [before.name, after.name];
  return barFigure({
    title: "Two snapshots by place",
    subtitle: `${was}, then ${is}, at ${formatCount(all.length, "place")}`,
    mode: "group",
    rowHeight: 38,
    rows: rows.map(({ stack, bytes }) => `${cut(stack.name, MAX_NAME_LENGTH)}\n${changeOf(bytes)}`),
    kinds: new Map(names.map((name, index) => [name, {
      isEmpty: false,
      bars: rows.map(({ stack, bytes }, row) => ({
        row,
        byteLength: bytes[index] ?? 0,
        words: [`${formatBytes(bytes[index] ?? 0)}, ${changeOf(bytes)}`, ...linesOf(stack)],
      })),
    }])),
    words: rows.map(({ stack, bytes }) =>
      `${stack.name}: ${bytes.map(formatBytes).join(", then ")}, ${changeOf(bytes)}.`
    ),
  });
}
