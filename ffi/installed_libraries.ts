// Finds NVIDIA's libraries and Python's where they are installed: in the environment, CUDA's folder,
// conda, Python's packages, the system's folders. Looking for a library does not open it.

import { LibraryError, type OpenLibrary, openLibrary, readVariable } from "./library.ts";

/** A library to look for. */
interface LibraryFacts {
  /** Its name in errors. */
  readonly title: string;
  /** The variable that names its file. */
  readonly variable: string;
  /** Its file's name before ".so". */
  readonly stem: string;
  /** Endings that its file can have, newest first. */
  readonly endings: readonly string[];
  /** The way to get it. */
  readonly remedy: string;
}

/** The libraries that the kit can use; `doctor` lists them. */
export const INSTALLED_LIBRARIES = {
  nvrtc: {
    title: "NVRTC, NVIDIA's compiler",
    variable: "VRAMKIT_NVRTC",
    stem: "libnvrtc",
    endings: [".so.13", ".so.12", ".so.11.2", ".so"],
    remedy: "pip install nvidia-cuda-nvrtc-cu12, or set CUDA_HOME or VRAMKIT_NVRTC",
  },
  nccl: {
    title: "NCCL",
    variable: "VRAMKIT_NCCL",
    stem: "libnccl",
    endings: [".so.2", ".so"],
    remedy: "pip install nvidia-nccl-cu12, or set VRAMKIT_NCCL",
  },
  python: {
    title: "Python",
    variable: "VRAMKIT_LIBPYTHON",
    stem: "libpython3",
    endings: [".14.so.1.0", ".13.so.1.0", ".12.so.1.0", ".11.so.1.0", ".10.so.1.0", ".so"],
    remedy: "install python3-dev, or set VRAMKIT_LIBPYTHON",
  },
} as const satisfies Record<string, LibraryFacts>;

/** Name of a library that can be looked for. */
export type InstalledLibrary = keyof typeof INSTALLED_LIBRARIES;

/** The place of a library. */
export interface FoundLibrary {
  /** Its file; undefined when none was found, perhaps for lack of permission. */
  readonly path: string | undefined;
  /** Path, size and time, which identify this file. */
  readonly identity: string | undefined;
  /** Name of the place that it was found in. */
  readonly place: string | undefined;
  /** Names to open: the file, or names that the system's loader may know. */
  readonly tried: readonly string[];
}

/** A folder to search, and its description. */
interface Place {
  readonly name: string;
  readonly folder: string;
}

/** The system's folders that its loader searches by default. */
const SYSTEM_FOLDERS = [
  "/usr/local/cuda/lib64",
  `/usr/lib/${Deno.build.arch}-linux-gnu`,
  "/usr/lib64",
  "/usr/local/lib",
  "/usr/lib",
  "/lib64",
];

/** The folders in which the system's Pythons keep packages. */
const PYTHON_ROOTS = ["/usr/local/lib", "/usr/lib", "/opt/conda/lib"];

const known = new Map<InstalledLibrary, FoundLibrary>();

/** Finds a library, or returns the names that the loader may know; searches once for a process. */
export function findLibrary(name: InstalledLibrary): FoundLibrary {
  const { variable } = INSTALLED_LIBRARIES[name];
  const chosen = readVariable(variable);
  if (chosen !== undefined) {
    return seen(variable, chosen) ??
      { path: undefined, identity: undefined, place: variable, tried: [chosen] };
  }
  const before = known.get(name);
  // Checked again, because a file can be replaced while the program runs.
  const again = before?.path === undefined ? undefined : seen(before.place ?? "", before.path);
  const found = again ?? search(name);
  known.set(name, found);
  return found;
}

/**
 * Opens a library that was looked for.
 *
 * @throws LibraryError when there is none, or it cannot be used.
 */
export function openInstalled<const Functions extends Deno.ForeignLibraryInterface>(
  name: InstalledLibrary,
  { tried }: FoundLibrary,
  functions: Functions,
): OpenLibrary<Deno.DynamicLibrary<Functions>["symbols"]> {
  const { title, remedy } = INSTALLED_LIBRARIES[name];
  try {
    return openLibrary({ title, candidates: tried, remedy }, [functions]);
  } catch (error) {
    if (!(error instanceof LibraryError) || error.reason !== "no-library") throw error;
    throw new LibraryError(`Cannot open ${title}: there is none here; ${remedy}`, {
      reason: "no-library",
      tried,
    });
  }
}

function search(name: InstalledLibrary): FoundLibrary {
  const { stem, endings } = INSTALLED_LIBRARIES[name];
  const names = endings.map((ending) => `${stem}${ending}`);
  for (const place of placesFor(name)) {
    for (const file of names) {
      const found = seen(place.name, `${place.folder}/${file}`);
      if (found !== undefined) return found;
    }
  }
  const folders = SYSTEM_FOLDERS.flatMap((folder) => names.map((file) => `${folder}/${file}`));
  return { path: undefined, identity: undefined, place: undefined, tried: [...names, ...folders] };
}

/** Checks one file; undefined when it does not exist or may not be read. */
function seen(place: string, path: string): FoundLibrary | undefined {
  if (!mayRead(path)) return undefined;
  try {
    const { isFile, size, mtime } = Deno.statSync(path);
    if (!isFile) return undefined;
    const identity = `${path} ${size} ${mtime?.getTime() ?? 0}`;
    return { path, identity, place, tried: [path] };
  } catch {
    return undefined; // not there, or in a folder that is closed to this user
  }
}

function* placesFor(name: InstalledLibrary): Generator<Place> {
  for (const variable of ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDAToolkit_ROOT"]) {
    const root = readVariable(variable);
    if (root !== undefined) yield* toolkitFolders(variable, root);
  }
  const conda = readVariable("CONDA_PREFIX");
  if (conda !== undefined) {
    yield { name: "CONDA_PREFIX", folder: `${conda}/lib` };
    yield { name: "CONDA_PREFIX", folder: `${conda}/targets/${Deno.build.arch}-linux/lib` };
  }
  if (name === "python") yield* pythonFolders();
  else yield* packageFolders();
  for (const folder of programFolders()) {
    if (isThere(`${folder}/nvcc`)) yield* toolkitFolders("nvcc in PATH", `${folder}/..`);
  }
  for (const folder of (readVariable("LD_LIBRARY_PATH") ?? "").split(":")) {
    if (folder !== "") yield { name: "LD_LIBRARY_PATH", folder };
  }
  for (const folder of [...configuredFolders(), ...SYSTEM_FOLDERS]) {
    yield { name: "system", folder };
  }
  // Last: a program that others may have put there must not replace what is installed.
  if (name !== "python") yield* packagesIn(environmentsHere());
}

/** The folders of libraries in a CUDA toolkit; ARM servers have a target of another name. */
function* toolkitFolders(name: string, root: string): Generator<Place> {
  const targets = [`${Deno.build.arch}-linux`, "sbsa-linux"].map((target) =>
    `targets/${target}/lib`
  );
  for (const part of ["lib64", "lib", ...targets]) yield { name, folder: `${root}/${part}` };
}

/** The folders of NVIDIA's packages that pip installed: site-packages/nvidia/NAME/lib. */
function* packageFolders(): Generator<Place> {
  for (const folder of (readVariable("PYTHONPATH") ?? "").split(":")) {
    if (folder === "") continue;
    for (const part of namesIn(`${folder}/nvidia`)) {
      yield { name: "PYTHONPATH", folder: `${folder}/nvidia/${part}/lib` };
    }
  }
  yield* packagesIn(pythonRoots());
}

function* packagesIn(roots: readonly string[]): Generator<Place> {
  for (const root of roots) {
    for (const version of namesIn(root).filter((name) => name.startsWith("python3"))) {
      for (const packages of ["site-packages", "dist-packages"]) {
        const nvidia = `${root}/${version}/${packages}/nvidia`;
        for (const part of namesIn(nvidia)) {
          yield { name: "pip", folder: `${nvidia}/${part}/lib` };
        }
      }
    }
  }
}

function* pythonFolders(): Generator<Place> {
  for (const root of pythonRoots()) yield { name: "pip", folder: root };
}

function programFolders(): string[] {
  return (readVariable("PATH") ?? "").split(":").filter((folder) => folder !== "");
}

/** Returns whether a file is there, and may be looked at. */
function isThere(path: string): boolean {
  return seen("", path) !== undefined;
}

/** The environments in the current folder, active or not, where it may be read. */
function environmentsHere(): string[] {
  if (!mayRead(".")) return [];
  try {
    return [".venv", "venv"].map((name) => `${Deno.cwd()}/${name}/lib`);
  } catch {
    return []; // the folder is gone
  }
}

/**
 * Returns the lib folders of Pythons: of the active environment, of the PATH, of the user, of pyenv and
 * of the system.
 */
function pythonRoots(): string[] {
  const roots: string[] = [];
  for (const variable of ["VIRTUAL_ENV", "CONDA_PREFIX"]) {
    const root = readVariable(variable);
    if (root !== undefined) roots.push(`${root}/lib`);
  }
  for (const folder of programFolders()) {
    if (folder.endsWith("/bin")) roots.push(`${folder.slice(0, -"/bin".length)}/lib`);
  }
  const home = readVariable("HOME");
  if (home !== undefined) roots.push(`${home}/.local/lib`);
  const pyenv = readVariable("PYENV_ROOT") ?? (home === undefined ? undefined : `${home}/.pyenv`);
  for (const version of pyenv === undefined ? [] : namesIn(`${pyenv}/versions`)) {
    roots.push(`${pyenv}/versions/${version}/lib`);
  }
  return [...new Set([...roots, ...PYTHON_ROOTS])];
}

/** The folders that the loader's configuration adds. */
function configuredFolders(): string[] {
  const folder = "/etc/ld.so.conf.d";
  const files = ["/etc/ld.so.conf", ...namesIn(folder).map((name) => `${folder}/${name}`)];
  return files.flatMap((file) => textOf(file).split("\n"))
    .map((line) => line.trim())
    .filter((line) => line.startsWith("/"));
}

function namesIn(folder: string): string[] {
  if (!mayRead(folder)) return [];
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name).sort().reverse();
  } catch {
    return [];
  }
}

/** Reads a file; returns an empty text when it does not exist or may not be read. */
export function textOf(path: string): string {
  if (!mayRead(path)) return "";
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

/** Returns whether a path may be read without a prompt. */
export function mayRead(path: string): boolean {
  return Deno.permissions.querySync({ name: "read", path }).state === "granted";
}
