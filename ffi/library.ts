// Finds and opens a library on first use, and binds its functions when they are first needed.
// Libraries stay open for the life of the process: a call into a closed one is a crash.

import { CUDA_GROUPS, type DriverApi } from "./cuda.ts";

/** The reason why a library could not be used. */
export type LibraryFailure = "permission" | "no-library" | "bad-library";

/** Reports a library that cannot be opened, with every name that was tried. */
export class LibraryError extends Error {
  override readonly name = "LibraryError";
  /** Reason of the failure: no permission, no file, or a file that is not the library. */
  readonly reason: LibraryFailure;
  /** Names and paths that were tried or denied, in order. */
  readonly tried: readonly string[];

  /** Creates the error from its message and the names that were tried. */
  constructor(
    message: string,
    options: { reason: LibraryFailure; tried: readonly string[]; cause?: unknown },
  ) {
    super(message, "cause" in options ? { cause: options.cause } : {});
    this.reason = options.reason;
    this.tried = options.tried;
  }
}

/** The library to look for, and the words for it and its remedy in errors. */
export interface LibrarySearch {
  /** Name of the library in errors: `"the CUDA driver"`. */
  readonly title: string;
  /** Names and paths, best first. */
  readonly candidates: readonly string[];
  /** Remedy when none can be opened: `"pass { libraryPath }"`. */
  readonly remedy: string;
  /** Asks for a permission that is missing; true unless given. */
  readonly prompts?: boolean;
}

/** The functions of several tables as one object. */
export type BoundGroups<Groups extends readonly Deno.ForeignLibraryInterface[]> = Groups extends
  readonly [
    infer First extends Deno.ForeignLibraryInterface,
    ...infer Rest extends readonly Deno.ForeignLibraryInterface[],
  ] ? Deno.DynamicLibrary<First>["symbols"] & BoundGroups<Rest>
  : unknown;

/** An open library: its functions, and the name or path it was opened by. */
export interface OpenLibrary<Api> {
  /** The functions, own and enumerable, so that a spread copies them. */
  readonly api: Api;
  /** The candidate that could be opened. */
  readonly path: string;
}

interface BadLibrary {
  readonly path: string;
  readonly cause: Error;
}

/** Names of the driver library; the paths serve `--allow-ffi=<path>`, WSL and containers. */
const DRIVER_NAMES: Partial<Record<typeof Deno.build.os, readonly string[]>> = {
  linux: [
    "libcuda.so.1",
    "libcuda.so",
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
  ],
  windows: ["nvcuda.dll", "C:\\Windows\\System32\\nvcuda.dll"],
};

const DRIVER_VARIABLE = "VRAMKIT_CUDA";

const openDrivers = new Map<string | undefined, OpenLibrary<DriverApi>>();

/** Place of the CUDA driver library, if not its usual one. */
export interface DriverLocation {
  readonly libraryPath?: string | undefined;
}

/**
 * Opens the CUDA driver library, once for a process and path.
 *
 * A `libraryPath`, or else the environment variable VRAMKIT_CUDA where it may be read without a
 * prompt, is the only candidate; without either the system's names are tried in turn, but for those
 * that were opened before and are stubs.
 *
 * @throws LibraryError when there is no permission, no library, or a file that is not the driver.
 */
export function openDriver(
  { libraryPath }: DriverLocation = {},
  stubs: readonly string[] = [],
): OpenLibrary<DriverApi> {
  const chosen = libraryPath ?? readVariable(DRIVER_VARIABLE);
  const known = openDrivers.get(chosen);
  if (known !== undefined && !stubs.includes(known.path)) return known;
  const names = chosen === undefined ? DRIVER_NAMES[Deno.build.os] ?? [] : [chosen];
  const opened = openLibrary({
    title: "the CUDA driver",
    candidates: names.filter((name) => !stubs.includes(name)),
    remedy: `pass { libraryPath } or set ${DRIVER_VARIABLE}`,
  }, CUDA_GROUPS);
  const driver = openDrivers.get(opened.path) ?? opened;
  openDrivers.set(opened.path, driver).set(chosen, driver);
  return driver;
}

/**
 * Opens the first candidate that exists and has the functions of the first group.
 *
 * @throws LibraryError when none is.
 */
export function openLibrary<const Groups extends readonly Deno.ForeignLibraryInterface[]>(
  search: LibrarySearch,
  groups: Groups,
): OpenLibrary<BoundGroups<Groups>> {
  const tried = permittedCandidates(search);
  let bad: BadLibrary | undefined;
  for (const path of tried) {
    try {
      return { api: bindLazily(path, groups), path };
    } catch (cause) {
      if (!(cause instanceof Error)) throw cause;
      if (cause instanceof Deno.errors.NotCapable) throw refused(search);
      if (!isMissing({ path, cause })) bad ??= { path, cause };
    }
  }
  const { title, remedy } = search;
  if (bad !== undefined) {
    const state = `${bad.path} cannot be used (${loaderReason(bad)})`;
    throw new LibraryError(
      `Cannot open ${title}: ${state}; ${remedy}`,
      { reason: "bad-library", tried, cause: bad.cause },
    );
  }
  const state = tried.length > 0
    ? `tried ${tried.join(", ")}`
    : `there is none for ${Deno.build.os}`;
  throw new LibraryError(`Cannot open ${title}: ${state}; ${remedy}`, {
    reason: "no-library",
    tried,
  });
}

/**
 * Binds the first group of a library's functions now and each other function when it is first read:
 * to bind one takes 0.1 to 0.2 ms, because Deno compiles its call. Until then its property is a
 * getter; afterwards it is a plain property, so that a call costs one property load.
 *
 * @throws Error of `Deno.dlopen` for the first group; reading a later function that the library
 * lacks throws a LibraryError.
 */
export function bindLazily<const Groups extends readonly Deno.ForeignLibraryInterface[]>(
  path: string,
  groups: Groups,
): BoundGroups<Groups> {
  const [first = {}, ...others] = groups;
  const api: Record<string, unknown> = { ...Deno.dlopen(path, first).symbols };
  for (const [name, definition] of others.flatMap((group) => Object.entries(group))) {
    Object.defineProperty(api, name, {
      configurable: true,
      enumerable: true,
      get(): unknown {
        const value = bindOne(path, { [name]: definition })[name];
        const plain = { configurable: true, enumerable: true, writable: true, value };
        Object.defineProperty(api, name, plain);
        return value;
      },
    });
  }
  return api as BoundGroups<Groups>;
}

function bindOne(path: string, one: Deno.ForeignLibraryInterface): Record<string, unknown> {
  try {
    return Deno.dlopen(path, one).symbols;
  } catch (cause) {
    if (!(cause instanceof Error) || cause instanceof Deno.errors.NotCapable) throw cause;
    throw new LibraryError(
      `Cannot bind a function of ${path}: ${loaderReason({ path, cause })}`,
      { reason: "bad-library", tried: [path], cause },
    );
  }
}

/**
 * Narrows the candidates to those that may be opened. With `--allow-ffi=<path>` a bare name is not
 * one of them, because Deno would resolve it against the working folder. Without any permission it
 * asks once, for all.
 */
function permittedCandidates(search: LibrarySearch): readonly string[] {
  const { candidates } = search;
  if (Deno.permissions.querySync({ name: "ffi" }).state === "granted") return candidates;
  const permitted = candidates.filter((path) =>
    namesFile(path) && Deno.permissions.querySync({ name: "ffi", path }).state === "granted"
  );
  if (permitted.length > 0) return permitted;
  if (search.prompts === false) throw refused(search);
  if (Deno.permissions.requestSync({ name: "ffi" }).state === "granted") return candidates;
  throw refused(search);
}

function refused({ title, candidates }: LibrarySearch): LibraryError {
  return new LibraryError(
    `Cannot open ${title}: access to native libraries is not granted; run again with --allow-ffi`,
    { reason: "permission", tried: candidates },
  );
}

/** Reads an environment variable that may be read without a prompt; undefined when it is empty. */
export function readVariable(variable: string): string | undefined {
  const { state } = Deno.permissions.querySync({ name: "env", variable });
  return state === "granted" ? Deno.env.get(variable) || undefined : undefined;
}

/** Returns whether a name of a library is a path, which `--allow-ffi` can name too. */
export function namesFile(candidate: string): boolean {
  return /[\\/]/.test(candidate);
}

/** Distinguishes a missing file from a library that lacks one of its own dependencies. */
function isMissing({ path, cause }: BadLibrary): boolean {
  if (Deno.build.os === "windows") return cause.message.includes("could not be found");
  return cause.message.includes(`${path}: cannot open shared object file: No such file`);
}

/** Cuts the loader's message down to `"invalid ELF header"` or `"undefined symbol: cuInit"`. */
function loaderReason({ path, cause }: BadLibrary): string {
  const symbol = /undefined symbol: \S+$/.exec(cause.message);
  return symbol?.[0] ?? cause.message.split(`${path}: `).at(-1) ?? cause.message;
}
