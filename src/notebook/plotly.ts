// The plotly.js runtime as text: put into pages and notebooks, evaluated by a browser and not by Deno.
// The basic bundle (scatter, bar, pie; 1.2 MB) is used: a treemap would need the full one of 4.8 MB.

let givenToNotebook = false;

/** Loads the source text of plotly.js; nothing is fetched or read before the first call. */
export async function plotlySource(): Promise<string> {
  const bundle = await import(
    "npm:plotly.js-basic-dist-min@4.1.1/plotly-basic.min.js",
    { with: { type: "text" } }
  );
  return bundle.default;
}

/**
 * Builds the script element that defines `window.Plotly` unless the page already has one.
 * The bundle's check for AMD and CommonJS is shadowed, since classic notebooks load RequireJS.
 */
export async function plotlyScript(): Promise<string> {
  const source = (await plotlySource()).replaceAll("</script", "<\\/script");
  return `<script>if(!window.Plotly){(function(){var module,exports,define;${source}\n})()}</script>`;
}

/** Builds the script element for the first caller in this kernel, and an empty text for later ones. */
export async function plotlyScriptOnce(): Promise<string> {
  if (givenToNotebook) return "";
  givenToNotebook = true;
  return await plotlyScript();
}

/**
 * Puts plotly.js into the output of a cell, so that figures in other cells need not carry it.
 * Without one the first figure shown carries it, and re-running that figure's cell drops it from
 * the saved notebook: make `new PlotlyRuntime()` the last expression of the cell that imports.
 */
export class PlotlyRuntime {
  /** Gives the notebook plotly.js, each time it is shown. */
  async [Symbol.for("Jupyter.display")](): Promise<Record<string, string>> {
    givenToNotebook = true;
    return { "text/html": await plotlyScript(), "text/plain": "plotly.js is loaded" };
  }
}
