// A figure as static SVG with no browser: plotly.js runs in jsdom, which has no layout engine.
// Text boxes are estimated instead, and the few browser parts that plotly asks for are stood in.

import { escapeHtml } from "../cards/html.ts";
import { describeNumber } from "../words/format.ts";
import type { FigureParts } from "./figure_html.ts";
import { loadPackage } from "./package_loading.ts";
import { canvasMethods } from "./picture_canvas.ts";
import { type PlotlyValidator, requireAttributes } from "./plot_mistakes.ts";
import { plotlySource } from "./plotly.ts";
import { localBox, type MeasuredElement, pictureBox } from "./svg_text_boxes.ts";
import { pathLength, pointOnPath } from "./svg_paths.ts";
import { bundleFor, type PlotlyBundle, webglTypes } from "./trace_types.ts";

/** The size of a static picture, in CSS pixels. */
export interface PictureSize {
  /** Defaults to the layout's width, or 800. */
  readonly width: number;
  /** Defaults to the layout's height, or 450. */
  readonly height: number;
}

/** No literal in import(), for which Deno would fetch 25 MB with every import of the entry. */
const DOM_LIBRARY: string = "npm:jsdom@31.0.1";

/** Names the part of jsdom's window that is used here, because jsdom ships no types. */
interface PlotWindow {
  readonly document: { getElementById(id: string): unknown };
  readonly URL: { createObjectURL?: () => string };
  readonly HTMLCanvasElement: { prototype: object };
  readonly SVGElement: { prototype: object };
  readonly Plotly: PlotlyValidator & {
    newPlot(host: unknown, ...figure: unknown[]): Promise<unknown>;
    toImage(host: unknown, options: Record<string, unknown>): Promise<string>;
  };
  matchMedia?: () => unknown;
  eval(source: string): void;
  close(): void;
}

/** The longest side of a picture, in CSS pixels, which browsers draw. */
const MAX_PIXELS = 65_535;

/** Draws a figure as an SVG document whose title element holds the description. */
export async function staticSvg(
  figure: FigureParts,
  size: Partial<PictureSize> = {},
): Promise<string> {
  const { width = figure.layout.width ?? 800, height = figure.layout.height ?? 450 } = size;
  requirePixels(width);
  requirePixels(height);
  const webgl = webglTypes(figure.data);
  if (webgl.length > 0) {
    throw new Error(
      `Cannot draw a picture of ${webgl.join(", ")}: it needs WebGL, as browsers have; toPage() ` +
        "makes a page for one",
    );
  }
  using page = await openPlotPage(bundleFor(figure.data));
  const { document, Plotly } = page.window;
  requireAttributes(Plotly, figure);
  const host = document.getElementById("host");
  // plotly changes the objects that it is given; the figure's own must stay as they are.
  const { data, layout } = structuredClone({ data: figure.data, layout: figure.layout });
  await Plotly.newPlot(host, data, { ...layout, width, height }, { staticPlot: true });
  const svg = await Plotly.toImage(host, { format: "svg", imageDataOnly: true, width, height });
  return svg.replace(
    /<svg[^>]*>/,
    (tag) => `${tag}<title>${escapeHtml(figure.description)}</title>`,
  );
}

/**
 * Checks the attributes of a figure.
 *
 * @throws TypeError for those that plotly.js does not have.
 */
export async function checkFigure(figure: FigureParts): Promise<void> {
  using page = await openPlotPage(bundleFor(figure.data));
  requireAttributes(page.window.Plotly, figure);
}

/** The width and height that plotly.js draws. */
function requirePixels(size: unknown): void {
  if (typeof size === "number" && size >= 1 && size <= MAX_PIXELS) return;
  throw new RangeError(
    `Cannot draw a picture with a side of ${describeNumber(size)}: expected 1 to ${MAX_PIXELS} ` +
      "pixels",
  );
}

async function openPlotPage(
  bundle: PlotlyBundle,
): Promise<Disposable & { readonly window: PlotWindow }> {
  const [{ JSDOM }, source, canvas] = await Promise.all([
    loadPackage("jsdom", import(DOM_LIBRARY)),
    plotlySource(bundle),
    canvasMethods(),
  ]);
  const options = { runScripts: "outside-only", pretendToBeVisual: true };
  const window: PlotWindow = new JSDOM(`<div id="host"></div>`, options).window;
  addMissingBrowserParts(window);
  Object.assign(window.HTMLCanvasElement.prototype, canvas);
  window.eval(source);
  return { window, [Symbol.dispose]: () => window.close() };
}

function addMissingBrowserParts(window: PlotWindow): void {
  const ignore = (): void => {};
  window.matchMedia = () => ({ matches: false, addListener: ignore, removeListener: ignore });
  window.URL.createObjectURL = () => "";
  Object.assign(window.SVGElement.prototype, TEXT_MEASURES);
}

/** Estimates of sizes, as methods of an SVG element. */
const TEXT_MEASURES = {
  getBBox(this: MeasuredElement) {
    return localBox(this);
  },
  getBoundingClientRect(this: MeasuredElement) {
    return pictureBox(this);
  },
  getComputedTextLength(this: MeasuredElement) {
    return localBox(this).width;
  },
  getTotalLength(this: MeasuredElement) {
    return pathLength(this.getAttribute("d") ?? "");
  },
  getPointAtLength(this: MeasuredElement, length: number) {
    return pointOnPath(this.getAttribute("d") ?? "", length);
  },
};
