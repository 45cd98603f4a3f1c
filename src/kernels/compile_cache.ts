// The cache of compiled code: in memory for this process, and in a folder for later ones if the
// permissions allow that. An incomplete file counts as absent, and so does one that somebody else may
// have written: it would run on the GPU.

import { readVariable } from "../../ffi/library.ts";
import type { ParameterType } from "../../ffi/ptx.ts";
import { whyFileIsOpen, whyFolderIsOpen } from "../disk/trusted_file.ts";
import { joined } from "../words/joined_bytes.ts";
import { warn } from "../words/warning.ts";
import type { CompiledCode } from "./compiler.ts";
import { visibleText } from "../words/format.ts";

/** The most results that a process keeps. */
const MAX_IN_MEMORY = 256;

/** The most files that the folder keeps; the oldest are removed first. */
const MAX_FILES = 1000;

/** The first bytes of a file; a new layout gets a new number. */
const MAGIC = "vramkit3";

const ENDING = ".kernel";

/** The ending of a file that is being written. */
const UNFINISHED = ".part";

/** Age from which such a file was left by a process that was killed: it is written in one go. */
const LEFT_AFTER_MILLISECONDS = 60 * 60 * 1000;

/** A SHA-256 in hexadecimal digits. */
const DIGEST_LETTERS = 64;

/** Written before the code, as JSON. */
interface FileHead extends Pick<CompiledCode, "symbol" | "log"> {
  /** The kernels and their parameters: null for unknown ones. */
  readonly kernels: readonly (readonly [name: string, types: readonly ParameterType[] | null])[];
}

/** Code in memory, by the folder and its key. */
const kept = new Map<string, CompiledCode>();

/** The folders of which the program knows that code is left out. */
const refused = new Set<string | undefined>();

/** Makes the key of a compilation from everything that affects the result. */
export async function cacheKey(parts: readonly unknown[]): Promise<string> {
  return await digestOf(new TextEncoder().encode(JSON.stringify([MAGIC, ...parts])));
}

/** Returns the code of a key, from memory or from the folder. */
export async function findCode(key: string): Promise<CompiledCode | undefined> {
  const known = kept.get(`${cacheFolder()} ${key}`);
  if (known !== undefined) return known;
  const folder = trustedFolder();
  if (folder === undefined) return undefined;
  try {
    const path = `${folder}/${key}${ENDING}`;
    const reason = whyFileIsOpen(path);
    if (reason !== undefined) return void refuse(path, reason);
    const code = await readFile(await Deno.readFile(path));
    if (code !== undefined) keepInMemory(key, code);
    return code;
  } catch {
    return undefined; // not there, or closed to this user
  }
}

/** Keeps code, also in the folder if possible. A failure to write there is ignored. */
export async function keepCode(key: string, code: CompiledCode): Promise<void> {
  keepInMemory(key, code);
  const folder = cacheFolder();
  if (folder === undefined) return;
  const unfinished = `${folder}/${key}.${crypto.randomUUID()}${UNFINISHED}`;
  try {
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    if (trustedFolder() === undefined) return;
    await Deno.writeFile(unfinished, await fileOf(code), { createNew: true, mode: 0o600 });
    await Deno.rename(unfinished, `${folder}/${key}${ENDING}`);
    await tidy(folder);
  } catch {
    await Deno.remove(unfinished).catch(() => {});
  }
}

/** Returns the folder where only this user can have put code; warns once of another. */
function trustedFolder(): string | undefined {
  const folder = cacheFolder();
  if (folder === undefined) return undefined;
  try {
    const reason = whyFolderIsOpen(folder);
    if (reason === undefined) return folder;
    refuse(folder, reason);
  } catch {
    // It cannot be looked at.
  }
  return undefined;
}

/** Warns of what is left out, once for a folder. */
function refuse(path: string, reason: string): void {
  if (refused.has(cacheFolder())) return;
  refused.add(cacheFolder());
  warn(
    `Compiled code in ${visibleText(path)} is not used, and compiled anew: ${reason}; remove it, ` +
      "or name a folder of your own in VRAMKIT_CACHE",
  );
}

/** Returns the folder if it may be read and written without a prompt. */
export function cacheFolder(): string | undefined {
  const cache = readVariable("XDG_CACHE_HOME");
  const home = readVariable("HOME");
  const folder = readVariable("VRAMKIT_CACHE") ??
    (cache === undefined ? undefined : `${cache}/vramkit`) ??
    (home === undefined ? undefined : `${home}/.cache/vramkit`);
  if (folder === undefined) return undefined;
  const path = `${folder}/kernels`;
  const isOpen = (["read", "write"] as const).every((name) =>
    Deno.permissions.querySync({ name, path }).state === "granted"
  );
  return isOpen ? path : undefined;
}

function keepInMemory(key: string, code: CompiledCode): void {
  kept.set(`${cacheFolder()} ${key}`, code);
  const [oldest] = kept.keys();
  if (kept.size > MAX_IN_MEMORY && oldest !== undefined) kept.delete(oldest);
}

/**
 * Removes the oldest code, and what killed processes left. A process that still writes such a file
 * cannot give it its name, and only keeps that code in memory.
 */
async function tidy(folder: string): Promise<void> {
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name);
  const unfinished = await datedFiles(folder, names.filter((name) => name.endsWith(UNFINISHED)));
  const left = unfinished.filter(({ time }) => time < Date.now() - LEFT_AFTER_MILLISECONDS);
  const code = names.filter((name) => name.endsWith(ENDING));
  const dated = code.length > MAX_FILES ? await datedFiles(folder, code) : [];
  dated.sort((a, b) => a.time - b.time);
  for (const { path } of [...left, ...dated.slice(0, -MAX_FILES)]) {
    await Deno.remove(path).catch(() => {}); // another process removed it
  }
}

/** Returns when files were written; those that another process removed meanwhile are left out. */
async function datedFiles(
  folder: string,
  names: readonly string[],
): Promise<{ readonly path: string; readonly time: number }[]> {
  const dated = await Promise.all(names.map(async (name) => {
    const path = `${folder}/${name}`;
    const facts = await Deno.stat(path).catch(() => undefined);
    return facts && { path, time: facts.mtime?.getTime() ?? 0 };
  }));
  return dated.filter((file) => file !== undefined);
}

/** A file: the magic, a digest of the rest, the size of its head, the head as JSON, and the code. */
async function fileOf(code: CompiledCode): Promise<Uint8Array<ArrayBuffer>> {
  const { image, entries, symbol, log } = code;
  const kernels = [...entries].map(([name, types]) => [name, types ?? null] as const);
  const words = JSON.stringify({ kernels, symbol, log } satisfies FileHead);
  const head = new TextEncoder().encode(words);
  const size = new Uint8Array(4);
  new DataView(size.buffer).setUint32(0, head.byteLength, true);
  const body = joined([size, head, image]);
  return joined([new TextEncoder().encode(MAGIC + await digestOf(body)), body]);
}

/** Reads a file; undefined when it is incomplete. */
async function readFile(file: Uint8Array<ArrayBuffer>): Promise<CompiledCode | undefined> {
  const startBytes = MAGIC.length + DIGEST_LETTERS;
  const body = file.slice(startBytes);
  const start = new TextDecoder().decode(file.subarray(0, startBytes));
  if (start !== MAGIC + await digestOf(body)) return undefined;
  const end = 4 + new DataView(body.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(body.subarray(4, end))) as FileHead;
  const entries = new Map(head.kernels.map(([name, types]) => {
    return [name, types?.map(({ byteLength, kind }) => ({ byteLength, kind }))];
  }));
  return { image: body.slice(end), entries, symbol: head.symbol, log: head.log };
}

async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
