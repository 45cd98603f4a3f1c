// The kit as a release has it, for programs in processes of their own: they start in a third of the
// time that the sources take. It is built once for each state of the sources.

import { fileURLToPath } from "node:url";
import config from "../../deno.json" with { type: "json" };
import { bundlePrograms, RELEASE_FILES } from "../../release/bundle.ts";
import { PROJECT_ROOT } from "./project_files.ts";

/** Where builds lie, each in a folder that is named for its sources; git ignores it. */
const BUILDS = fileURLToPath(new URL("_release/builds", PROJECT_ROOT));

/** Builds of other states are kept for so long, as another process may still use them. */
const KEPT_MILLISECONDS = 3_600_000;

type Entry = keyof typeof config.exports;

/** The files of a build. */
export interface BuiltKit {
  /** Its configuration, in which `"vramkit"` and all entries, by path as well, have these addresses. */
  readonly config: string;
  /** The address of an entry's file, such as `file:///.../vramkit.js` for `"."`. */
  addressOf(entry: Entry): string;
}

/** A specifier of one of the kit's files, from the project's root or by its whole address. */
const SPECIFIER = /(?<=["'])(?:\.\/|file:[^"']*\/)((?:mod|(?:src|ffi|tests)\/[^"']*)\.ts)(?=["'])/g;

/**
 * Returns a program with the entries that it imports in built files; a program that imports anything
 * else of the project stays as it is, because the kit must not be loaded twice. So does every program
 * where nothing can be built, such as on a GPU host without a network: deno bundle fetches esbuild.
 */
export async function withBuiltKit(program: string): Promise<string> {
  const paths = [...program.matchAll(SPECIFIER)].map(([, path]) => `./${path}`);
  const entries = new Map(Object.entries(config.exports).map(([entry, path]) => [path, entry]));
  if (paths.length === 0 || !paths.every((path) => entries.has(path))) return program;
  const kit = await kitIfBuilt();
  if (kit === undefined) return program;
  const { addressOf } = kit;
  return program.replaceAll(SPECIFIER, (_, path) => addressOf(entries.get(`./${path}`) as Entry));
}

/**
 * Returns the flags of `deno run` by which a file that imports nothing of `src` and `ffi` but entries, as
 * their types or in what it imports, has them in built files; no flags where nothing can be built.
 */
export async function flagsOfBuiltKit(): Promise<readonly string[]> {
  const kit = await kitIfBuilt();
  return kit === undefined ? [] : ["--no-lock", "--config", kit.config];
}

async function kitIfBuilt(): Promise<BuiltKit | undefined> {
  try {
    return await builtKit();
  } catch (error) {
    console.log(`Programs start from the sources: ${error}`);
    return undefined;
  }
}

let built: Promise<BuiltKit> | undefined;

/** Returns the kit in built files. */
export function builtKit(): Promise<BuiltKit> {
  return built ??= build();
}

async function build(): Promise<BuiltKit> {
  const folder = `${BUILDS}/${await stateOfSources()}`;
  if (!exists(folder)) {
    Deno.mkdirSync(BUILDS, { recursive: true });
    removeOld();
    // Written beside its place and renamed: several processes may build at once.
    const unfinished = Deno.makeTempDirSync({ dir: BUILDS });
    for (const [name, text] of await bundlePrograms()) {
      Deno.writeTextFileSync(`${unfinished}/${name}`, text);
    }
    const imports: Record<string, string> = { ...config.imports, ...importsFrom(folder) };
    for (const [name, address] of Object.entries(imports)) {
      if (address.startsWith("./")) imports[name] = new URL(address, PROJECT_ROOT).href;
    }
    for (const [entry, path] of Object.entries(config.exports)) {
      imports[new URL(path, PROJECT_ROOT).href] = imports[entry.replace(/^\./, "vramkit")] ?? "";
    }
    Deno.writeTextFileSync(`${unfinished}/deno.json`, JSON.stringify({ imports }));
    try {
      Deno.renameSync(unfinished, folder);
    } catch (error) {
      if (!exists(folder)) throw error;
      Deno.removeSync(unfinished, { recursive: true });
    }
  }
  const addresses = importsFrom(folder);
  return {
    config: `${folder}/deno.json`,
    addressOf: (entry) => addresses[entry.replace(/^\./, "vramkit")] ?? "",
  };
}

/** The entries by the names that programs import. */
function importsFrom(folder: string): Record<string, string> {
  const pairs = Object.entries(RELEASE_FILES).flatMap(([file, entries]) =>
    entries.map((entry) => [entry.replace(/^\./, "vramkit"), `file://${folder}/${file}.js`])
  );
  return Object.fromEntries(pairs);
}

/** Returns a name for the sources as they are now. */
async function stateOfSources(): Promise<string> {
  const facts: string[] = [];
  for (
    const path of ["mod.ts", "deno.json", "release", "ffi", "src", "tests/support/built_kit.ts"]
  ) {
    noteFacts(new URL(path, PROJECT_ROOT), facts);
  }
  const bytes = new TextEncoder().encode(facts.sort().join("\n"));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex().slice(0, 16);
}

function noteFacts(url: URL, facts: string[]): void {
  const { isDirectory, mtime, size } = Deno.statSync(url);
  if (!isDirectory) facts.push(`${url} ${mtime?.getTime()} ${size}`);
  else for (const { name } of Deno.readDirSync(url)) noteFacts(new URL(`${url}/${name}`), facts);
}

function removeOld(): void {
  for (const { name } of Deno.readDirSync(BUILDS)) {
    const path = `${BUILDS}/${name}`;
    const { mtime } = Deno.statSync(path);
    if (Date.now() - (mtime?.getTime() ?? 0) < KEPT_MILLISECONDS) continue;
    Deno.removeSync(path, { recursive: true });
  }
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}
