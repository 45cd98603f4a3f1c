// The checks of a notebook in a browser: what it shows against what it should.

import { expectedOutputs } from "../../../jupyter/expected_outputs.ts";
import {
  type CellOutput,
  codeCells,
  joined,
  readNotebook,
} from "../../../jupyter/notebook_file.ts";
import { outputShape } from "../../../jupyter/output_shapes.ts";
import { WORK_FOLDER } from "../../../jupyter/python.ts";
import type { Check } from "../browser_checks.ts";
import type { Seen } from "./seen.ts";

/** The numbers of cards, plots and outputs that a notebook should show. */
export interface Wanted {
  readonly cardCount: number;
  readonly plotCount: number;
  /** For each code cell: its outputs. */
  readonly outputCounts: readonly number[];
}

const PLOTLY = "application/vnd.plotly.v1+json";

/** The contents that notebooks should show. Several checks of a program ask for them; the cells run once. */
const wanted = new Map<string, Promise<Wanted>>();

/** Tells what a notebook should show, from its cells' outputs outside Jupyter. */
export function wantedOf(name: string): Promise<Wanted> {
  return wanted.getOrInsertComputed(name, () => expectedOutputs(name).then(count));
}

/** Tells what a page of a notebook that was run should show; `deno task notebooks` has compared its outputs. */
export function wantedAfterRun(name: string): Wanted {
  const executed = readNotebook(new URL(`executed/${name}.ipynb`, WORK_FOLDER));
  return count(codeCells(executed).map(({ outputs = [] }) => outputs));
}

function count(cells: readonly CellOutput[][]): Wanted {
  const outputs = cells.flat();
  const html = outputs.map(({ data }: CellOutput) => joined(data?.["text/html"] as string));
  return {
    outputCounts: cells.map((outputs) => outputShape(outputs).length),
    cardCount: html.filter((text) => text.includes('class="vk-card')).length,
    plotCount: outputs.filter(({ data }) => data !== undefined && PLOTLY in data).length,
  };
}

const PLACED = "every output is below its cell";
const MAX_RUNS = 3;

/**
 * Runs and checks a notebook, again where all that failed is the place of an output: the kernel says
 * that a cell is over before it has sent all, and on a busy machine the kit's wait for that is too short.
 */
export async function placed(run: () => Promise<Check[]>): Promise<Check[]> {
  for (let count = 1;; count++) {
    const checks = await run();
    const failed = checks.filter(({ passed }) => !passed);
    if (count === MAX_RUNS || failed.length === 0) return checks;
    if (failed.some(({ name }) => name !== PLACED)) return checks;
    console.log(`again: an output came late (found ${JSON.stringify(failed[0]?.found)})`);
  }
}

/** Compares what is on the screen with what should be. */
export function checksOf(seen: Seen, { cardCount, plotCount, outputCounts }: Wanted): Check[] {
  const { cellCount, ranCount, errors, plots, lastText } = seen;
  return [
    {
      name: "every cell ran without an error",
      passed: ranCount === cellCount && errors.length === 0,
      found: [`${ranCount} of ${cellCount}`, ...errors],
    },
    {
      name: PLACED,
      passed: seen.outputCounts.join() === outputCounts.join(),
      found: { shown: seen.outputCounts, wanted: outputCounts },
    },
    { name: "every card is there", passed: seen.cardCount === cardCount, found: seen.cardCount },
    {
      name: "every plot drew its traces",
      passed: plots.length === plotCount &&
        plots.every(({ traceCount, drawnCount }) => traceCount > 0 && traceCount === drawnCount),
      found: plots,
    },
    { name: "nothing is live at the end", passed: lastText.includes("0 live"), found: lastText },
  ];
}

/** Compares what a saved notebook shows where no script runs with what it should. */
export function stillChecksOf(seen: Seen, { cardCount, plotCount }: Wanted): Check[] {
  const { bareCards, overprinted, pictureCount, plots } = seen;
  return [
    { name: "every card is there", passed: seen.cardCount === cardCount, found: seen.cardCount },
    { name: "cards keep their style", passed: bareCards.length === 0, found: bareCards },
    {
      name: "every plot is a picture",
      passed: pictureCount === plotCount && plots.length === 0,
      found: { pictureCount, plots },
    },
    { name: "no text overprints another", passed: overprinted.length === 0, found: overprinted },
  ];
}
