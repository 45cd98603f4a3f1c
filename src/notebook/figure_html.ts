// A figure as plain data and as HTML: a fragment that waits for plotly.js, and a whole page that contains
// it. Text outside plotly uses the page's colour, so it is readable in light and dark themes.

import { escapeHtml } from "../cards/html.ts";
import { describeValue } from "../words/format.ts";
import { isPromiseLike, isRecord } from "../words/options.ts";
import type { PlotConfig, PlotLayout, Trace } from "./plot_data.ts";
import { isReady, plotlyScript } from "./plotly.ts";
import { bundleFor, webglTypes } from "./trace_types.ts";

/** A plotly figure and its description. */
export interface FigureParts {
  readonly data: Trace[];
  readonly layout: PlotLayout;
  readonly config: PlotConfig;
  readonly description: string;
}

const DEFAULT_HEIGHT = 420;

const PAGE_STYLE = `
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 1100px; padding: 16px; background: Canvas; color: CanvasText;
  font: 14px/1.5 system-ui, sans-serif; }
details { margin: 8px; }
details p { white-space: pre-line; }
`;

/** The picture that is shown until plotly.js draws, and where no script runs. */
export interface Stand {
  /** The picture as an SVG document; without one the description is shown. */
  readonly picture?: string;
  /** The reason why something is missing. */
  readonly note?: string;
}

/**
 * Builds an element that draws the figure once `window.Plotly` exists.
 * Until then, and wherever scripts are not run, it shows a picture or the description.
 */
export function figureFragment(figure: FigureParts, { picture, note }: Stand = {}): string {
  const id = `figure-${crypto.randomUUID()}`;
  const height = figure.layout.height ?? DEFAULT_HEIGHT;
  const words = escapeHtml(figure.description);
  const { data, layout, config } = figure;
  const missing = note === undefined ? "" : `<p>${escapeHtml(note)}</p>`;
  const room = picture === undefined ? ` style="min-height:${height}px"` : "";
  const stand = picture === undefined
    ? `<p style="white-space:pre-line">${words}</p>${missing}`
    : `<img alt="${words}" style="max-width:100%;height:auto" src="${svgUrl(picture)}">${missing}`;
  return `<style>${themeRule(id)}</style>
<div id="${id}" role="img" aria-label="${words}"${room}>
${stand}</div>
<script>${drawScript(id, scriptJson({ data, layout, config }), isReady(bundleFor(data)))}</script>`;
}

/** An SVG as a data URL: inside HTML, JupyterLab's sanitiser keeps it only as an image. */
function svgUrl(svg: string): string {
  return `data:image/svg+xml;base64,${new TextEncoder().encode(svg).toBase64()}`;
}

/** Builds a self-contained HTML document: it draws with no network, and forbids itself any. */
export async function figurePage(title: string, figure: FigureParts): Promise<string> {
  const { data, description } = figure;
  const body = `<main>
${figureFragment(figure)}
<details><summary>In words</summary><p>${escapeHtml(description)}</p></details>
</main>`;
  return await plotPage({ title, style: PAGE_STYLE, data, body });
}

/**
 * Builds a page that has plotly.js for these traces. It forbids itself to fetch anything: it needs only its
 * inline code and the pictures it makes. What plotly.js draws by WebGL it also compiles.
 */
export async function plotPage({ title, style, data = [], body }: {
  readonly title: string;
  readonly style: string;
  readonly data?: readonly Trace[];
  readonly body: string;
}): Promise<string> {
  const scripts = webglTypes(data).length > 0 ? "'unsafe-inline' 'unsafe-eval'" : "'unsafe-inline'";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${scripts}; style-src 'unsafe-inline'; img-src data: blob:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
${await plotlyScript(bundleFor(data))}
</head>
<body>
${body}
</body>
</html>
`;
}

/** Writes a value as JSON that is safe inside a script element, whatever its texts contain. */
function scriptJson(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll("<", "\\u003c")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
}

/** Overrules plotly's inline fill for titles, legend, labels and ticks, but not for hover boxes. */
function themeRule(id: string): string {
  const layers = [".infolayer", ".xaxislayer-above", ".yaxislayer-above", ".shape-group"];
  const texts = layers.map((layer) => `#${id} ${layer} text`);
  return `${texts.join(",")}{fill:currentColor!important}`;
}

/** Polls, because a notebook may attach the element or run the runtime after this script. */
function drawScript(id: string, figure: string, ready: string): string {
  return `(function () {
  var figure = ${figure}, triesLeft = 200;
  function draw() {
    var host = document.getElementById("${id}");
    if (!host || !${ready}) {
      if (triesLeft-- > 0) setTimeout(draw, 50);
      return;
    }
    host.textContent = "";
    window.Plotly.newPlot(host, figure.data, figure.layout, figure.config);
  }
  draw();
})();`;
}

/**
 * Copies a figure's parts, with typed arrays replaced by arrays of numbers, and BigInts by numbers: JSON
 * turns typed arrays into objects with a key for each element, and fails for BigInts.
 *
 * @throws TypeError for promises, buffers and cyclic values.
 */
export function plainFigure({ description, ...parts }: FigureParts): FigureParts {
  return { ...plain(parts, []) as Omit<FigureParts, "description">, description };
}

/** Copies a value nested in these others. */
function plain(value: unknown, around: readonly unknown[]): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null) return value;
  if (around.includes(value)) throw new TypeError("Cannot draw a figure: a part contains itself");
  if (
    isPromiseLike(value) || typeof (value as Partial<Disposable>)[Symbol.dispose] === "function"
  ) {
    throw new TypeError(
      `Cannot draw a figure with ${describeValue(value)}: expected numbers, such as ` +
        `await buffer.download() gives`,
    );
  }
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return Array.from(value as unknown as ArrayLike<number | bigint>, Number);
  }
  const within = [...around, value];
  if (Array.isArray(value)) return value.map((each) => plain(each, within));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, plain(each, within)]),
  );
}
