// plotMemoryMap(): live memory as rectangles whose areas are sizes, largest first. The basic bundle
// of plotly.js has no treemap, so each block is a filled outline.

import type { Annotations, PlotData } from "npm:@types/plotly.js@3.0.14";
import { escapeHtml } from "../cards/html.ts";
import type { CudaDevice } from "../device/device.ts";
import type { LiveObject } from "../device/live_query.ts";
import { cut, formatBytes, formatCount, formatSeconds } from "../words/format.ts";
import { requireKind } from "../words/options.ts";
import { Figure } from "./figure.ts";
import { hueAt, patternAt, plotFrame } from "./plot_frame.ts";
import { DEVICE } from "./plot_input.ts";
import { type Rectangle, squarify } from "./treemap.ts";

const PLOT_HEIGHT = 380;
/** Width of the space that is divided, in units of its own; the plot has the width of the page. */
const SPACE_WIDTH = 720;
/** Width in pixels to which labels are fitted: that of a narrow page. */
const NARROW_WIDTH = 560;
const SHOWN_BLOCKS = 60;
const GLYPH_WIDTH = 8;
const LINE_HEIGHT = 17;

/** One rectangle: a block, or several that are shown together. */
interface Tile {
  readonly name: string;
  readonly kind: string;
  readonly byteLength: number;
  readonly hover: string;
  readonly place: Rectangle;
}

/** Plots live memory by label, on the device and on the host. */
export function plotMemoryMap(gpu: CudaDevice): Figure {
  requireKind(gpu, DEVICE, "plotMemoryMap");
  const blocks = [...gpu.live()].filter(({ byteLength }) => byteLength > 0);
  const tiles = layTiles(blocks);
  const kinds = [...new Set(tiles.map(({ kind }) => kind))];
  const total = blocks.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const subtitle = blocks.length === 0
    ? "nothing is held"
    : `${formatBytes(total)} in ${formatCount(blocks.length, "block")}; areas are sizes`;
  return new Figure({
    data: tiles.map((tile, index) => tileTrace(tile, { tiles, kinds, index })),
    layout: {
      ...plotFrame({
        title: `Live memory: ${gpu.name}`,
        subtitle,
        plotHeight: PLOT_HEIGHT,
        left: 16,
        axisHeight: 12,
        legendNames: kinds,
        annotations: tiles.flatMap(tileLabel),
      }),
      xaxis: { visible: false, range: [0, SPACE_WIDTH], fixedrange: true },
      yaxis: { visible: false, range: [0, PLOT_HEIGHT], fixedrange: true },
    },
    description: [
      `Live memory on ${gpu.name}: ${subtitle}.`,
      ...tiles.map(({ name, kind, byteLength }) => `${name}: ${formatBytes(byteLength)}, ${kind}.`),
    ].join("\n"),
  });
}

function layTiles(blocks: readonly LiveObject[]): Tile[] {
  const facts = blocks.length <= SHOWN_BLOCKS
    ? blocks.map((block) => ({ ...block, hover: hoverText(block) }))
    : alike(blocks);
  const sorted = facts.toSorted((a, b) => b.byteLength - a.byteLength);
  const shown = sorted.slice(0, SHOWN_BLOCKS);
  const rest = sorted.slice(SHOWN_BLOCKS);
  const all = rest.length === 0 ? shown : [...shown, together("smaller blocks", "small", rest)]
    .sort((a, b) => b.byteLength - a.byteLength);
  const space = { left: 0, bottom: 0, width: SPACE_WIDTH, height: PLOT_HEIGHT };
  const places = squarify(all.map(({ byteLength }) => byteLength), space);
  return all.flatMap((fact, index) => {
    const place = places[index];
    return place === undefined ? [] : [{ ...fact, place }];
  });
}

type TileFacts = Omit<Tile, "place">;

/** Joins blocks, when there are many, whose names differ only in numbers, as layers' do. */
function alike(blocks: readonly LiveObject[]): TileFacts[] {
  const groups = Map.groupBy(
    blocks,
    ({ name, kind }) => `${kind} ${name.replaceAll(/\d+/g, "*")}`,
  );
  return [...groups.values()].map((group) => {
    const [block] = group as [LiveObject]; // a group is never empty
    if (group.length === 1) return { ...block, hover: hoverText(block) };
    return together(block.name.replaceAll(/\d+/g, "*"), block.kind, group);
  });
}

function together(
  name: string,
  kind: string,
  blocks: readonly Pick<LiveObject, "byteLength">[],
): TileFacts {
  const byteLength = blocks.reduce((sum, block) => sum + block.byteLength, 0);
  const title = `${blocks.length} × ${name}`;
  const hover = `<b>${escapeHtml(title)}</b><br>${formatBytes(byteLength)} of ${kind} memory`;
  return { name: title, kind, byteLength, hover };
}

function tileTrace(
  { kind, hover, place }: Tile,
  { tiles, kinds, index }: {
    readonly tiles: readonly Tile[];
    readonly kinds: readonly string[];
    readonly index: number;
  },
): Partial<PlotData> {
  const { left, bottom, width, height } = place;
  const look = kinds.indexOf(kind);
  const color = hueAt(look);
  return {
    type: "scatter",
    mode: "lines",
    name: kind,
    legendgroup: kind,
    showlegend: tiles.findIndex((tile) => tile.kind === kind) === index,
    x: [left, left + width, left + width, left, left],
    y: [bottom, bottom, bottom + height, bottom + height, bottom],
    fill: "toself",
    fillcolor: `${color}33`,
    fillpattern: { shape: patternAt(look), fgcolor: `${color}55`, size: 12, solidity: 0.2 },
    line: { color, width: 1.5 },
    hoveron: "fills",
    text: hover,
    hoverinfo: "text",
  } as Partial<PlotData>; // the types know text only as a list, and no fillpattern
}

/** Returns the label of a tile that has room for its name and size. */
function tileLabel({ name, byteLength, place }: Tile): Partial<Annotations>[] {
  const { left, bottom, width, height } = place;
  const room = Math.floor((width * NARROW_WIDTH / SPACE_WIDTH - 8) / GLYPH_WIDTH);
  const lineCount = Math.floor(height / LINE_HEIGHT) - 1; // the size is the last one
  const size = formatBytes(byteLength);
  if (lineCount < 1 || room < Math.max(size.length, 4)) return [];
  const lines = linesOf(name, { room, lineCount }).map(escapeHtml);
  return [{
    text: `<b>${lines.join("<br>")}</b><br>${size}`,
    x: left + width / 2,
    y: bottom + height / 2,
    showarrow: false,
    font: { size: 12 },
  }];
}

/** Breaks a name into lines after underscores, dots and the like; cuts off what has no room. */
function linesOf(
  name: string,
  { room, lineCount }: { readonly room: number; readonly lineCount: number },
): string[] {
  const lines: string[] = [];
  for (const piece of name.split(/(?<=[\s_./-])/)) {
    const longer = (lines.at(-1) ?? "") + piece;
    if (lines.length > 0 && longer.trimEnd().length <= room) lines.splice(-1, 1, longer);
    else lines.push(piece);
  }
  const shown = lines.slice(0, lineCount).map((line) => cut(line.trimEnd(), room));
  const last = shown.at(-1) ?? "";
  return lines.length > lineCount ? [...shown.slice(0, -1), cut(`${last}…`, room)] : shown;
}

function hoverText({ name, kind, byteLength, ageSeconds, origin }: LiveObject): string {
  const made = origin === undefined ? "" : ` at ${escapeHtml(origin)}`;
  return `<b>${escapeHtml(name)}</b><br>${formatBytes(byteLength)} of ${kind} memory<br>` +
    `made ${formatSeconds(ageSeconds)} ago${made}`;
}
