// Bars of the speeds of a run of benches: a panel for each direction, a group of bars for each size.

import type { Layout } from "npm:@types/plotly.js@3.0.14";
import { Figure } from "../notebook/figure.ts";
import type { Trace } from "../notebook/plot_data.ts";
import { hueAt, patternAt, plainAxis, plotFrame, RULE_COLOR } from "../notebook/plot_frame.ts";
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

/** The benches of one panel. */
interface Panel {
  readonly title: string;
  readonly speeds: readonly BenchSpeed[];
}

/** Draws the speeds of a run; `words` is what it says to people who cannot see it. */
export function benchFigure(run: BenchRun, words: string): Figure {
  const panels = panelsOf(run);
  const height = panels.length * PANEL_HEIGHT + (panels.length - 1) * PANEL_GAP;
  const names = [...new Set(run.speeds.map(({ name }) => name))];
  const devices = [...new Set(run.speeds.map(({ device }) => device))];
  const layout: Partial<Layout> = {
    ...plotFrame({
      title: `Transfers of ${devices.join(", ")}`,
      subtitle: `${
        run.runtime.split(" ")[0]
      }, ${run.cpu}; averages, with the fastest and the usual`,
      plotHeight: height,
      above: LEGEND_HEIGHT,
      left: 64,
    }),
    showlegend: true,
    barmode: "group",
  };
  const data: Trace[] = [];
  for (const [index, { title, speeds }] of panels.entries()) {
    const top = 1 - index * (PANEL_HEIGHT + PANEL_GAP) / height;
    const axis = index === 0 ? "" : String(index + 1);
    const sizes = [...new Set(speeds.map(({ byteLength }) => byteLength))].sort((a, b) => a - b);
    Object.assign(layout, {
      [`xaxis${axis}`]: plainAxis(`bytes of one call, ${title}`, {
        anchor: `y${axis}` as "y",
        type: "category",
        categoryorder: "array",
        categoryarray: sizes.map((size) => formatBytes(size)),
      }),
      [`yaxis${axis}`]: plainAxis("GB/s", {
        anchor: `x${axis}` as "x",
        domain: [Math.max(0, top - PANEL_HEIGHT / height), top],
        rangemode: "tozero",
      }),
      [`legend${axis}`]: {
        orientation: "h",
        traceorder: "normal",
        x: 0,
        xref: "paper",
        xanchor: "left",
        y: top,
        yanchor: "bottom",
      },
    });
    for (const name of new Set(speeds.map((speed) => speed.name))) {
      const own = speeds.filter((speed) => speed.name === name);
      data.push({
        type: "bar",
        name,
        legend: `legend${axis}`,
        x: own.map(({ byteLength }) => formatBytes(byteLength)),
        y: own.map(({ gigabytesPerSecond }) => gigabytesPerSecond),
        error_y: {
          type: "data",
          symmetric: false,
          array: own.map(({ fastest, gigabytesPerSecond }) => fastest - gigabytesPerSecond),
          arrayminus: own.map(({ usual, gigabytesPerSecond }) =>
            Math.max(0, gigabytesPerSecond - usual)
          ),
          thickness: 1,
          width: 2,
          color: RULE_COLOR,
        },
        marker: {
          color: hueAt(names.indexOf(name)),
          pattern: { shape: patternAt(Math.floor(names.indexOf(name) / 6)) },
        },
        hovertext: own.map(hoverText),
        hoverinfo: "text",
        xaxis: `x${axis}`,
        yaxis: `y${axis}`,
      });
    }
  }
  return new Figure({ data, layout: layout as never, description: words });
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
