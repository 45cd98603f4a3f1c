// Saves device buffers as a safetensors file, with the layout of the format's own library: tensors with
// the widest elements come first, so that all are aligned.

import type { GpuBuffer } from "../../buffers/gpu_buffer.ts";
import type { Shape } from "../../buffers/shape.ts";
import { MEMORY, type MemorySpan } from "../../copies/copy.ts";
import { type FilePath, pathOf } from "../../disk/file_path.ts";
import type { CudaStream } from "../../order/stream.ts";
import { currentStreamOf } from "../../order/stream_choice.ts";
import { checkDownload } from "../../transfer/file_transfer.ts";
import { gatherInto, writeInto } from "../../transfer/gathered_transfer.ts";
import type { TransferOptions } from "../../transfer/pending_transfer.ts";
import { produceFile, WRITING_KINDS, type WritingOptions } from "../../transfer/produce_file.ts";
import { ProgressTotal } from "../../transfer/in_parallel.ts";
import { TRANSFER_KINDS } from "../../transfer/transfer_choice.ts";
import { builtin } from "../../words/builtin.ts";
import {
  type ByteSize,
  describeValue,
  formatBytes,
  messageOf,
  visibleText,
} from "../../words/format.ts";
import { ANYTHING, oneOf, OptionSet, RECORD, SIZE } from "../../words/options.ts";
import { warn } from "../../words/warning.ts";
import {
  cannotSave,
  checkText,
  hasFields,
  type NamedBuffer,
  toNamedBuffers,
} from "../named_buffers.ts";
import { formatOf, formatRank, type SafetensorsFormat, shapeAs, toFormat } from "./formats.ts";
import { encodeHeader, LENGTH_BYTES, type TensorEntry } from "./header.ts";
import { loadedFormat, SafetensorsModel } from "./model.ts";
import { cutIntoShards, type PlannedFile, saveShards } from "./save_shards.ts";

/** Buffers of any kind by name: an object, a Map, or a loaded model. */
export type NamedTensors =
  | Readonly<Record<string, GpuBuffer>>
  | Iterable<readonly [name: string, tensor: GpuBuffer]>;

/** Options for {@link CudaDevice.saveSafetensors}. */
export interface SaveSafetensorsOptions extends TransferOptions, WritingOptions {
  /** Metadata: strings about the model as a whole. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /**
   * Element types by tensor, in the format's own names, for elements that the kit has no type for:
   * `{ w: "F8_E4M3" }` for a buffer of uint8. Tensors of a loaded model keep theirs.
   */
  readonly formats?: Readonly<Record<string, SafetensorsFormat>> | undefined;
  /**
   * Tensors that are one memory under several names: `"each"` saves the bytes for each name, which is
   * the default, with a warning; `"once"` saves the first, and in the metadata its name for each of the others, as
   * `save_model()` of the format's library does.
   */
  readonly tied?: "each" | "once" | undefined;
  /**
   * Saves the model in several files of at most so many bytes of tensors, such as `"5 GiB"`, with new
   * names, and their index beside `path`, which ends in `.safetensors`. The index takes the place of the
   * former one when all files are there; then those that the former one named are removed.
   */
  readonly shardSize?: ByteSize | undefined;
  /** Stream whose earlier work comes first; the device's default stream by default. */
  readonly stream?: CudaStream | undefined;
}

const SAVE_OPTIONS = new OptionSet<SaveSafetensorsOptions>({
  ...TRANSFER_KINDS,
  ...WRITING_KINDS,
  metadata: ANYTHING, // checked text by text
  formats: RECORD,
  tied: oneOf("each", "once"),
  shardSize: SIZE,
});

/** Saves buffers as a safetensors file; see {@link CudaDevice.saveSafetensors}. */
export async function saveSafetensors(
  path: FilePath,
  tensors: NamedTensors,
  options: SaveSafetensorsOptions = {},
): Promise<void> {
  options = SAVE_OPTIONS.read(options, "saveSafetensors");
  const { inPlace, sync, stream, signal, onProgress, formats = {}, tied, shardSize } = options;
  const { metadata: own = tensors instanceof SafetensorsModel ? tensors.metadata : {} } = options;
  const name = pathOf(path);
  checkMetadata(name, own);
  const given = toNamedBuffers(tensors, { path: name, noun: "tensor" });
  const described = describe(name, given, formats);
  const { kept, metadata } = untie(name, described, { tied, metadata: own });
  const streamOf = ({ allocation }: MemorySpan) => stream ?? currentStreamOf(allocation.context);
  const total = kept.reduce((sum, { span }) => sum + span.byteLength, 0);
  const progress = new ProgressTotal(total, onProgress);
  for (const { span } of kept) checkDownload(span, streamOf(span));
  const uses = kept.map(({ span }) => {
    return { ...span, access: "read", stream: streamOf(span) } as const;
  });
  const plan = (tensors: readonly DescribedTensor[]): PlannedFile => {
    const placed = place(tensors);
    const header = encodeHeader({ tensors: placed.map(({ entry }) => entry), metadata });
    const dataBytes = placed.reduce((sum, { entry }) => sum + entry.byteLength, 0);
    return {
      names: placed.map(({ entry }) => entry.name),
      byteLength: header.byteLength + dataBytes,
      *fill(file) {
        // Until its header is written, every reader rejects a file that is written in place.
        if (inPlace === true) yield* writeInto(file, new Uint8Array(LENGTH_BYTES), 0);
        const parts = placed.map(({ span, entry }) => {
          return { span, fileOffset: header.byteLength + entry.byteOffset };
        });
        // One transfer moves together what comes from one device.
        for (const own of Map.groupBy(parts, ({ span }) => span.allocation.context).values()) {
          const [{ span }] = own as [(typeof own)[number]];
          const onProgress = progress.part();
          yield* gatherInto({ parts: own, stream: streamOf(span), file, onProgress, signal });
        }
        yield* writeInto(file, header, 0);
      },
    };
  };
  if (shardSize !== undefined) {
    const files = cutIntoShards(kept, shardSize).map(plan);
    return await saveShards(path, files, { uses, totalBytes: total, inPlace, sync, signal });
  }
  const { byteLength, fill } = plan(kept);
  await produceFile({ path, byteLength, uses, inPlace, sync, signal }, fill);
}

/** A tensor to save, as the file will describe it. */
interface DescribedTensor {
  readonly name: string;
  readonly span: MemorySpan;
  readonly format: SafetensorsFormat;
  readonly shape: Shape;
}

/**
 * Finds the format of each tensor: the one that is named, that of the file it came from, or that of
 * its elements.
 *
 * @throws RangeError for a name that the file cannot have, or that no tensor has.
 * @throws TypeError for a format that the buffer cannot be.
 */
function describe(
  path: string,
  tensors: readonly NamedBuffer[],
  formats: Readonly<Record<string, unknown>>,
): DescribedTensor[] {
  const names = new Set<string>();
  const described = tensors.map(([name, buffer]) => {
    if (name === "__metadata__" || names.has(name)) {
      const problem = names.has(name) ? "it occurs twice" : "the format keeps it for itself";
      throw new RangeError(`Cannot save a tensor as "${visibleText(name)}": ${problem}`);
    }
    names.add(name);
    const { dtype, shape } = buffer;
    const span = buffer[MEMORY]();
    const named = Object.hasOwn(formats, name) ? formats[name] : undefined;
    if (named === undefined) {
      const own = loadedFormat(buffer) ?? { format: formatOf(dtype), shape };
      return { name, span, ...own };
    }
    const format = toFormat(named);
    const what = `tensor "${name}"`;
    if (format === undefined) {
      throw cannotSave(path, `${what} has the format ${describeValue(named)}, which is unknown`);
    }
    try {
      return { name, span, format, shape: shapeAs(format, { dtype, shape }) };
    } catch (error) {
      throw cannotSave(path, `${what} cannot be ${format}: ${messageOf(error)}`);
    }
  });
  const unknown = Object.keys(formats).find((name) => !names.has(name));
  if (unknown === undefined) return described;
  const words = `Cannot save ${path}: formats name "${unknown}", which is no tensor of it`;
  throw new RangeError(visibleText(words));
}

/** Finds tensors that are one memory: a file has no place for bytes with two names. */
function untie(
  path: string,
  tensors: readonly DescribedTensor[],
  { tied, metadata }: {
    readonly tied: SaveSafetensorsOptions["tied"];
    readonly metadata: Readonly<Record<string, string>>;
  },
): { kept: readonly DescribedTensor[]; metadata: Readonly<Record<string, string>> } {
  const first = new Map<string, DescribedTensor>();
  const ties: (readonly [name: string, kept: DescribedTensor])[] = [];
  const kept = tensors.filter((tensor) => {
    const { format, shape, span: { address, byteLength } } = tensor;
    if (byteLength === 0) return true;
    const kept = first.getOrInsert(`${address} ${byteLength} ${format} ${shape}`, tensor);
    if (kept === tensor) return true;
    ties.push([tensor.name, kept]);
    return false;
  });
  const [tie] = ties;
  if (tie === undefined) return { kept: tensors, metadata };
  if (tied === "once") {
    const names = Object.fromEntries(ties.map(([name, { name: of }]) => [name, of]));
    return { kept, metadata: { ...names, ...metadata } };
  }
  if (tied === "each") return { kept: tensors, metadata };
  const [name, { name: other }] = tie;
  const bytes = ties.reduce((sum, [, { span }]) => sum + span.byteLength, 0);
  const more = ties.length === 1 ? "" : `, and ${ties.length - 1} more`;
  const words = `tensor "${name}" is the memory of "${other}"${more}`;
  const remedy = 'pass { tied: "once" } to save it once, or "each" to say nothing';
  warn(visibleText(`${path} has ${formatBytes(bytes)} twice: ${words}; ${remedy}`));
  return { kept: tensors, metadata };
}

/** Gives each tensor its place in the file. */
function place(tensors: readonly DescribedTensor[]) {
  const ordered = tensors.toSorted((a, b) => {
    return formatRank(b.format) - formatRank(a.format) || compare(a.name, b.name);
  });
  let byteOffset = 0;
  return ordered.map(({ name, format, shape, span }) => {
    const { byteLength } = span;
    const entry: TensorEntry = { name, format, shape, byteOffset, byteLength };
    byteOffset += byteLength;
    return { span, entry };
  });
}

/** Orders names by their UTF-8 bytes, as the format's own library does. */
function compare(a: string, b: string): number {
  return builtin("node:buffer").Buffer.compare(encoder.encode(a), encoder.encode(b));
}

const encoder = new TextEncoder();

/**
 * Checks that all metadata are strings, as the format demands, and can be written as UTF-8.
 *
 * @throws TypeError that names the wrong one.
 */
function checkMetadata(path: string, metadata: unknown): void {
  if (!hasFields(metadata) || Symbol.iterator in metadata) {
    throw cannotSave(path, `metadata is ${describeValue(metadata)}, expected an object of texts`);
  }
  for (const [key, value] of Object.entries(metadata)) {
    checkText(path, key, "metadata");
    if (typeof value !== "string") {
      const words = `is ${describeValue(value)}, expected a string${adviceForText(value)}`;
      throw cannotSave(path, `metadata "${key}" ${words}`);
    }
    checkText(path, value, `metadata "${key}":`);
  }
}

function adviceForText(value: unknown): string {
  if (typeof value === "object" && value !== null) return ": JSON.stringify() makes one";
  return ["number", "bigint", "boolean"].includes(typeof value) ? `: String(${value})` : "";
}
