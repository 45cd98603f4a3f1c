// What a notebook's cells should show, found without Jupyter: they run in a Deno of their own.

import { fileURLToPath } from "node:url";
import { type CellOutput, NOTEBOOKS } from "./notebook_file.ts";

const RUN_CELLS = new URL("./run_cells.ts", import.meta.url);

/**
 * Runs a notebook's cells in order, without Jupyter, and returns each one's outputs.
 *
 * @throws Error with what was printed when the process fails as a whole.
 */
export async function expectedOutputs(name: string): Promise<CellOutput[][]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", RUN_CELLS.href, name],
    cwd: fileURLToPath(NOTEBOOKS),
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`Cannot run the cells of ${name}: ${decoder.decode(stderr)}`);
  return JSON.parse(decoder.decode(stdout));
}
