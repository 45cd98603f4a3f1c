// Opens all files of a model and reads their headers, before there is memory for any tensor.

import type { DiskFile } from "../../disk/disk_file.ts";
import type { ByteSize } from "../../words/format.ts";
import { isAccepted } from "../../words/options.ts";
import { SafetensorsError } from "./error.ts";
import { headerLimit, type TensorEntry } from "./header.ts";
import { readHeader } from "./read_header.ts";
import { findShards, type SafetensorsSource, type Shard } from "./shards.ts";

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
export interface OpenShardsOptions {
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
  const { resources, signal } = options;
  const maxHeaderBytes = headerLimit(options.maxHeaderSize);
  const shards: OpenShard[] = [];
  for (const shard of await findShards(source, { resources, signal })) {
    signal?.throwIfAborted();
    shards.push(await openShard(shard, { ...options, maxHeaderBytes }));
  }
  checkNames(shards);
  return shards;
}

async function openShard(
  { reading, names }: Shard,
  { filter = () => true, maxHeaderBytes, signal }: OpenShardsOptions & {
    readonly maxHeaderBytes: number;
  },
): Promise<OpenShard> {
  const opened = await reading.opened(signal);
  const { tensors, metadata, dataOffset } = await readHeader(opened, maxHeaderBytes);
  checkIndex(reading.path, { names, tensors });
  const wanted = tensors.filter((entry) => {
    return (names?.has(entry.name) ?? true) && isAccepted(filter, entry);
  });
  return { file: opened.file, metadata, dataOffset, tensors: wanted };
}

function checkIndex(
  path: string,
  expected: { names: ReadonlySet<string> | undefined; tensors: readonly TensorEntry[] },
): void {
  if (expected.names === undefined) return;
  const there = new Set(expected.tensors.map(({ name }) => name));
  const missing = expected.names.difference(there).values().next().value;
  if (missing === undefined) return;
  throw new SafetensorsError(path, `the index expects tensor "${missing}" in it, which it lacks`);
}

function checkNames(shards: readonly OpenShard[]): void {
  const owners = new Map<string, string>();
  for (const { file, tensors } of shards) {
    for (const { name } of tensors) {
      const other = owners.get(name);
      if (other !== undefined) {
        throw new SafetensorsError(file.path, `tensor "${name}" is in ${other} too`);
      }
      owners.set(name, file.path);
    }
  }
}
