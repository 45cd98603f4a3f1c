// The plotly.js runtime as text: inserted into pages and notebooks, and run by a browser, not by Deno.
// The smallest bundle that has a figure's types is used; a page that has a smaller one gets it as well.

import { displayInCell } from "../accounting/notebook_kernel.ts";
import { NOTHING_SHOWN } from "../cards/show_card.ts";
import { FLAG, OptionSet } from "../words/options.ts";
import { loadPackage } from "./package_loading.ts";
import { type PlotlyBundle, TYPE_OF_BUNDLE } from "./trace_types.ts";

/** No literal in import(), for which Deno would fetch 4.8 MB with every import of the entry. */
const FULL_BUNDLE: string = "./plotly_full.ts";

/**
 * Loads the source text of plotly.js; nothing is read before the first call. Deno fetches the smaller
 * package with whatever imports this file, because it finds a text in a package only by a literal.
 */
export async function plotlySource(bundle: PlotlyBundle): Promise<string> {
  if (bundle === "full") {
    const { source } = await loadPackage<{ source: string }>("plotly.js", import(FULL_BUNDLE));
    return source;
  }
  const { default: source } = await loadPackage(
    "plotly.js",
    import("npm:plotly.js-cartesian-dist-min@4.1.1/plotly-cartesian.min.js", {
      with: { type: "text" },
    }),
  );
  return source;
}

/** An expression in a page: whether it has a plotly.js that draws all that a bundle does. */
export function isReady(bundle: PlotlyBundle): string {
  const type = JSON.stringify(TYPE_OF_BUNDLE[bundle]);
  return `(window.Plotly&&(window.Plotly.vramkitTraces=window.Plotly.vramkitTraces||` +
    `window.Plotly.PlotSchema.get().traces)[${type}])`;
}

/**
 * Builds the script element that defines `window.Plotly` unless the page already has one that does.
 * The bundle's check for AMD and CommonJS is shadowed, since classic notebooks load RequireJS.
 */
export async function plotlyScript(bundle: PlotlyBundle): Promise<string> {
  const source = (await plotlySource(bundle)).replaceAll("</script", "<\\/script");
  return `<script>if(!${isReady(bundle)}){${shadowed(source)}}</script>`;
}

/**
 * Gives plotly.js to the page that shows this notebook now, by an output that is emptied at once,
 * so that it is not saved with the notebook. A page that is opened later lacks it, and nothing
 * tells the kernel, so each figure gives it again.
 */
export async function givePlotlyToPage(bundle: PlotlyBundle): Promise<void> {
  const display_id = crypto.randomUUID();
  const shown = { "text/html": await packedScript(bundle), "text/plain": "" };
  await displayInCell(shown, { raw: true, display_id });
  await displayInCell(NOTHING_SHOWN, { raw: true, display_id, update: true });
}

const packed = new Map<PlotlyBundle, string>();

/** Builds the script of {@link plotlyScript} in less than half of the bytes. */
async function packedScript(bundle: PlotlyBundle): Promise<string> {
  const text = packed.get(bundle) ?? await gzipBase64(shadowed(await plotlySource(bundle)));
  packed.set(bundle, text);
  return `<script>(function () {
  if (${isReady(bundle)} || typeof DecompressionStream === "undefined") return;
  var text = atob("${text}"), bytes = new Uint8Array(text.length);
  for (var i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  var stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  new Response(stream).text().then(function (source) {
    var script = document.createElement("script");
    script.textContent = "if(!${isReady(bundle).replaceAll('"', "'")}){" + source + "}";
    document.head.appendChild(script).remove();
  });
})();</script>`;
}

function shadowed(source: string): string {
  return `(function(){var module,exports,define;${source}\n})()`;
}

async function gzipBase64(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer()).toBase64();
}

/** Options of {@link PlotlyRuntime}. */
export interface PlotlyRuntimeOptions {
  /** Draws every type of trace, such as `"surface"` (4.8 MB); false by default. */
  readonly full?: boolean | undefined;
}

const RUNTIME_OPTIONS = new OptionSet<PlotlyRuntimeOptions>({ full: FLAG });

/**
 * Puts plotly.js itself, 1.5 MB, into the output of a cell, as its last expression: the plots of a
 * saved notebook can then be zoomed and hovered over wherever scripts run, without running the
 * notebook. Without it they are pictures there.
 */
export class PlotlyRuntime {
  readonly #bundle: PlotlyBundle;

  /** Chooses what it draws. */
  constructor(options: PlotlyRuntimeOptions = {}) {
    const { full } = RUNTIME_OPTIONS.read(options, "new PlotlyRuntime");
    this.#bundle = full === true ? "full" : "cartesian";
  }

  /** Gives the notebook plotly.js, each time it is shown. */
  async [Symbol.for("Jupyter.display")](): Promise<Record<string, string>> {
    return { "text/html": await plotlyScript(this.#bundle), "text/plain": "plotly.js is loaded" };
  }
}
