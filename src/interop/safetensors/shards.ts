// Which files a model lies in: one, several, or those that an index names.

import { dirname, join } from "node:path";
import { type FilePath, pathOf } from "../../transfer/disk_file.ts";
import { isWebAddress } from "../web_address.ts";
import { findDuplicateKey } from "./duplicate_key.ts";
import { SafetensorsError } from "./error.ts";

/** Where a model lies: a file, several, or an index (`model.safetensors.index.json`). */
export type SafetensorsSource = FilePath | readonly FilePath[];

/** One file of a model. */
export interface Shard {
  /** Where it lies. */
  readonly path: string;
  /** The tensors that the index expects in it; undefined without an index. */
  readonly names?: ReadonlySet<string>;
}

/**
 * Finds the files of a model.
 *
 * @throws SafetensorsError when an index is none, or names files outside its folder.
 * @throws TypeError for an address on the web.
 */
export async function findShards(source: SafetensorsSource): Promise<Shard[]> {
  const paths = typeof source === "string" || source instanceof URL ? [source] : source;
  const address = paths.find(isWebAddress);
  if (address !== undefined) {
    throw new TypeError(`Cannot load ${address}: expected a file; download it first`);
  }
  const shards: Shard[] = [];
  for (const path of paths.map(pathOf)) {
    if (path.endsWith(".json")) shards.push(...await readIndex(path));
    else shards.push({ path });
  }
  return shards;
}

async function readIndex(path: string): Promise<Shard[]> {
  const weightMap = parseIndex(path, await Deno.readTextFile(path));
  const names = Map.groupBy(Object.entries(weightMap), ([, file]) => file);
  return [...names].map(([file, entries]) => {
    if (file.startsWith("/") || file.split(/[\\/]/).includes("..")) {
      throw new SafetensorsError(path, `it names "${file}", which is outside its folder`);
    }
    return { path: join(dirname(path), file), names: new Set(entries.map(([name]) => name)) };
  });
}

function parseIndex(path: string, text: string): Record<string, string> {
  let index: unknown;
  try {
    index = JSON.parse(text);
  } catch (cause) {
    throw new SafetensorsError(path, "it is not JSON", { cause });
  }
  const duplicate = findDuplicateKey(text);
  if (duplicate !== undefined) throw new SafetensorsError(path, `it has "${duplicate}" twice`);
  const weightMap = index instanceof Object && "weight_map" in index ? index.weight_map : undefined;
  if (!isTextMap(weightMap)) {
    throw new SafetensorsError(path, "it has no weight_map from names to files");
  }
  return weightMap;
}

function isTextMap(value: unknown): value is Record<string, string> {
  return value instanceof Object && !Array.isArray(value) &&
    Object.values(value).every((text) => typeof text === "string");
}
