// Opens JupyterLab on the notebooks, with the kernel of this project, as a program:
// `deno run -A jupyter/lab.ts [ARGUMENT...]`; arguments are JupyterLab's.

import { fileURLToPath } from "node:url";
import { notebookNames, NOTEBOOKS } from "./notebook_file.ts";
import { findPython, jupyterEnvironment, stopWith } from "./python.ts";

const FOLDER = fileURLToPath(NOTEBOOKS);

const TRUST = "from nbformat.sign import TrustNotebookApp; TrustNotebookApp.launch_instance()";

/** Trusts the notebooks as they lie here: whoever runs this task runs this repository's code. */
async function trustNotebooks(python: string): Promise<void> {
  const names = notebookNames().map((name) => `${name}.ipynb`);
  const { success, stderr } = await new Deno.Command(python, {
    args: ["-c", TRUST, ...names],
    cwd: FOLDER,
    stdout: "null",
  }).output();
  if (success) return;
  const [reason = ""] = new TextDecoder().decode(stderr).trim().split("\n").slice(-1);
  console.error(`Cannot trust the notebooks, so their plots are pictures until run: ${reason}`);
}

if (import.meta.main) {
  const python = await findPython(["jupyterlab"]).catch(stopWith);
  await trustNotebooks(python);
  const { code } = await new Deno.Command(python, {
    args: ["-m", "jupyterlab", ...Deno.args],
    cwd: FOLDER,
    env: jupyterEnvironment(),
  }).spawn().status;
  Deno.exit(code);
}
