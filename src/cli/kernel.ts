// `kernel`: installs the specification of a Deno kernel that survives Jupyter's Stop, or removes it.

import { join } from "node:path";
import { KERNEL_MARK } from "../accounting/notebook_kernel.ts";
import { reasonOf } from "../disk/system_error.ts";
import { isRecord } from "../words/options.ts";
import { wrapped } from "../words/wrapping.ts";
import type { CliOptions } from "./arguments.ts";
import { parseSpecification, userDataFolder } from "./kernel_specifications.ts";

/** The name by which notebooks ask for Deno's kernel, this one or the one that Deno installs. */
const KERNEL_NAME = "deno";

const WORDS = [
  "Stop interrupts a cell by a message, and the kernel keeps its variables and its GPU memory",
  "Notebooks have every permission, because Deno's kernel takes none away: run those you trust",
  "Shut down kernels that are running, and start them again, to use it",
];

/** Runs the command. */
export async function runKernel(options: CliOptions): Promise<number> {
  const data = userDataFolder();
  if (data === undefined) {
    console.error(
      "Cannot find Jupyter's folder: no HOME; run with -A, or set JUPYTER_DATA_DIR to it",
    );
    return 1;
  }
  const folder = join(data, "kernels", KERNEL_NAME);
  let lines: readonly string[];
  try {
    lines = await (options.remove ? remove(folder) : install(folder));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const reason = error instanceof Deno.errors.NotCapable ? "run again with -A" : reasonOf(error);
    console.error(`Cannot ${options.remove ? "change" : "write"} ${folder}: ${reason}`);
    return 1;
  }
  console.log(lines.map((line) => wrapped(line, "  ")).join("\n"));
  return 0;
}

/** Writes the specification; another one that is there is kept beside it. */
async function install(folder: string): Promise<string[]> {
  const { path, kept } = pathsIn(folder);
  const text = await readIfThere(path);
  const former = text === undefined ? {} : parseSpecification(text);
  if (former === undefined) throw new TypeError("the kernel.json that is there is not JSON");
  const isForeign = text !== undefined && !isOurs(former);
  if (isForeign) await Deno.writeTextFile(kept, text);
  const specification = {
    display_name: "Deno",
    language: "typescript",
    ...former,
    argv: [Deno.execPath(), "jupyter", "--kernel", "--conn", "{connection_file}"],
    interrupt_mode: "message",
    env: { ...(isRecord(former.env) ? former.env : {}), [KERNEL_MARK]: "1" },
  };
  await Deno.mkdir(folder, { recursive: true });
  // Written beside it and renamed: a Jupyter that looks meanwhile finds the old one or the new one.
  const written = `${path}.new`;
  await Deno.writeTextFile(written, `${JSON.stringify(specification, null, 2)}\n`);
  await Deno.rename(written, path);
  const words = isForeign ? [`Kept the specification that was there as ${kept}`] : [];
  return [`Installed ${path}`, ...words, ...WORDS];
}

/** Takes away what {@link install} wrote, and puts back what was there before. */
async function remove(folder: string): Promise<string[]> {
  const { path, kept } = pathsIn(folder);
  const text = await readIfThere(path);
  if (text === undefined) return [`There is no ${path}`];
  if (!isOurs(parseSpecification(text))) {
    throw new TypeError("another program installed the kernel that is there");
  }
  if (await readIfThere(kept) !== undefined) {
    await Deno.rename(kept, path);
    return [`Put the specification from before back: ${path}`];
  }
  await Deno.remove(path);
  const isEmpty = [...Deno.readDirSync(folder)].length === 0;
  if (isEmpty) await Deno.remove(folder);
  return [`Removed ${path}`];
}

function pathsIn(folder: string): { readonly path: string; readonly kept: string } {
  const path = join(folder, "kernel.json");
  return { path, kept: `${path}.before` };
}

function isOurs(specification: Record<string, unknown> | undefined): boolean {
  return isRecord(specification?.env) && KERNEL_MARK in specification.env;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
