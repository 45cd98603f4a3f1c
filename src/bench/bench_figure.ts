// Bars of the speeds of a run of benches: a panel for each direction, a group of bars for each size.

import type { Layout } from "npm:@types/plotly.js@3.0.14";
import { Figure } from "../notebook/figure.ts";
import type { Trace } from "../notebook/plot_data.ts";
import {
  hueAt,
  LEGEND,
  patternAt,
  plainAxis,
  plotFrame,
  RULE_COLOR,
} from "../notebook/plot_frame.ts";
import { formatBytes } from "../words/format.ts";
import type { BenchDirection } from "./bench_name.ts";
import type { BenchRun, BenchSpeed } from "./bench_results.ts";

const PANEL_HEIGHT = 300;
/** Room between panels, for the axis of one and the legend of the next. */
const PANEL_GAP = 124;
const LEGEND_HEIGHT = 60;
const TITLES = {
  up: "to the device",
  down: "to the host",
  device: "on the device",
  none: "other",
} as const satisfies Record<BenchDirection | "none", string>;

/** Name of the device that the simulated driver shows. */
export const SIMULATED = "Simulated";

interface Panel {
  readonly title: string;
  readonly speeds: readonly BenchSpeed[];
}

/** Draws the speeds of a run; `words` describes the figure for people who cannot see it. */
export function benchFigure(run: BenchRun, words: string): Figure {
  const panels = panelsOf(run);
  const height = panels.length * PANEL_HEIGHT + (panels.length - 1) * PANEL_GAP;
  const names = [...new Set(run.speeds.map(({ name }) => name))];
  const devices = [...new Set(run.speeds.map(({ device }) => device))];
  const layout: Partial<Layout> = {
    ...plotFrame({
      title: `Transfers: ${devices.map(nameOfDevice).join(", ")}`,
      subtitle: `${run.runtime.split(" ")[0]}, ${run.cpu}; bars are averages, lines end at the ` +
        `fastest`,
      plotHeight: height,
      above: LEGEND_HEIGHT,
      left: 64,
    }),
    showlegend: true,
    barmode: "group",
  };
  const data: Trace[] = [];
  for (const [index, panel] of panels.entries()) {
    const axis = index === 0 ? "" : String(index + 1);
    const top = 1 - index * (PANEL_HEIGHT + PANEL_GAP) / height;
    Object.assign(layout, axesOf(panel, { axis, top, bottom: top - PANEL_HEIGHT / height }));
    for (const [name, speeds] of Map.groupBy(panel.speeds, ({ name }) => name)) {
      data.push(barsOf(speeds, { name, axis, position: names.indexOf(name) }));
    }
  }
  return new Figure({ data, layout: layout as never, description: words });
}

/** Returns the axes and the legend of a panel, by their names in the layout. */
function axesOf(
  { title, speeds }: Panel,
  { axis, top, bottom }: { readonly axis: string; readonly top: number; readonly bottom: number },
): Record<string, unknown> {
  const sizes = [...new Set(speeds.map(({ byteLength }) => byteLength))].sort((a, b) => a - b);
  return {
    [`xaxis${axis}`]: plainAxis(`bytes of one call, ${title}`, {
      anchor: `y${axis}` as "y",
      type: "category",
      categoryorder: "array",
      categoryarray: sizes.map((size) => formatBytes(size)),
    }),
    [`yaxis${axis}`]: plainAxis("GB/s", {
      anchor: `x${axis}` as "x",
      domain: [Math.max(0, bottom), top],
      rangemode: "tozero",
    }),
    [`legend${axis}`]: { ...LEGEND, y: top, yref: "paper" },
  };
}

/** Draws the speeds of one bench by size; `position` among all benches chooses its color. */
function barsOf(
  speeds: readonly BenchSpeed[],
  { name, axis, position }: {
    readonly name: string;
    readonly axis: string;
    readonly position: number;
  },
): Trace {
  return {
    type: "bar",
    name,
    legend: `legend${axis}`,
    x: speeds.map(({ byteLength }) => formatBytes(byteLength)),
    y: speeds.map(({ gigabytesPerSecond }) => gigabytesPerSecond),
    error_y: {
      type: "data",
      symmetric: false,
      array: speeds.map(({ fastest, gigabytesPerSecond }) => fastest - gigabytesPerSecond),
      arrayminus: speeds.map(({ usual, gigabytesPerSecond }) =>
        Math.max(0, gigabytesPerSecond - usual)
      ),
      thickness: 1,
      width: 2,
      color: RULE_COLOR,
    },
    marker: {
      color: hueAt(position),
      pattern: { shape: patternAt(Math.floor(position / 6)) },
    },
    hovertext: speeds.map(hoverText),
    hoverinfo: "text",
    xaxis: `x${axis}`,
    yaxis: `y${axis}`,
  };
}

function nameOfDevice(device: string): string {
  return device === SIMULATED ? `${device} (no number means a speed)` : device;
}

function panelsOf({ speeds }: BenchRun): Panel[] {
  const groups = Map.groupBy(speeds, ({ direction }) => direction ?? "none");
  return Object.entries(TITLES).flatMap(([direction, title]) => {
    const found = groups.get(direction as keyof typeof TITLES);
    return found === undefined ? [] : [{ title, speeds: found }];
  });
}

function hoverText(speed: BenchSpeed): string {
  const { name, byteLength, gigabytesPerSecond, fastest, usual, ceilingShare } = speed;
  const share = ceilingShare === undefined
    ? ""
    : `<br>${(100 * ceilingShare).toFixed(0)} % of page-locked memory's best`;
  return `${name}, ${formatBytes(byteLength)}<br>${gigabytesPerSecond.toPrecision(3)} GB/s (` +
    `${usual.toPrecision(3)} to ${fastest.toPrecision(3)})${share}`;
}
