// Finds a Python that has Jupyter, and starts it so that it knows this project's kernel.
// The tasks install nothing by themselves; where Jupyter is missing they say how to get it.

import { delimiter, dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** Everything that Jupyter leaves behind in this project; not under version control. */
export const WORK_FOLDER = new URL("../.jupyter/", import.meta.url);

/** The Python that `deno task jupyter` makes. */
const OWN_PYTHON = fileURLToPath(new URL("venv/bin/python", WORK_FOLDER));

/** The folder in which Jupyter finds the kernel of this project, which is interrupted by message. */
const KERNELS = fileURLToPath(new URL("./", import.meta.url));

/**
 * Returns the first Python that has these modules: VRAMKIT_PYTHON, else the project's own, else
 * `python3`.
 *
 * @throws Error with the way to get Jupyter when there is none.
 */
export async function findPython(modules: readonly string[]): Promise<string> {
  const chosen = Deno.env.get("VRAMKIT_PYTHON") || undefined; // as the kit reads it
  const candidates = chosen === undefined ? [OWN_PYTHON, "python3"] : [chosen];
  for (const candidate of candidates) {
    if (await canImport(candidate, modules)) return candidate;
  }
  throw new Error(
    `Cannot find Jupyter: no ${modules.join(" and ")} in ${candidates.join(" or ")}; install it ` +
      `into this project with "deno task jupyter", or set VRAMKIT_PYTHON to a Python that has it`,
  );
}

/** Ends a program with an error's message alone: where it was thrown helps nobody install Jupyter. */
export function stopWith(error: unknown): never {
  console.error(error instanceof Error ? error.message : error);
  Deno.exit(1);
}

/** The environment of a Jupyter program: its kernels are this Deno, whatever PATH says. */
export function jupyterEnvironment(): Record<string, string> {
  const path = [dirname(Deno.execPath()), Deno.env.get("PATH") ?? ""].join(delimiter);
  return { JUPYTER_PATH: KERNELS, PATH: path, PYDEVD_DISABLE_FILE_VALIDATION: "1" };
}

/** The modules are on disk: importing them would take seconds. */
async function canImport(python: string, modules: readonly string[]): Promise<boolean> {
  const names = modules.map((name) => `"${name}"`).join(", ");
  const program = `import sys; from importlib.util import find_spec as f
sys.exit(0 if all(f(name) for name in [${names}]) else 1)`;
  try {
    const { success } = await new Deno.Command(python, {
      args: ["-c", program],
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
