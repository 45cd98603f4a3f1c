// Finds the files of a model: one, several, or those that an index names.

import { factsBehind } from "../../disk/file_facts.ts";
import { type FilePath, pathOf, realPathOf, requireAccess } from "../../disk/file_path.ts";
import { FileReading } from "../../disk/file_reading.ts";
import { FileTurn } from "../../disk/file_turns.ts";
import { builtin } from "../../words/builtin.ts";
import { otherSort } from "../../words/file_sorts.ts";
import { SafetensorsError } from "./error.ts";
import { MAX_HEADER_BYTES } from "./header.ts";
import { JsonError, JsonScanner } from "./json_scanner.ts";

/**
 * Location of a model: a file, several files, an index (`model.safetensors.index.json`), or a folder
 * with an index or only with files of the model.
 */
export type SafetensorsSource = FilePath | readonly FilePath[];

/** One file of a model. */
export interface Shard {
  /** The file, found, with its turn in the order of calls. */
  readonly reading: FileReading;
  /** Names of the tensors that the index expects in it; undefined without an index. */
  readonly names?: ReadonlySet<string>;
}

/** Parameters for finding the files. */
interface Finding {
  /** Collects the readings, which the caller disposes. */
  readonly resources: DisposableStack;
  /** Ends the search early. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Finds the files of a model, all before the first of them is opened. Waits for files that the
 * program is writing only when an index must be read first.
 *
 * @throws SafetensorsError when a file is not an index, or names files outside its folder.
 * @throws TypeError for an address on the web.
 */
export async function findShards(source: SafetensorsSource, finding: Finding): Promise<Shard[]> {
  const given: readonly FilePath[] = Array.isArray(source) ? source : [source];
  if (given.length === 0) {
    throw new TypeError("Cannot load a model: the list of its files is empty");
  }
  const paths = given.flatMap(filesAt);
  const readings = paths.map((path) => finding.resources.use(new FileReading(path)));
  const shards: Shard[] = [];
  for (const reading of readings) {
    if (reading.path.endsWith(".json")) shards.push(...await readIndex(reading, finding));
    else shards.push({ reading });
  }
  return shards;
}

/** Returns a file's path; a folder's index, or all its files, those being written included. */
function filesAt(source: FilePath): FilePath[] {
  const path = pathOf(source);
  requireAccess(path, "read");
  if (factsBehind(path)?.kind !== "folder") return [source];
  const there = Array.from(Deno.readDirSync(path), ({ name }) => name);
  const names = [...new Set([...there, ...FileTurn.namesToCome(realPathOf(path))])].sort();
  const indices = names.filter((name) => name.endsWith(".safetensors.index.json"));
  if (indices.length > 1) {
    throw new SafetensorsError(path, `it has ${indices.length} indices; name the one to load`);
  }
  const files = indices.length > 0
    ? indices
    : names.filter((name) => name.endsWith(".safetensors"));
  if (files.length === 0) {
    throw new SafetensorsError(path, "it is a folder without files that end in .safetensors");
  }
  const { join } = builtin("node:path");
  return files.map((name) => join(path, name));
}

async function readIndex(index: FileReading, { resources, signal }: Finding): Promise<Shard[]> {
  const { path } = index;
  const { dirname, join } = builtin("node:path");
  if (!index.isDue) await index.opened(signal);
  const weightMap = parseIndex(path, readText(index));
  const names = Map.groupBy(weightMap, ([, file]) => file);
  return [...names].map(([file, entries]) => {
    if (file.includes("\0")) {
      throw new SafetensorsError(
        path,
        `it names ${JSON.stringify(file)}, which no file can be called`,
      );
    }
    if (file.startsWith("/") || file.split(/[\\/]/).includes("..")) {
      throw new SafetensorsError(path, `it names "${file}", which is outside its folder`);
    }
    const reading = resources.use(new FileReading(join(dirname(path), file)));
    return { reading, names: new Set(entries.map(([name]) => name)) };
  });
}

/** Reads an index at once, so that later calls cannot change the files that it names. */
function readText(index: FileReading): string {
  const { file, byteLength } = index.open();
  if (byteLength > MAX_HEADER_BYTES) {
    throw new SafetensorsError(
      index.path,
      `it has ${byteLength} bytes, more than the ${MAX_HEADER_BYTES} that an index may have`,
    );
  }
  const bytes = new Uint8Array(byteLength);
  file.readSync(bytes, 0);
  const other = otherSort(bytes);
  if (other !== undefined && other !== "JSON") {
    throw new SafetensorsError(index.path, `it is no index of a model but ${other}`);
  }
  return new TextDecoder().decode(bytes);
}

/** Returns the file of each tensor, by name. */
function parseIndex(path: string, text: string): Map<string, string> {
  const scanner = new JsonScanner(text);
  let weightMap: Map<string, string> | undefined;
  try {
    if (!scanner.isAtObject) throw noWeightMap(path);
    for (let name = scanner.firstName(); name !== undefined; name = scanner.nextName()) {
      if (name !== "weight_map") {
        scanner.value();
        continue;
      }
      if (weightMap !== undefined) throw new SafetensorsError(path, `it has "${name}" twice`);
      weightMap = readWeightMap(path, scanner);
    }
    scanner.end();
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause;
    throw new SafetensorsError(path, `it is not JSON: ${cause.message}`, { cause });
  }
  if (weightMap === undefined) throw noWeightMap(path);
  if (weightMap.size === 0) throw new SafetensorsError(path, "its weight_map names no tensors");
  return weightMap;
}

function readWeightMap(path: string, scanner: JsonScanner): Map<string, string> {
  if (!scanner.isAtObject) throw noWeightMap(path);
  const weightMap = new Map<string, string>();
  for (let name = scanner.firstName(); name !== undefined; name = scanner.nextName()) {
    const file = scanner.value();
    if (typeof file !== "string") throw noWeightMap(path);
    if (weightMap.has(name)) throw new SafetensorsError(path, `it has "${name}" twice`);
    weightMap.set(name, file);
  }
  return weightMap;
}

function noWeightMap(path: string): SafetensorsError {
  return new SafetensorsError(path, "it has no weight_map from names to files");
}
