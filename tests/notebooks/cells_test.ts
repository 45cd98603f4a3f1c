// Every notebook's cells run in order without Jupyter, in a Deno each, as the kernel would run them.
// What a cell leaves is compared with what its notebook promises; `deno task notebooks` asks the kernel.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { expectedOutputs } from "../../jupyter/expected_outputs.ts";
import {
  type CellOutput,
  codeCells,
  joined,
  notebookNames,
  readNotebook,
} from "../../jupyter/notebook_file.ts";
import { outputShape, outputText } from "../../jupyter/output_shapes.ts";
import { shareOf } from "../support/random.ts";

/** A cell that shows nothing else as a result: the table of what is left at the end. */
const CARD = "execute_result text/html, text/plain";

const run = shareOf(notebookNames());

for (const name of run) {
  Deno.test(`notebook ${name} runs without Jupyter and leaves nothing live`, async () => {
    const cells = await expectedOutputs(name);
    const errors = cells.flat().filter(({ output_type }) => output_type === "error");
    assertEquals(outputText(errors), "");
    assertEquals(outputShape(cells.at(-1)), [CARD]);
    assertStringIncludes(outputText(cells.at(-1)), "0 live");
    assertSavedShapes(name, cells);
  });
}

for (const name of notebookNames()) {
  Deno.test(`notebook ${name} imports the kit by its name, so that an editor knows the types`, () => {
    const sources = codeCells(readNotebook(name)).map(({ source }) => joined(source)).join("\n");
    const imports = sources.match(/import\(\s*[^)]*\)|from "[^"]*"/g) ?? [];
    assert(imports.length > 0);
    assertEquals(imports.filter((each) => !/^from "vramkit(\/\w+)?"$/.test(each)), []);
  });

  Deno.test(`notebook ${name} says its point first, and uses no top-level using`, () => {
    const notebook = readNotebook(name);
    const [first] = notebook.cells;
    assertEquals(first?.cell_type, "markdown");
    assert(/^# .+\n\n\*\*|^# .+\n\n.*\*\*/.test(joined(first?.source)));
    const sources = codeCells(notebook).map(({ source }) => joined(source)).join("\n");
    assertEquals(sources.match(/^(await )?using .*/gm), null);
  });
}

/**
 * Saved outputs are of another device and another day: they must show the same, not say the same. A
 * cell that was changed since has no number and no outputs until a machine with a GPU saves it again,
 * and one that is skipped here shows there what it did.
 */
function assertSavedShapes(name: string, cells: readonly CellOutput[][]): void {
  for (const [index, { execution_count, outputs }] of codeCells(readNotebook(name)).entries()) {
    const here = cells[index] ?? [];
    if (typeof execution_count !== "number") assertEquals(outputs, []);
    else if (!isSkipped(here)) assertEquals(outputShape(outputs), outputShape(here));
  }
}

function isSkipped(outputs: readonly CellOutput[]): boolean {
  return /^"?skipped: /.test(outputText(outputs));
}
