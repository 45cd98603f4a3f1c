// The origin of persisted memory: the files that were loaded, and the program's own key. A name is
// opened only by who asks for the same.

import { factsBehind } from "../disk/file_facts.ts";
import type { LoadedFile } from "../disk/loaded_files.ts";
import { formatBytes, formatCount, visibleText } from "../words/format.ts";

/** The origin of persisted memory. */
export interface PersistOrigin {
  /** The files that the kit loaded while it was made, in that order. */
  readonly files: readonly LoadedFile[];
  /** The program's own key. */
  readonly key?: string | undefined;
}

/** Describes an origin in few words. */
export function originWords({ files, key }: PersistOrigin): string {
  const [first] = files;
  const named = first === undefined ? "no files" : visibleText(first.path);
  const more = files.length > 1 ? ` and ${formatCount(files.length - 1, "other file")}` : "";
  return `${named}${more}${key === undefined ? "" : `, key "${visibleText(key)}"`}`;
}

/** Says how what is asked for differs from an origin; undefined when it does not, as far as can be seen. */
export function differenceFrom(
  { files, key: formerKey }: PersistOrigin,
  { key }: { readonly key: string | undefined },
): string | undefined {
  if (key !== formerKey) {
    return `it was made with ${keyWords(formerKey)}, this call has ${keyWords(key)}`;
  }
  for (const { path, byteLength, modifiedAt } of files) {
    const facts = factsNow(path);
    if (facts === undefined) continue; // nothing could be made anew of it either
    if (facts.byteLength === byteLength && facts.modifiedAt === modifiedAt) continue;
    const then = `${formatBytes(byteLength)} of ${timeWords(modifiedAt)}`;
    const now = `${formatBytes(facts.byteLength)} of ${timeWords(facts.modifiedAt)}`;
    return `${visibleText(path)} was ${then} then, and is ${now} now`;
  }
  return undefined;
}

/** Writes a time for people. */
export function timeWords(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
}

function keyWords(key: string | undefined): string {
  return key === undefined ? "no key" : `key "${visibleText(key)}"`;
}

function factsNow(path: string): ReturnType<typeof factsBehind> {
  try {
    return factsBehind(path);
  } catch {
    return undefined;
  }
}
