// Running cells without Jupyter: what becomes an output, and that a failing cell shows as one.

import { assertEquals } from "@std/assert";
import { outputShape, outputText } from "../../jupyter/output_shapes.ts";
import { runSources } from "../support/notebook/run_sources.ts";

Deno.test("run_cells.ts shows a cell's last expression, and nothing for undefined", async () => {
  const cells = await runSources("const x = 1; x + 1;", "undefined;", "const y = await x; y;");
  assertEquals(cells.map(outputShape), [["execute_result text/plain"], [], [
    "execute_result text/plain",
  ]]);
  assertEquals(cells.map(outputText), ["2", "", "1"]);
});

Deno.test("run_cells.ts shows what the console gets, by stream", async () => {
  const [cell] = await runSources('console.log("a"); console.warn("b");');
  assertEquals(outputShape(cell), ["stream stdout", "stream stderr"]);
});

Deno.test("run_cells.ts asks values for their display, as results and by Deno.jupyter", async () => {
  const value = '({ [Symbol.for("Jupyter.display")]: () => ({ "text/html": "<b>x</b>" }) })';
  const [cell] = await runSources(`await Deno.jupyter.display${value}; const v = ${value}; v;`);
  assertEquals(outputShape(cell), ["display_data text/html", "execute_result text/html"]);
});

Deno.test("run_cells.ts shows an error as an output and goes on", async () => {
  const cells = await runSources('throw new RangeError("too large");', "7;");
  assertEquals(outputShape(cells[0]), ["error RangeError"]);
  assertEquals(cells.map(outputText), ["RangeError: too large", "7"]);
});
