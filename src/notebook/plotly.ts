// The plotly.js runtime as text: inserted into pages and notebooks, and run by a browser, not by Deno.
// The basic bundle (scatter, bar, pie; 1.2 MB) is used: a treemap would need the full one of 4.8 MB.

import { displayInCell } from "../accounting/notebook_kernel.ts";
import { NOTHING_SHOWN } from "../cards/show_card.ts";
import { loadPackage } from "./package_loading.ts";

/**
 * Loads the source text of plotly.js; nothing is read before the first call. Deno fetches the package
 * with whatever imports this file, because it finds a text in a package only by a literal.
 */
export async function plotlySource(): Promise<string> {
  const bundle = await loadPackage(
    "plotly.js",
    import("npm:plotly.js-basic-dist-min@4.1.1/plotly-basic.min.js", { with: { type: "text" } }),
  );
  return bundle.default;
}

/**
 * Builds the script element that defines `window.Plotly` unless the page already has one.
 * The bundle's check for AMD and CommonJS is shadowed, since classic notebooks load RequireJS.
 */
export async function plotlyScript(): Promise<string> {
  const source = (await plotlySource()).replaceAll("</script", "<\\/script");
  return `<script>if(!window.Plotly){${shadowed(source)}}</script>`;
}

/**
 * Gives plotly.js to the page that shows this notebook now, by an output that is emptied at once,
 * so that it is not saved with the notebook. A page that is opened later lacks it, and nothing
 * tells the kernel, so each figure gives it again.
 */
export async function givePlotlyToPage(): Promise<void> {
  const display_id = crypto.randomUUID();
  const bundle = { "text/html": await packedScript(), "text/plain": "" };
  await displayInCell(bundle, { raw: true, display_id });
  await displayInCell(NOTHING_SHOWN, { raw: true, display_id, update: true });
}

let packed: string | undefined;

/** Builds the script of {@link plotlyScript} in less than half of the bytes. */
async function packedScript(): Promise<string> {
  packed ??= await gzipBase64(shadowed(await plotlySource()));
  return `<script>(function () {
  if (window.Plotly || typeof DecompressionStream === "undefined") return;
  var text = atob("${packed}"), bytes = new Uint8Array(text.length);
  for (var i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  var stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  new Response(stream).text().then(function (source) {
    var script = document.createElement("script");
    script.textContent = "if(!window.Plotly){" + source + "}";
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

/**
 * Puts plotly.js itself, 1.2 MB, into the output of a cell, as its last expression: the plots of a
 * saved notebook can then be zoomed and hovered over wherever scripts run, without running the
 * notebook. Without it they are pictures there.
 */
export class PlotlyRuntime {
  /** Gives the notebook plotly.js, each time it is shown. */
  async [Symbol.for("Jupyter.display")](): Promise<Record<string, string>> {
    return { "text/html": await plotlyScript(), "text/plain": "plotly.js is loaded" };
  }
}
