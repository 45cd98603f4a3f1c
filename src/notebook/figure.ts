// Figure: a plotly figure as plain data that draws itself in notebooks, pages and static pictures.
// Change `data`, `layout` or `config` as you like before it is shown.

import { inNotebook } from "../accounting/notebook_kernel.ts";
import { errorCard } from "../cards/error_card.ts";
import { showCard } from "../cards/show_card.ts";
import { formatCount, messageOf } from "../words/format.ts";
import { listOf, NUMBER, OptionSet, RECORD, TEXT } from "../words/options.ts";
import {
  figureFragment,
  figurePage,
  type FigureParts,
  plainFigure,
  type Stand,
} from "./figure_html.ts";
import type { PlotConfig, PlotLayout, Trace } from "./plot_data.ts";
import { GRID_COLOR } from "./plot_frame.ts";
import { givePlotlyToPage } from "./plotly.ts";
import { checkFigure, type PictureSize, staticSvg } from "./static_svg.ts";
import { bundleFor, requireTraceTypes, webglTypes } from "./trace_types.ts";

/** The colour of text without a page's own: readable on white (4.3:1) and on near-black (4.4:1). */
const NEUTRAL_INK = "#757b84";
/** The colour of the active tool; by default plotly uses white on a transparent background. */
const ACTIVE = "#2f81c7";
const CLEAR = "rgba(0,0,0,0)";
/** The colours of axes that a figure does not set; plotly's defaults glare on a dark page. */
const AXIS = { gridcolor: GRID_COLOR, zerolinecolor: GRID_COLOR };
/** The colour of a sankey's links; on a clear background plotly takes white. */
const LINK = { link: { color: "rgba(128,128,128,0.35)" } };

/** Buttons to leave out: one sends the data to a foreign server, the others select points. */
const UNWANTED_BUTTONS = ["sendChartToCloud", "select2d", "lasso2d"];

/** The parts of a {@link Figure}. */
export interface FigureOptions {
  /**
   * The traces, as plotly.js takes them; typed arrays, as {@link GpuBuffer.download} gives them, are
   * drawn like lists, and BigInts like numbers.
   */
  readonly data: Trace[];
  /** Everything around the traces, with titles as `{ text }`; colours have defaults. */
  readonly layout?: PlotLayout | undefined;
  /** Behaviour of the drawn plot; it fills its container's width unless told otherwise. */
  readonly config?: PlotConfig | undefined;
  /** Description of the figure, for people who cannot see it; its title by default. */
  readonly description?: string | undefined;
}

const FIGURE_OPTIONS = new OptionSet<FigureOptions>({
  data: listOf(RECORD),
  layout: RECORD,
  config: RECORD,
  description: TEXT,
});

const PICTURE_SIZE = new OptionSet<PictureSize>({ width: NUMBER, height: NUMBER });

/**
 * A plotly figure, as the plot functions return it. As a cell's last expression it draws itself; on
 * a console it prints its description. Change `data`, `layout` or `config` before showing it. It has
 * every type of trace of plotly.js but those that fetch maps; a type that is misspelt is refused at
 * once, and an attribute where a cell shows the figure, or `toSVG()` draws it.
 */
export class Figure {
  /** The traces, as plotly.js takes them. */
  data: Trace[];
  /** Axes, titles, legend and colours. */
  layout: PlotLayout;
  /** Behaviour of the drawn plot. */
  config: PlotConfig;
  readonly #description: string;

  /**
   * Creates a figure, whose missing colours are readable on light and dark pages.
   *
   * @throws TypeError for a type of trace that plotly.js does not have, or that fetches maps.
   */
  constructor(options: FigureOptions) {
    options = FIGURE_OPTIONS.read(options, "new Figure");
    FIGURE_OPTIONS.requireThese(["data"], options, "new Figure");
    const { data, layout = {}, config = {}, description } = options;
    requireTraceTypes(data);
    this.data = data;
    this.layout = {
      autosize: true,
      paper_bgcolor: CLEAR,
      plot_bgcolor: CLEAR,
      template: { layout: { xaxis: AXIS, yaxis: AXIS }, data: { sankey: [LINK] } },
      modebar: { bgcolor: CLEAR, color: NEUTRAL_INK, activecolor: ACTIVE },
      ...layout,
      font: { family: "system-ui, sans-serif", size: 12, color: NEUTRAL_INK, ...layout.font },
    };
    this.config = {
      responsive: true,
      displaylogo: false,
      modeBarButtonsToRemove: [...UNWANTED_BUTTONS],
      ...config,
    };
    this.#description = description ?? describePlot(data, layout);
  }

  /** Returns the description of the figure. */
  describe(): string {
    return this.#description;
  }

  /** Returns HTML for a page that has plotly.js; without it the description is shown. */
  toHTML(): string {
    return figureFragment(this.#parts());
  }

  /**
   * Returns a self-contained HTML document that draws the figure without a network. It checks the types of
   * traces and, as it loads nothing for that, no attributes: `toSVG()` does.
   */
  async toPage(title: string): Promise<string> {
    return await figurePage(title, this.#parts());
  }

  /**
   * Returns a static SVG picture, drawn without a browser. The first call loads jsdom, which reads
   * the environment: a program needs --allow-env for it.
   *
   * @throws TypeError for attributes that plotly.js does not have, with the names that are near.
   * @throws Error for a type that only a browser draws, by WebGL, such as `"surface"`.
   */
  async toSVG(size: Partial<PictureSize> = {}): Promise<string> {
    return await staticSvg(this.#parts(), PICTURE_SIZE.read(size, "toSVG"));
  }

  /**
   * Returns the bundle for a notebook: the picture and the script that replaces it, the plotly data
   * for front ends that draw it, and the description. It says in words what could not be loaded, and
   * which attributes plotly.js does not have.
   */
  async [Symbol.for("Jupyter.display")](): Promise<Record<string, unknown>> {
    let stand: Stand;
    let parts: FigureParts;
    try {
      parts = this.#parts();
      stand = await this.#stand(parts);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return { ...showCard(() => errorCard(error)) };
    }
    const { data, layout, config } = parts;
    return {
      "text/html": figureFragment(parts, stand),
      "application/vnd.plotly.v1+json": { data, layout, config },
      "text/plain": this.#description,
    };
  }

  async #stand(parts: FigureParts): Promise<Stand> {
    const webgl = webglTypes(parts.data);
    try {
      if (inNotebook()) await givePlotlyToPage(bundleFor(parts.data));
      if (webgl.length === 0) return { picture: await staticSvg(parts) };
      await checkFigure(parts);
      return { note: `There is no picture without scripts: ${webgl.join(", ")} needs WebGL` };
    } catch (error) {
      if (error instanceof TypeError) throw error;
      return { note: `The plot cannot be drawn: ${messageOf(error).split("\n")[0]}` };
    }
  }

  /** Returns the description; see {@link Figure.describe}. */
  toString(): string {
    return this.#description;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.#description;
  }

  #parts(): FigureParts {
    const { data, layout, config } = this;
    requireTraceTypes(data);
    return plainFigure({ data, layout, config, description: this.#description });
  }
}

/** Describes a figure without a description of its own, by its title or the names of its traces. */
function describePlot(data: readonly Trace[], { title }: PlotLayout): string {
  const text = typeof title === "object" && title !== null && "text" in title ? title.text : title;
  if (typeof text === "string" && text !== "") return text;
  const names = data.map(({ name, type }) => name ?? type ?? "scatter");
  return `a plot of ${formatCount(data.length, "trace")}: ${names.join(", ")}`;
}
