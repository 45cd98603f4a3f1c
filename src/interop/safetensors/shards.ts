// The files of a model: one, several, or those that an index names. They are opened and their headers read
// before there is memory for any tensor.

import type { DiskFile } from "../../disk/disk_file.ts";
import { factsBehind } from "../../disk/file_facts.ts";
import { type FilePath, pathOf, realPathOf, requireAccess } from "../../disk/file_path.ts";
import { FileReading } from "../../disk/file_reading.ts";
import { FileTurn } from "../../disk/file_turns.ts";
import { builtin } from "../../words/builtin.ts";
import { otherSort } from "../../words/file_error.ts";
import type { ByteSize } from "../../words/format.ts";
import { isAccepted } from "../../words/options.ts";
import { headerLimit, MAX_HEADER_BYTES, SafetensorsError, type TensorEntry } from "./header.ts";
import { JsonError, JsonScanner } from "./json_scanner.ts";
import { readHeader } from "./read_header.ts";

/**
 * Location of a model: a file, several files, an index (`model.safetensors.index.json`), or a folder
 * with an index or only with files of the model.
 */
export type SafetensorsSource = FilePath | readonly FilePath[];

/** One file of a model. */
interface Shard {
  /** The file, found, with its turn in the order of calls. */
  readonly reading: FileReading;
  /** Names of the tensors that the index expects in it; undefined without an index. */
  readonly names?: ReadonlySet<string>;
}

/** One file, opened, with its header. */
export interface OpenShard {
  readonly file: DiskFile;
  /** Metadata: strings about the file as a whole. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Offset in the file at which the data starts. */
  readonly dataOffset: number;
  /** The chosen tensors, in the order of the file. */
  readonly tensors: readonly TensorEntry[];
}

/** Options for opening the files of a model. */
interface OpenShardsOptions {
  /** Keeps the files open until the caller disposes it. */
  readonly resources: DisposableStack;
  /** Chooses tensors; all by default. */
  readonly filter?: ((tensor: TensorEntry) => boolean) | undefined;
  /** Largest header that is read; the format's own limit by default. */
  readonly maxHeaderSize?: ByteSize | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens the files of a model, one after another.
 *
 * @throws SafetensorsError when a file breaks the format, or two have a tensor of the same name.
 * @throws TypeError for an address on the web.
 */
export async function openShards(
  source: SafetensorsSource,
  options: OpenShardsOptions,
): Promise<OpenShard[]> {
  const { signal, filter = () => true } = options;
  const maxHeaderBytes = headerLimit(options.maxHeaderSize);
  const shards: OpenShard[] = [];
  const owners = new Map<string, string>();
  for (const { reading, names } of await findShards(source, options)) {
    signal?.throwIfAborted();
    const opened = await reading.opened(signal);
    const { tensors, metadata, dataOffset } = await readHeader(opened, maxHeaderBytes);
    if (names !== undefined) requireTensors(reading.path, { names, tensors });
    const wanted = tensors.filter((entry) => {
      return (names?.has(entry.name) ?? true) && isAccepted(filter, entry);
    });
    shards.push({ file: opened.file, metadata, dataOffset, tensors: wanted });
  }
  for (const { file, tensors } of shards) {
    for (const { name } of tensors) {
      const other = owners.get(name);
      if (other !== undefined) {
        throw new SafetensorsError(file.path, `tensor "${name}" is in ${other} too`);
      }
      owners.set(name, file.path);
    }
  }
  return shards;
}

/** Checks that a file has all tensors that the index expects in it. */
function requireTensors(
  path: string,
  { names, tensors }: { names: ReadonlySet<string>; tensors: readonly TensorEntry[] },
): void {
  const there = new Set(tensors.map(({ name }) => name));
  const missing = names.difference(there).values().next().value;
  if (missing === undefined) return;
  throw new SafetensorsError(path, `the index expects tensor "${missing}" in it, which it lacks`);
}

/**
 * Finds the files of a model, all before the first of them is opened. Waits for files that the
 * program is writing only when an index must be read first.
 *
 * @throws SafetensorsError when a file is not an index, or names files outside its folder.
 * @throws TypeError for an address on the web.
 */
async function findShards(source: SafetensorsSource, options: OpenShardsOptions): Promise<Shard[]> {
  const given: readonly FilePath[] = Array.isArray(source) ? source : [source];
  if (given.length === 0) {
    throw new TypeError("Cannot load a model: the list of its files is empty");
  }
  const paths = given.flatMap(filesAt);
  const readings = paths.map((path) => options.resources.use(new FileReading(path)));
  const shards: Shard[] = [];
  for (const reading of readings) {
    if (reading.path.endsWith(".json")) shards.push(...await readIndex(reading, options));
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

async function readIndex(
  index: FileReading,
  { resources, signal }: OpenShardsOptions,
): Promise<Shard[]> {
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
