// Which files a model lies in: one, several, or those that an index names.

import { dirname, join } from "node:path";
import { type FilePath, pathOf } from "../../transfer/disk_file.ts";
import { isWebAddress } from "../web_address.ts";
import { SafetensorsError } from "./error.ts";
import { JsonError, JsonScanner } from "./json_scanner.ts";

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
  const names = Map.groupBy(weightMap, ([, file]) => file);
  return [...names].map(([file, entries]) => {
    if (file.startsWith("/") || file.split(/[\\/]/).includes("..")) {
      throw new SafetensorsError(path, `it names "${file}", which is outside its folder`);
    }
    return { path: join(dirname(path), file), names: new Set(entries.map(([name]) => name)) };
  });
}

/** Reads which file each tensor is in. */
function parseIndex(path: string, text: string): Map<string, string> {
  const scanner = new JsonScanner(text);
  let weightMap: Map<string, string> | undefined;
  try {
    if (!scanner.isAtObject) throw noWeightMap(path);
    scanner.object((name) => {
      if (name !== "weight_map") return void scanner.value();
      if (weightMap !== undefined) throw new SafetensorsError(path, `it has "${name}" twice`);
      weightMap = readWeightMap(path, scanner);
    });
    scanner.end();
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause;
    throw new SafetensorsError(path, `it is not JSON: ${cause.message}`, { cause });
  }
  if (weightMap === undefined) throw noWeightMap(path);
  return weightMap;
}

function readWeightMap(path: string, scanner: JsonScanner): Map<string, string> {
  if (!scanner.isAtObject) throw noWeightMap(path);
  const weightMap = new Map<string, string>();
  scanner.object((name) => {
    const file = scanner.value();
    if (typeof file !== "string") throw noWeightMap(path);
    if (weightMap.has(name)) throw new SafetensorsError(path, `it has "${name}" twice`);
    weightMap.set(name, file);
  });
  return weightMap;
}

function noWeightMap(path: string): SafetensorsError {
  return new SafetensorsError(path, "it has no weight_map from names to files");
}
