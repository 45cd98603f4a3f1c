// Models that Python's huggingface_hub has downloaded: found in its cache by name and revision, without the
// network. A snapshot is a folder of links to blobs; a ref is a file with the name of a snapshot.

import type { DeviceAllocator } from "../buffers/device_buffer.ts";
import { factsAt, factsBehind } from "../disk/file_facts.ts";
import { type FilePath, pathOf, readLink, requireAccess } from "../disk/file_path.ts";
import { reworded } from "../disk/system_error.ts";
import { builtin } from "../words/builtin.ts";
import { describeValue, messageOf, visibleText } from "../words/format.ts";
import { ANYTHING, OptionSet, TEXT } from "../words/options.ts";
import { SafetensorsError } from "./safetensors/header.ts";
import {
  loadSafetensors,
  type LoadSafetensorsOptions,
  SAFETENSORS_KINDS,
} from "./safetensors/load.ts";
import type { SafetensorsModel } from "./safetensors/model.ts";

/** A place in the cache of huggingface_hub. */
export interface HubOptions {
  /** Branch, tag, pull request (`refs/pr/1`) or commit; `"main"` by default. */
  readonly revision?: string | undefined;
  /** Path of a file or folder in the repository; all of it by default. */
  readonly file?: string | undefined;
  /** The cache; by default that of huggingface_hub, from `HF_HUB_CACHE`, `HF_HOME` or `XDG_CACHE_HOME`. */
  readonly cacheDir?: FilePath | undefined;
}

/** Options for {@link hubModel}. */
export interface HubModelOptions extends HubOptions, LoadSafetensorsOptions {}

const HUB_KINDS = { revision: TEXT, file: TEXT, cacheDir: ANYTHING } as const;
const HUB_OPTIONS = new OptionSet<HubOptions>(HUB_KINDS);
const MODEL_OPTIONS = new OptionSet<HubModelOptions>({ ...SAFETENSORS_KINDS, ...HUB_KINDS });

/** The names under which most programs save a model, the first of which is there is loaded. */
const MODEL_NAMES = ["model.safetensors", "model.safetensors.index.json"];

const GGUF_FIX = 'loadGguf() of "vramkit/gguf" takes what localPath() returns';

/** Names of repositories: one or two parts. */
const REPOSITORY = /^[\w][\w.-]*(\/[\w][\w.-]*)?$/;

/**
 * Loads a safetensors model that huggingface_hub has downloaded: `model.safetensors`, the files that
 * its index names, or all that end in `.safetensors`; with `file` that file or folder. Never uses the
 * network. Needs `--allow-read`, and `--allow-env` unless `cacheDir` is given.
 *
 * @throws Deno.errors.NotFound when it was not downloaded; the message says which part is missing, and
 *   the command that brings it.
 * @throws SafetensorsError when a file breaks the format, or the snapshot has none of a model.
 */
export async function hubModel(
  repository: string,
  gpu: DeviceAllocator,
  options: HubModelOptions = {},
): Promise<SafetensorsModel> {
  const { revision, file, cacheDir, ...loading } = MODEL_OPTIONS.read(options, "hubModel");
  const path = localPath(repository, { revision, file, cacheDir });
  if (path.endsWith(".gguf")) {
    throw new TypeError(`Cannot load ${visibleText(path)}: it is GGUF; ${GGUF_FIX}`);
  }
  const names = namesIn(path);
  if (file === undefined && !names.includes(".safetensors")) {
    const fix = names.includes(".gguf")
      ? GGUF_FIX
      : `pass a folder of it as { file }, or ${remedy(repository, { revision })}`;
    const reason = "it is a folder without files that end in .safetensors";
    throw new SafetensorsError(path, `${reason}, it has ${names || "nothing"}; ${fix}`);
  }
  const { join } = builtin("node:path");
  const known = file === undefined ? MODEL_NAMES.map((name) => join(path, name)) : [];
  try {
    const found = known.find((name) => factsAt(name) !== undefined) ?? path;
    return await loadSafetensors(found, gpu, loading);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw reworded(error, `${messageOf(error)}; ${remedy(repository, { revision })}`);
  }
}

/**
 * Returns the path of a repository's snapshot that huggingface_hub has downloaded, or of a file or
 * folder in it. Never uses the network. Needs `--allow-read`, and `--allow-env` unless `cacheDir` is
 * given.
 *
 * @throws Deno.errors.NotFound when it was not downloaded; the message says which part is missing, and
 *   the command that brings it.
 */
export function localPath(repository: string, options: HubOptions = {}): string {
  options = HUB_OPTIONS.read(options, "localPath");
  const { revision = "main", file, cacheDir } = options;
  if (typeof repository !== "string" || !REPOSITORY.test(repository)) {
    throw new TypeError(
      `Cannot find ${describeValue(repository)}: expected the name of a repository, as "org/name"`,
    );
  }
  const wanted = file === undefined ? undefined : checkedPath(file, "file");
  const { join } = builtin("node:path");
  const cache = cacheDir === undefined ? cacheFolder() : pathOf(cacheDir);
  const folder = join(cache, `models--${repository.replace("/", "--")}`);
  requireAccess(folder, "read");
  const lacks = (reason: string) => {
    const name = `${repository}${file === undefined ? "" : `/${file}`} at ${revision}`;
    const words = `Cannot find ${name}: ${reason}; ${remedy(repository, options)}`;
    return new Deno.errors.NotFound(visibleText(words));
  };
  if (factsBehind(folder) === undefined) throw lacks(`there is no ${folder}`);
  const commit = commitOf(folder, revision) ?? revision;
  const snapshot = join(folder, "snapshots", commit);
  if (!isPlain(commit) || factsBehind(snapshot) === undefined) {
    const there = namesIn(join(folder, "refs"));
    throw lacks(`it has no such snapshot${there === "" ? "" : `, and the revisions ${there}`}`);
  }
  if (wanted === undefined) return snapshot;
  const path = join(snapshot, wanted);
  if (factsBehind(path) !== undefined) return path;
  if (factsAt(path) !== undefined) {
    throw lacks(`its blob ${join(path, "..", readLink(path) ?? "")} is missing`);
  }
  const isKnownAbsent = factsAt(join(folder, ".no_exist", commit, wanted)) !== undefined;
  throw lacks(isKnownAbsent ? "the hub has no such file" : "it was not downloaded");
}

/** Returns the cache that huggingface_hub uses with this environment. */
function cacheFolder(): string {
  const { join } = builtin("node:path");
  const { env } = Deno;
  const home = env.get("HF_HOME") ?? join(env.get("XDG_CACHE_HOME") ?? "~/.cache", "huggingface");
  const own = env.get("HF_HUB_CACHE") ?? env.get("HUGGINGFACE_HUB_CACHE");
  return pathOf(expanded(own ?? join(expanded(home), "hub")));
}

/** Puts the home folder for a tilde, and variables for their names, as Python does. */
function expanded(path: string): string {
  const home = path.replace(/^~(?=\/|$)/, () => Deno.env.get("HOME") ?? "~");
  return home.replace(/\$(?:(\w+)|\{([^}]*)\})/g, (whole, plain, braced) => {
    return Deno.env.get(plain ?? braced) ?? whole;
  });
}

/** Returns the commit that a ref names; undefined when there is no such ref. */
function commitOf(folder: string, revision: string): string | undefined {
  const path = builtin("node:path").join(folder, "refs", checkedPath(revision, "revision"));
  return factsBehind(path)?.kind === "file" ? Deno.readTextFileSync(path).trim() : undefined;
}

/** Checks that a path stays below the folder that it is joined to. */
function checkedPath(path: string, what: string): string {
  if (path.split("/").every(isPlain)) return path;
  throw new TypeError(
    `Cannot use the ${what} ${describeValue(path)}: expected a path in the repository`,
  );
}

function isPlain(name: string): boolean {
  return /^[^\\/\0]{1,255}$/.test(name) && name !== "." && name !== "..";
}

function namesIn(folder: string): string {
  if (factsBehind(folder)?.kind !== "folder") return "";
  return Array.from(Deno.readDirSync(folder), ({ name }) => name).sort().join(", ");
}

/** Returns the words for the command that downloads what is missing. */
function remedy(repository: string, { revision, file }: HubOptions): string {
  const of = file === undefined ? "" : ` ${file}`;
  const at = revision === undefined ? "" : ` --revision ${revision}`;
  return `\`hf download ${repository}${of}${at}\` brings it`;
}
