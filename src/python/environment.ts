// Finds the Python to start: a program whose packages are used, and the library of the same
// version.

import {
  findLibrary,
  INSTALLED_LIBRARIES,
  mayRead,
  textOf,
} from "../../ffi/installed_libraries.ts";
import { readVariable } from "../../ffi/library.ts";

/** A Python on this machine. */
export interface PythonPlace {
  /** The program; undefined when none was found or named. */
  readonly executable: string | undefined;
  /** Files of its library to try, best first. */
  readonly libraries: readonly string[];
}

/** A program that prints where Python's library is. */
const QUESTION = `
import json, sys, sysconfig
get = sysconfig.get_config_var
folders = [get("LIBDIR"), sys.base_prefix + "/lib", (get("LIBDIR") or "") + "/" + (get("MULTIARCH") or "")]
names = [get("INSTSONAME"), get("LDLIBRARY"), "libpython%d.%d.so.1.0" % sys.version_info[:2]]
print(json.dumps({"executable": sys.executable,
  "folders": [f for f in folders if f], "names": [n for n in names if n and ".so" in n]}))
`;

/**
 * Finds a Python: the given one, that of the active environment, or the first on the PATH. It is run to
 * find its library; if no program may be run, its folders are searched.
 */
export function findPython(
  options: { readonly executable?: string | undefined; readonly libraryPath?: string | undefined },
): PythonPlace {
  const executable = options.executable ?? activePython();
  const { libraryPath } = options;
  const chosen = libraryPath ?? readVariable(INSTALLED_LIBRARIES.python.variable);
  if (chosen !== undefined) return { executable, libraries: [chosen] };
  const told = executable === undefined ? undefined : ask(executable);
  if (told !== undefined) {
    const { folders, names } = told;
    const files = folders.flatMap((folder) => names.map((name) => `${folder}/${name}`));
    // Without a file in its own folders, the loader may know a library of this version.
    return { executable: told.executable, libraries: [...files.filter(isFile), ...names] };
  }
  const beside = executable === undefined ? [] : besides(executable);
  const { tried } = findLibrary("python");
  return { executable, libraries: [...beside, ...tried] };
}

/** Returns the program of the active environment, or the first on the PATH. */
function activePython(): string | undefined {
  for (const variable of ["VRAMKIT_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX"]) {
    const value = readVariable(variable);
    if (value !== undefined) return variable === "VRAMKIT_PYTHON" ? value : `${value}/bin/python`;
  }
  const folders = (readVariable("PATH") ?? "").split(":").filter((folder) => folder !== "");
  return folders.map((folder) => `${folder}/python3`).find(isFile);
}

/** Runs a Python to get its facts, if programs may be run; undefined when that fails. */
function ask(
  executable: string,
): { executable: string; folders: string[]; names: string[] } | undefined {
  const { state } = Deno.permissions.querySync({ name: "run", command: executable });
  if (state !== "granted") return undefined;
  try {
    const args = ["-c", QUESTION];
    const { success, stdout } = new Deno.Command(executable, { args, stdin: "null" }).outputSync();
    return success ? JSON.parse(new TextDecoder().decode(stdout)) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the libraries of the version that an environment was made with. */
function besides(executable: string): string[] {
  const root = executable.slice(0, executable.lastIndexOf("/bin/"));
  const config = textOf(`${root}/pyvenv.cfg`);
  const home = /^home *= *(.+)$/m.exec(config)?.[1]?.trim() ?? `${root}/bin`;
  const version = /^version(?:_info)? *= *(\d+\.\d+)/m.exec(config)?.[1];
  if (version === undefined) return [];
  const base = home.slice(0, home.lastIndexOf("/"));
  const system = `/usr/lib/${Deno.build.arch}-linux-gnu`;
  return [`${base}/lib`, system].map((folder) => `${folder}/libpython${version}.so.1.0`)
    .filter(isFile);
}

function isFile(path: string): boolean {
  if (!mayRead(path)) return false;
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false; // not there
  }
}
