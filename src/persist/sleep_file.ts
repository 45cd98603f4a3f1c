// The file in which memory sleeps: written whole or not at all, and read back into the same parts, by the
// program that wrote it or, for persisted memory, by the next one.

import type { AddressRange } from "../accounting/ledger.ts";
import { DeviceBuffer } from "../buffers/device_buffer.ts";
import { factsBehind } from "../disk/file_facts.ts";
import { FileReading } from "../disk/file_reading.ts";
import type { LoadedFile } from "../disk/loaded_files.ts";
import type { Context } from "../driver/context.ts";
import { MAX_HEADER_BYTES } from "../interop/safetensors/header.ts";
import { readHeader } from "../interop/safetensors/read_header.ts";
import { saveSafetensors } from "../interop/safetensors/save.ts";
import { Allocation } from "../memory/allocation.ts";
import { ForeignMemoryResource } from "../memory/foreign_memory_resource.ts";
import type { VirtualRange } from "../memory/virtual_range.ts";
import type { CudaStream } from "../order/stream.ts";
import { uploadFrom } from "../transfer/file_transfer.ts";
import { visibleText } from "../words/format.ts";
import { Parts } from "../words/parts.ts";
import { PersistError } from "./persist_error.ts";

/** Addresses whose memory can leave them. */
export interface SleepPart {
  readonly range: VirtualRange;
  /** Bytes from its start that hold something. */
  readonly byteLength: number;
}

/** Shows memory whose uses are in no block's order: the caller has put them there. */
export function alias(
  context: Context,
  { address, byteLength }: AddressRange,
  stream: CudaStream,
): DeviceBuffer<"uint8"> {
  const attributes = { isDeviceAccessible: true, isHostAccessible: false };
  const resource = new ForeignMemoryResource(context, { attributes });
  const allocation = new Allocation({ kind: "imported", byteLength, resource, stream }, address);
  return new DeviceBuffer(new Parts({ allocation, dtype: "uint8", shape: [byteLength] }));
}

/** Writes parts into a file, and returns the facts by which a change of it shows. */
export async function writeParts(
  context: Context,
  parts: readonly SleepPart[],
  { path, name, stream, signal }: {
    readonly path: string;
    readonly name: string;
    readonly stream: CudaStream;
    readonly signal: AbortSignal;
  },
): Promise<LoadedFile> {
  using aliases = new DisposableStack();
  const tensors = parts.map(({ range: { address }, byteLength }, i): [string, DeviceBuffer] => {
    return [`part ${i}`, aliases.use(alias(context, { address, byteLength }, stream))];
  });
  await saveSafetensors(path, new Map(tensors), { metadata: { asleep: name }, signal });
  const { byteLength = 0, modifiedAt = 0 } = factsBehind(path) ?? {};
  return { path, byteLength, modifiedAt };
}

/**
 * Reads what {@link writeParts} has written into the same parts, without those that are gone.
 *
 * @throws PersistError when the file is another one by now.
 */
export async function readParts(
  context: Context,
  parts: readonly SleepPart[],
  { file, stream, doing }: {
    readonly file: LoadedFile;
    readonly stream: CudaStream;
    /** Words for messages, after "Cannot". */
    readonly doing: string;
  },
): Promise<void> {
  const { path } = file;
  const changed = () => {
    const state = `${visibleText(path)} is another file than was written; it is lost`;
    return new PersistError("gone", `Cannot ${doing}: ${state}`);
  };
  using reading = new FileReading(path);
  const opened = await reading.opened();
  const facts = factsBehind(path);
  if (facts?.byteLength !== file.byteLength || facts.modifiedAt !== file.modifiedAt) {
    throw changed();
  }
  const { tensors, dataOffset } = await readHeader(opened, MAX_HEADER_BYTES);
  const places = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  for (const [i, part] of parts.entries()) {
    if (part.range.isFreed) continue;
    const place = places.get(`part ${i}`);
    if (place === undefined || place.byteLength > part.byteLength) throw changed();
    const { address } = part.range;
    using there = alias(context, { address, byteLength: place.byteLength }, stream);
    const fileOffset = dataOffset + place.byteOffset;
    await uploadFrom({ span: there.span, file: opened.file, fileOffset, stream });
  }
}
