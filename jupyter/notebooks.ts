// Runs the notebooks with the real kernel, headless, and checks what they showed, as a program:
// `deno run -A jupyter/notebooks.ts [--save] [NAME...]`. Pages for reading go to .jupyter/executed/.

import { fileURLToPath } from "node:url";
import { plotlyScript } from "../src/notebook/plotly.ts";
import { expectedOutputs } from "./expected_outputs.ts";
import {
  type CellOutput,
  codeCells,
  type Notebook,
  notebookNames,
  NOTEBOOKS,
  readNotebook,
} from "./notebook_file.ts";
import { isEmptied, outputShape, outputText } from "./output_shapes.ts";
import { findPython, jupyterEnvironment, stopWith, WORK_FOLDER } from "./python.ts";

/** One thing that must hold of an executed notebook. */
interface Check {
  readonly name: string;
  readonly faults: readonly string[];
}

const EXECUTED = new URL("executed/", WORK_FOLDER);
const EXECUTE = fileURLToPath(new URL("./execute.py", import.meta.url));

/** The words of the table of live objects when nothing is left. */
const NOTHING_LIVE = "0 live";

/** Lets Jupyter run the notebooks; false when it could not write all of them. */
async function execute(python: string, names: readonly string[]): Promise<boolean> {
  await Deno.mkdir(EXECUTED, { recursive: true });
  await Deno.writeTextFile(new URL("plotly.html", EXECUTED), await plotlyScript("cartesian"));
  const files = names.map((name) => fileURLToPath(new URL(`${name}.ipynb`, NOTEBOOKS)));
  const { success } = await new Deno.Command(python, {
    args: [EXECUTE, fileURLToPath(EXECUTED), ...files],
    env: jupyterEnvironment(),
    stdin: "null",
  }).spawn().status;
  return success;
}

/** Compares an executed notebook with its cells' outputs outside Jupyter. */
function checksOf(executed: Notebook, expected: readonly CellOutput[][]): Check[] {
  const cells = codeCells(executed).map(({ outputs = [] }) => outputs);
  const errors = cells.flat().filter(({ output_type }) => output_type === "error");
  return [
    { name: "no cell fails", faults: errors.map((error) => outputText([error])) },
    { name: "no output is lost", faults: shapeDifferences(cells, expected) },
    { name: "origins name their cells", faults: originDifferences(cells, expected) },
    {
      name: "nothing is live at the end",
      faults: outputText(cells.at(-1)).includes(NOTHING_LIVE) ? [] : [outputText(cells.at(-1))],
    },
  ];
}

function shapeDifferences(
  shown: readonly CellOutput[][],
  expected: readonly CellOutput[][],
): string[] {
  return expected.flatMap((outputs, index) => {
    const wanted = outputShape(outputs).join("; ");
    const found = outputShape(shown[index]).join("; ");
    return wanted === found ? [] : [`cell ${index + 1} shows ${found}, expected ${wanted}`];
  });
}

/** The kernel compiles cells before it runs them, so lines may differ, but not the cells' numbers. */
function originDifferences(
  shown: readonly CellOutput[][],
  expected: readonly CellOutput[][],
): string[] {
  const cellsOf = (outputs?: readonly CellOutput[]) =>
    (outputText(outputs).match(/\bcell \d[\d-]*(?=:)/g) ?? []).join(", ");
  return expected.flatMap((outputs, index) => {
    const [wanted, found] = [cellsOf(outputs), cellsOf(shown[index])];
    return wanted === found ? [] : [`output ${index + 1} names ${found}, expected ${wanted}`];
  });
}

/** Puts outputs into the project's notebook, without emptied ones and the times of each cell. */
function save(name: string, executed: Notebook): void {
  const { metadata } = readNotebook(name);
  const cells = executed.cells.map((cell) => ({
    ...cell,
    metadata: {},
    ...(cell.outputs && { outputs: cell.outputs.filter((output) => !isEmptied(output)) }),
  }));
  const file = new URL(`${name}.ipynb`, NOTEBOOKS);
  Deno.writeTextFileSync(file, `${JSON.stringify({ ...executed, cells, metadata }, null, 1)}\n`);
}

if (import.meta.main) {
  const names = Deno.args.filter((argument) => argument !== "--save");
  const chosen = names.length > 0 ? names : notebookNames();
  const python = await findPython(["nbclient", "nbconvert"]).catch(stopWith);
  const count = chosen.length === 1 ? "1 notebook" : `${chosen.length} notebooks`;
  console.log(`Running ${count} in Jupyter's Deno kernel, some 10 s each:`);
  let failedCount = await execute(python, chosen) ? 0 : 1;
  console.log("Comparing what they showed with their cells' outputs outside Jupyter:");
  let passedCount = 0;
  for (const name of chosen) {
    const executed = readNotebook(new URL(`${name}.ipynb`, EXECUTED));
    for (const check of checksOf(executed, await expectedOutputs(name))) {
      const passed = check.faults.length === 0;
      console.log(`${passed ? "ok" : "FAILED"}: ${name}: ${check.name}`);
      for (const fault of check.faults) console.log(`  ${fault}`);
      if (passed) passedCount++;
      else failedCount++;
    }
    if (Deno.args.includes("--save")) save(name, executed);
  }
  console.log(`${passedCount} passed, ${failedCount} failed`);
  if (failedCount > 0) Deno.exit(1);
}
