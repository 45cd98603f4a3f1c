// Loads a GGUF model: the headers of all files first, then memory for them, then the bytes as they are.

import { roundUp } from "../../../ffi/alignment.ts";
import type { DeviceAllocator } from "../../buffers/device_buffer.ts";
import type { DiskFile } from "../../disk/disk_file.ts";
import { factsBehind } from "../../disk/file_facts.ts";
import { fileNameOf, type FilePath, pathOf } from "../../disk/file_path.ts";
import { FileReading } from "../../disk/file_reading.ts";
import { contextOf } from "../../memory/memory_resource.ts";
import { streamOn } from "../../order/stream_choice.ts";
import { CALLBACK, isAccepted, OptionSet } from "../../words/options.ts";
import { Parts } from "../../words/parts.ts";
import type { StoredTensor } from "../block_layout.ts";
import {
  LOAD_KINDS,
  loadTensors,
  type LoadTensorsOptions,
  type TensorFile,
} from "../load_tensors.ts";
import { headerLimit } from "../safetensors/header.ts";
import { type GgufHeader, type GgufTensor, parseGguf } from "./header.ts";
import { GgufError } from "./header_scanner.ts";
import { GgufModel } from "./model.ts";

/** Options for {@link loadGguf}. */
export interface LoadGgufOptions extends LoadTensorsOptions {
  /** Chooses tensors; all by default. */
  readonly filter?: ((tensor: GgufTensor) => boolean) | undefined;
}

const LOAD_OPTIONS = new OptionSet<LoadGgufOptions>({ ...LOAD_KINDS, filter: CALLBACK });

/** The end of the name of one of several files: its number and theirs. */
const PART = /^(.*-)(\d{5})(-of-)(\d{5})(\.gguf)$/;

/** Bytes between tensors that are read along, rather than to begin anew behind them. */
const MAX_PADDING = 256;

/** A tensor of a file, and the buffer that is to hold it. */
interface StoredGguf extends StoredTensor {
  readonly entry: GgufTensor;
}

/** One file of a model, opened. */
interface OpenPart {
  readonly file: DiskFile;
  readonly byteLength: number;
  readonly header: GgufHeader;
}

/**
 * Loads a GGUF model onto a device: one block of memory for each file, and a view of it for each
 * tensor. Elements that the kit has a type for keep it; quantized tensors are the bytes of their blocks,
 * unchanged. Any file of a model in several (`-00001-of-00003.gguf`) stands for all of them. Needs
 * `--allow-read`.
 *
 * @throws GgufError when a file breaks the format, or the files do not belong together; the message
 *   names the file and the reason.
 */
export async function loadGguf(
  path: FilePath,
  gpu: DeviceAllocator,
  options: LoadGgufOptions = {},
): Promise<GgufModel> {
  options = LOAD_OPTIONS.read(options, "loadGguf");
  const stream = streamOn(contextOf(gpu, "load a model onto"), options, "memory");
  using resources = new DisposableStack();
  const parts = await openParts(path, options, resources);
  const files = parts.map((part) => chosenOf(part, options));
  const { blocks: memory, views } = await loadTensors(files, { gpu, stream, options });
  const tensors = views.map(([{ entry }, tensor]) => {
    return [entry.name, { tensor, format: entry.format, entry }] as const;
  });
  return new GgufModel(new Parts({ memory, tensors, metadata: parts[0]?.header.metadata ?? {} }));
}

/** Opens the files of a model and reads their headers. */
async function openParts(
  path: FilePath,
  { maxHeaderSize, signal }: LoadGgufOptions,
  resources: DisposableStack,
): Promise<OpenPart[]> {
  const maxBytes = headerLimit(maxHeaderSize);
  const given = pathOf(path);
  const paths = partsBeside(given);
  const readings = new Map<string, FileReading>();
  const readingOf = (part: string) =>
    readings.getOrInsertComputed(part, () => resources.use(new FileReading(part)));
  const ownReading = readingOf(given);
  // All at once: later calls must not change one of them before it is opened. A name may claim 99,999.
  paths.every((part) => factsBehind(readingOf(part).path) !== undefined);
  const open = async (reading: FileReading): Promise<OpenPart> => {
    const opened = await reading.opened(signal);
    return { ...opened, header: await parseGguf(opened, { maxBytes, signal }) };
  };
  const own = await open(ownReading);
  const { "split.count": count = 1 } = own.header.metadata;
  if (count === 1 || count === 0) return [own]; // ggml takes both for a file that is whole
  if (count !== paths.length) {
    throw new GgufError(
      given,
      `it is one of ${count} files of a model, and its name does not tell the others; their names end ` +
        `in "-00001-of-${`${count}`.padStart(5, "0")}.gguf" and so on`,
    );
  }
  const parts: OpenPart[] = [];
  for (const part of paths) parts.push(part === given ? own : await open(readingOf(part)));
  checkParts(parts);
  return parts;
}

/** Returns the paths of all files of a model, by the name of one of them; itself alone by other names. */
function partsBeside(path: string): string[] {
  const [, start, number, of, count, end] = PART.exec(path) ?? [];
  if (Number(number ?? 0) < 1 || Number(number) > Number(count)) return [path];
  return Array.from({ length: Number(count) }, (_, at) => {
    return `${start}${`${at + 1}`.padStart(5, "0")}${of}${count}${end}`;
  });
}

function checkParts(parts: readonly OpenPart[]): void {
  const owners = new Map<string, string>();
  for (const [at, { file, header: { metadata, tensors } }] of parts.entries()) {
    const { "split.no": number, "split.count": count } = metadata;
    if (number !== at || count !== parts.length) {
      throw new GgufError(
        file.path,
        `it is part ${number} of ${count} by its metadata, and part ${at} of ${parts.length} by its name`,
      );
    }
    for (const { name } of tensors) {
      const other = owners.get(name);
      if (other !== undefined) {
        throw new GgufError(file.path, `tensor "${name}" is in ${other} too`);
      }
      owners.set(name, fileNameOf(file.path));
    }
  }
  const [first] = parts;
  const { "split.tensors.count": count = owners.size } = first?.header.metadata ?? {};
  if (first === undefined || count === owners.size) return;
  throw new GgufError(
    first.file.path,
    `the model has ${count} tensors by its metadata, and its files have ${owners.size}`,
  );
}

/** Returns the chosen tensors of a file. The few bytes that align the next one move with them. */
function chosenOf(
  { file, byteLength: fileBytes, header: { tensors, dataOffset, alignment } }: OpenPart,
  { filter = () => true }: LoadGgufOptions,
): TensorFile<StoredGguf> {
  const step = alignment <= MAX_PADDING ? alignment : 1;
  const chosen = tensors.filter((entry) => isAccepted(filter, entry));
  const stored = chosen.map((entry): StoredGguf => {
    const { name, byteOffset, dtype, blockLength, blockBytes } = entry;
    const end = Math.min(roundUp(byteOffset + entry.byteLength, step), fileBytes - dataOffset);
    const place = { fileOffset: dataOffset + byteOffset, byteLength: end - byteOffset };
    // The bytes of a row's blocks are the last axis of a quantized tensor, as in gguf-py.
    const row = (entry.shape.at(-1) ?? 1) / blockLength * blockBytes;
    const shape = blockLength === 1 ? entry.shape : [...entry.shape.slice(0, -1), row];
    return { name, ...place, dtype, shape, entry };
  });
  return { file, tensors: stored };
}
