// The specifications by which Jupyter starts Deno's kernel: where they lie, and whether Stop interrupts
// that kernel by a message. A signal, the default, ends its process, and frees all its memory.

import { join } from "node:path";
import { mayRead, textOf } from "../../ffi/installed_libraries.ts";
import { readVariable } from "../../ffi/library.ts";
import { isRecord } from "../words/options.ts";

/** An installed specification. */
export interface KernelSpecification {
  /** Path of its `kernel.json`. */
  readonly path: string;
  /** Stop leaves the kernel and its memory alone. */
  readonly survivesStop: boolean;
}

/** Returns the user's folder of Jupyter's data, as Jupyter finds it; undefined without a home. */
export function userDataFolder(): string | undefined {
  const chosen = readVariable("JUPYTER_DATA_DIR");
  if (chosen !== undefined) return chosen;
  if (Deno.build.os === "windows") return inside(readVariable("APPDATA"), "jupyter");
  const home = readVariable("HOME");
  if (Deno.build.os === "darwin") return inside(home, "Library/Jupyter");
  return inside(readVariable("XDG_DATA_HOME") ?? inside(home, ".local/share"), "jupyter");
}

/** Lists Deno's kernels in the folders that Jupyter searches, as far as they may be read. */
export function installedKernels(): KernelSpecification[] {
  return [...new Set(dataFolders())].flatMap((folder) => kernelsIn(join(folder, "kernels")));
}

/** The folders in Jupyter's order. */
function dataFolders(): string[] {
  const separator = Deno.build.os === "windows" ? ";" : ":";
  const environments = ["VIRTUAL_ENV", "CONDA_PREFIX"].map((name) =>
    inside(readVariable(name), "share/jupyter")
  );
  return [
    ...(readVariable("JUPYTER_PATH")?.split(separator) ?? []),
    userDataFolder(),
    ...environments,
    "/usr/local/share/jupyter",
    "/usr/share/jupyter",
  ].filter((folder) => folder !== undefined && folder !== "") as string[];
}

function inside(folder: string | undefined, name: string): string | undefined {
  return folder === undefined ? undefined : join(folder, name);
}

function kernelsIn(folder: string): KernelSpecification[] {
  if (!mayRead(folder)) return [];
  let names: string[];
  try {
    names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  } catch {
    return []; // no kernels there
  }
  return names.flatMap((name) => {
    const path = join(folder, name, "kernel.json");
    const found = parseSpecification(textOf(path));
    if (found === undefined || !startsDeno(found)) return [];
    return [{ path, survivesStop: found.interrupt_mode === "message" }];
  });
}

/** Reads a specification; undefined when it is none. */
export function parseSpecification(text: string): Record<string, unknown> | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return isRecord(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

function startsDeno({ argv }: Record<string, unknown>): boolean {
  return Array.isArray(argv) && argv.includes("jupyter") && argv.includes("--kernel");
}
