// Draws the plots of the saved notebooks as SVG files, for pages where no script runs, as a program:
// `deno run -A jupyter/pictures.ts`. It needs neither Jupyter nor a GPU.

import { Figure } from "../src/notebook/figure.ts";
import type { PlotLayout, Trace } from "../src/notebook/plot_data.ts";
import { codeCells, joined, notebookNames, NOTEBOOKS, readNotebook } from "./notebook_file.ts";

/** A plot as a notebook keeps it. */
interface SavedPlot {
  readonly data: Trace[];
  readonly layout: PlotLayout;
}

const PICTURES = new URL("pictures/", NOTEBOOKS);
const PLOTLY = "application/vnd.plotly.v1+json";

/** Draws each plot of a notebook and returns the files it wrote. */
async function drawPlots(name: string): Promise<string[]> {
  const outputs = codeCells(readNotebook(name)).flatMap(({ outputs }) => outputs ?? []);
  const written: string[] = [];
  for (const { data = {} } of outputs.filter(({ data }) => data !== undefined && PLOTLY in data)) {
    const plot = data[PLOTLY] as SavedPlot;
    const description = joined(data["text/plain"] as string | readonly string[]);
    const file = `${name}_${written.length + 1}.svg`;
    const svg = await new Figure({ ...plot, description }).toSVG();
    Deno.writeTextFileSync(new URL(file, PICTURES), svg);
    written.push(file);
  }
  return written;
}

if (import.meta.main) {
  Deno.mkdirSync(PICTURES, { recursive: true });
  for (const name of notebookNames()) {
    for (const file of await drawPlots(name)) console.log(file);
  }
}
