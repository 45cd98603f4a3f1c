// Runs a few cells that a test writes out, without Jupyter.

import { expectedOutputs } from "../../../jupyter/expected_outputs.ts";
import type { CellOutput } from "../../../jupyter/notebook_file.ts";
import { TemporaryFolder } from "../temporary_folder.ts";

/** Runs cells of these sources and returns each one's outputs. */
export async function runSources(...sources: readonly string[]): Promise<CellOutput[][]> {
  using folder = new TemporaryFolder();
  const cells = sources.map((source) => ({ cell_type: "code", source, metadata: {} }));
  const path = folder.write("cells.ipynb", JSON.stringify({ cells, metadata: {} }));
  return await expectedOutputs(`file://${path.slice(0, -".ipynb".length)}`);
}
