// Saves a model in several files with an index. Every save gives its files new names, and the index takes
// the place of the former one last: until then the former model is whole, whatever happens.

import type { MemorySpan } from "../../copies/copy.ts";
import type { DiskFile } from "../../disk/disk_file.ts";
import { factsAt, factsBehind } from "../../disk/file_facts.ts";
import { fileNameOf, type FilePath, folderOf, pathOf, realPathOf } from "../../disk/file_path.ts";
import { FileTurn } from "../../disk/file_turns.ts";
import { removeOrWarn } from "../../disk/locked_file.ts";
import { writeInto } from "../../transfer/gathered_transfer.ts";
import type { TransferOptions } from "../../transfer/pending_transfer.ts";
import { produceFile, writeBeside, type WritingOptions } from "../../transfer/produce_file.ts";
import type { Step, StreamUse } from "../../transfer/stepped_work.ts";
import { builtin } from "../../words/builtin.ts";
import { type ByteSize, parseBytes, visibleText } from "../../words/format.ts";

const ENDING = ".safetensors";
const INDEX_ENDING = ".index.json";

/** One file of a model, as it will be. */
export interface PlannedFile {
  /** Names of its tensors. */
  readonly names: readonly string[];
  readonly byteLength: number;
  fill(file: DiskFile): Iterable<Step>;
}

/**
 * Cuts a list of tensors into parts of at most so many bytes, in its order; a larger tensor is a part of
 * its own.
 *
 * @throws RangeError when there are none: an index cannot be empty.
 */
export function cutIntoShards<T extends { readonly span: MemorySpan }>(
  tensors: readonly T[],
  size: ByteSize,
): T[][] {
  const maxBytes = parseBytes(size, "shardSize");
  if (maxBytes === 0) throw new RangeError("Cannot save files of 0 bytes: shardSize is too small");
  if (tensors.length === 0) throw new RangeError("Cannot save files of a model without tensors");
  const shards: T[][] = [[]];
  let byteLength = 0;
  for (const tensor of tensors) {
    byteLength += tensor.span.byteLength;
    if (byteLength > maxBytes && shards.at(-1)?.length !== 0) {
      shards.push([]);
      byteLength = tensor.span.byteLength;
    }
    shards.at(-1)?.push(tensor);
  }
  return shards;
}

/** Saves the files of a model, and then their index. */
export async function saveShards(
  path: FilePath,
  files: readonly PlannedFile[],
  { uses, totalBytes, inPlace, sync, signal }: TransferOptions & WritingOptions & {
    /** The memory that is saved. */
    readonly uses: readonly StreamUse[];
    readonly totalBytes: number;
  },
): Promise<void> {
  const whole = pathOf(path);
  if (!whole.endsWith(ENDING)) {
    throw new TypeError(`Cannot save ${visibleText(whole)} in files: expected a name in ${ENDING}`);
  }
  if (inPlace === true) {
    throw new TypeError(`Cannot save ${visibleText(whole)} in files: they are new, not inPlace`);
  }
  const index = `${whole}${INDEX_ENDING}`;
  const shards = new Shards(index);
  const names = files.map((_, at) => shards.nameOf(at, files.length));
  const map = files.flatMap((file, at) => file.names.map((name) => [name, names[at]]));
  const contents = { metadata: { total_size: totalBytes }, weight_map: Object.fromEntries(map) };
  const json = new TextEncoder().encode(`${JSON.stringify(contents, null, 2)}\n`);
  // A single file of that name would be taken for the model by other programs.
  using single = new FileTurn(realPathOf(whole), "change");
  let former: ReadonlySet<string> = new Set();
  let before: string | undefined;
  try {
    const target = { path: index, byteLength: json.byteLength, uses, sync, signal };
    await produceFile(target, function* (file) {
      before = factsBehind(index)?.identity;
      former = shards.named() ?? former;
      shards.removeLeft();
      for (const [at, { byteLength, fill }] of files.entries()) {
        const path = shards.pathOf(names[at] ?? "");
        yield* writeBeside({ path, byteLength, sync, signal }, fill);
      }
      const gone = names.find((name) => factsAt(shards.pathOf(name)) === undefined);
      if (gone !== undefined) {
        throw new Error(`Cannot save ${index}: ${gone} was removed meanwhile`);
      }
      yield* writeInto(file, json, 0);
    });
  } catch (error) {
    if (factsBehind(index)?.identity === before) shards.remove(names); // else it is the new one already
    throw error;
  }
  shards.removeOwn(former);
  await single.due();
  if (factsAt(whole)?.kind === "file") shards.remove([fileNameOf(whole)]);
}

/** The files of a model that such saves have written. */
class Shards {
  readonly #index: string;
  readonly #folder: string;
  readonly #start: string;
  readonly #own: RegExp;

  constructor(index: string) {
    this.#index = index;
    this.#folder = folderOf(index);
    const stem = fileNameOf(index).slice(0, -(ENDING + INDEX_ENDING).length);
    const token = crypto.getRandomValues(new Uint8Array(4)).toHex();
    this.#start = `${stem}-${token}-`;
    const own = `\\.?${RegExp.escape(stem)}-[0-9a-f]{8}-\\d{5,}-of-\\d{5,}\\.safetensors`;
    this.#own = new RegExp(`^${own}(\\.vramkit-saving)?$`); // with what a killed save had begun
  }

  /** Returns the name of one of the new files. */
  nameOf(at: number, count: number): string {
    const digits = (number: number) => `${number}`.padStart(5, "0");
    return `${this.#start}${digits(at + 1)}-of-${digits(count)}${ENDING}`;
  }

  pathOf(name: string): string {
    return builtin("node:path").join(this.#folder, name);
  }

  /** Returns the files that the index names; undefined when it cannot be read. */
  named(): ReadonlySet<string> | undefined {
    const { state } = Deno.permissions.querySync({ name: "read", path: this.#folder });
    if (state !== "granted") return undefined;
    try {
      if (factsAt(this.#index) === undefined) return new Set();
      const { weight_map } = JSON.parse(Deno.readTextFileSync(this.#index));
      return new Set(Object.values<string>(weight_map));
    } catch {
      return undefined; // it is not for a save to say so
    }
  }

  /** Removes the files that killed programs have left: the index, whose lock is held, does not name them. */
  removeLeft(): void {
    if (this.named() === undefined) return;
    this.removeOwn(Array.from(Deno.readDirSync(this.#folder), ({ name }) => name));
  }

  /** Removes those files that have the names of such saves, and that the index does not name. */
  removeOwn(names: Iterable<string>): void {
    const named = this.named();
    this.remove([...names].filter((name) => this.#own.test(name) && named?.has(name) !== true));
  }

  remove(names: Iterable<string>): void {
    for (const name of names) {
      const path = this.pathOf(name);
      removeOrWarn(path, () => factsAt(path) && Deno.removeSync(path));
    }
  }
}
