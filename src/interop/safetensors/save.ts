// Saves device buffers as a safetensors file, with the layout of the format's own library: tensors with
// the widest elements come first, so that all are aligned.

import type { GpuBuffer } from "../../buffers/gpu_buffer.ts";
import type { MemorySpan } from "../../copies/copy.ts";
import { type FilePath, pathOf } from "../../disk/file_path.ts";
import type { CudaStream } from "../../order/stream.ts";
import { currentStreamOf } from "../../order/stream_choice.ts";
import { checkDownload } from "../../transfer/file_transfer.ts";
import { gatherInto, writeInto } from "../../transfer/gathered_transfer.ts";
import type { TransferOptions } from "../../transfer/pending_transfer.ts";
import { produceFile, WRITING_KINDS, type WritingOptions } from "../../transfer/produce_file.ts";
import { ProgressTotal } from "../../transfer/in_parallel.ts";
import { TRANSFER_KINDS } from "../../transfer/transfer_choice.ts";
import { describeValue } from "../../words/format.ts";
import { ANYTHING, OptionSet } from "../../words/options.ts";
import { checkText, hasFields, type NamedBuffer, toNamedBuffers } from "../named_buffers.ts";
import { formatOf, formatRank } from "./formats.ts";
import { encodeHeader, LENGTH_BYTES, type TensorEntry } from "./header.ts";

/** Buffers of any kind by name: an object, a Map, or a loaded model. */
export type NamedTensors =
  | Readonly<Record<string, GpuBuffer>>
  | Iterable<readonly [name: string, tensor: GpuBuffer]>;

/** Options for {@link CudaDevice.saveSafetensors}. */
export interface SaveSafetensorsOptions extends TransferOptions, WritingOptions {
  /** Metadata: strings about the model as a whole. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Stream whose earlier work comes first; the device's default stream by default. */
  readonly stream?: CudaStream | undefined;
}

const SAVE_OPTIONS = new OptionSet<SaveSafetensorsOptions>({
  ...TRANSFER_KINDS,
  ...WRITING_KINDS,
  metadata: ANYTHING, // checked text by text
});

/** The memory of a buffer and its place in the file. */
interface PlacedSpan {
  readonly span: MemorySpan;
  readonly entry: TensorEntry;
}

/** Saves buffers as a safetensors file; see {@link CudaDevice.saveSafetensors}. */
export async function saveSafetensors(
  path: FilePath,
  tensors: NamedTensors,
  options: SaveSafetensorsOptions = {},
): Promise<void> {
  options = SAVE_OPTIONS.read(options, "saveSafetensors");
  const { metadata = {}, inPlace, sync, stream, signal, onProgress } = options;
  const name = pathOf(path);
  checkMetadata(name, metadata);
  const placed = place(toNamedBuffers(tensors, { path: name, noun: "tensor" }));
  const streamOf = ({ allocation }: MemorySpan) => stream ?? currentStreamOf(allocation.context);
  const header = encodeHeader({ tensors: placed.map(({ entry }) => entry), metadata });
  const dataBytes = placed.reduce((sum, { entry }) => sum + entry.byteLength, 0);
  const progress = new ProgressTotal(dataBytes, onProgress);
  for (const { span } of placed) checkDownload(span, streamOf(span));
  const uses = placed.map(({ span }) => {
    return { ...span, access: "read", stream: streamOf(span) } as const;
  });
  const byteLength = header.byteLength + dataBytes;
  await produceFile({ path, byteLength, uses, inPlace, sync, signal }, function* (file) {
    // Until its header is written, every reader rejects a file that is written in place.
    if (inPlace === true) yield* writeInto(file, new Uint8Array(LENGTH_BYTES), 0);
    for (const { parts, span } of partsByDevice(placed, header.byteLength)) {
      const onProgress = progress.part();
      yield* gatherInto({ parts, stream: streamOf(span), file, onProgress, signal });
    }
    yield* writeInto(file, header, 0);
  });
}

/** Returns the parts of the file from each device, which one transfer moves together. */
function partsByDevice(placed: readonly PlacedSpan[], dataOffset: number) {
  const devices = Map.groupBy(placed, ({ span }) => span.allocation.context);
  return [...devices.values()].flatMap((spans) => {
    const [first] = spans;
    if (first === undefined) return [];
    const parts = spans.map(({ span, entry }) => {
      return { span, fileOffset: dataOffset + entry.byteOffset };
    });
    return [{ parts, span: first.span }];
  });
}

function place(tensors: readonly NamedBuffer[]): PlacedSpan[] {
  const names = new Set<string>();
  const unplaced = tensors.map(([name, buffer]) => {
    if (name === "__metadata__" || names.has(name)) {
      const problem = names.has(name) ? "it occurs twice" : "the format keeps it for itself";
      throw new RangeError(`Cannot save a tensor as "${name}": ${problem}`);
    }
    names.add(name);
    return { name, buffer, format: formatOf(buffer.dtype) };
  });
  unplaced.sort((a, b) => formatRank(b.format) - formatRank(a.format) || compare(a.name, b.name));
  let byteOffset = 0;
  return unplaced.map(({ name, buffer, format }) => {
    const { shape, byteLength } = buffer;
    const entry = { name, format, shape, byteOffset, byteLength };
    byteOffset += byteLength;
    return { span: buffer.span, entry };
  });
}

/** Orders names by their UTF-8 bytes, as the format's own library does. */
function compare(a: string, b: string): number {
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  const shorter = Math.min(left.length, right.length);
  for (let i = 0; i < shorter; i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

const encoder = new TextEncoder();

/**
 * Checks that all metadata are strings, as the format demands, and can be written as UTF-8.
 *
 * @throws TypeError that names the wrong one.
 */
function checkMetadata(path: string, metadata: unknown): void {
  if (!hasFields(metadata) || Symbol.iterator in metadata) {
    throw new TypeError(
      `Cannot save ${path}: metadata is ${describeValue(metadata)}, expected an object of texts`,
    );
  }
  for (const [key, value] of Object.entries(metadata)) {
    checkText(path, key, "metadata");
    if (typeof value !== "string") {
      throw new TypeError(
        `Cannot save ${path}: metadata "${key}" is ${describeValue(value)}, expected a string` +
          adviceForText(value),
      );
    }
    checkText(path, value, `metadata "${key}":`);
  }
}

function adviceForText(value: unknown): string {
  if (typeof value === "object" && value !== null) return ": JSON.stringify() makes one";
  return ["number", "bigint", "boolean"].includes(typeof value) ? `: String(${value})` : "";
}
