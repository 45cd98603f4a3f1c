// Opens JupyterLab on the notebooks, with the kernel of this project, as a program:
// `deno run -A jupyter/lab.ts [ARGUMENT...]`; arguments are JupyterLab's.

import { fileURLToPath } from "node:url";
import { NOTEBOOKS } from "./notebook_file.ts";
import { findPython, jupyterEnvironment, stopWith } from "./python.ts";

if (import.meta.main) {
  const python = await findPython(["jupyterlab"]).catch(stopWith);
  const { code } = await new Deno.Command(python, {
    args: ["-m", "jupyterlab", ...Deno.args],
    cwd: fileURLToPath(NOTEBOOKS),
    env: jupyterEnvironment(),
  }).spawn().status;
  Deno.exit(code);
}
