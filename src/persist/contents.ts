// The contents of persisted memory: named buffers in blocks of chunks, described in JSON, so that another
// process can make the same objects over the same memory.

import { DeviceBuffer } from "../buffers/device_buffer.ts";
import { blockOf } from "../buffers/gpu_buffer.ts";
import { byteLengthOf, formatShape } from "../buffers/shape.ts";
import { nameView } from "../buffers/views.ts";
import type { DType } from "../dtype.ts";
import { hasFields } from "../interop/named_buffers.ts";
import type { SafetensorsFormat } from "../interop/safetensors/formats.ts";
import { SafetensorsModel } from "../interop/safetensors/model.ts";
import { Allocation } from "../memory/allocation.ts";
import { ResourceAdaptor } from "../memory/resource_adaptor.ts";
import { VirtualMemoryResource } from "../memory/virtual_memory_resource.ts";
import type { VirtualRange } from "../memory/virtual_range.ts";
import type { CudaStream } from "../order/stream.ts";
import { CacheAdaptor } from "../resources/cache_adaptor.ts";
import { describeValue, formatCount, visibleText } from "../words/format.ts";
import { Parts } from "../words/parts.ts";
import { PersistError } from "./persist_error.ts";

/** A value that memory can be persisted as: a buffer, a record of named buffers, or a model. */
// deno-lint-ignore no-explicit-any -- every element type
export type Persistable = DeviceBuffer<any> | SafetensorsModel | PersistableBuffers;

/** A record of named buffers. */
export interface PersistableBuffers {
  /** A device buffer. */
  // deno-lint-ignore no-explicit-any -- every element type
  readonly [name: string]: DeviceBuffer<any>;
}

interface BlockFacts {
  readonly chunk: number;
  readonly offset: number;
  readonly byteLength: number;
  readonly label?: string | undefined;
}

/** A buffer in a block, as JSON. */
export interface ContentFacts {
  readonly name: string;
  readonly block: number;
  readonly offset: number;
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** Element type by the name of the format, for a tensor of a model. */
  readonly format?: SafetensorsFormat | undefined;
}

/** The description of persisted memory. */
export interface Description {
  readonly kind: "buffer" | "buffers" | "model";
  /** Sizes of the chunks in bytes. */
  readonly chunks: readonly number[];
  readonly blocks: readonly BlockFacts[];
  readonly contents: readonly ContentFacts[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** One buffer of what is to be persisted. */
export interface NamedContent extends Pick<ContentFacts, "name" | "format"> {
  readonly buffer: DeviceBuffer;
}

/** Contents to persist, taken apart. */
export interface TakenApart extends Pick<Description, "kind" | "metadata"> {
  readonly contents: readonly NamedContent[];
}

/** Names that a record cannot have, because the kit adds them. */
const ADDED_NAMES: ReadonlySet<string> = new Set(["persistence", "dispose", "disposed"]);

/**
 * Takes a value apart into named buffers.
 *
 * @throws PersistError for anything that cannot be made again in another process, with what can.
 */
export function takeApart(value: unknown, name: string): TakenApart {
  const refused = (state: string) => {
    const kinds =
      "a device buffer, an object of named device buffers, or what gpu.loadSafetensors() gave";
    const words = `${state}; its function returns ${kinds}`;
    return new PersistError("kind", `Cannot persist "${visibleText(name)}": ${words}`);
  };
  if (value instanceof SafetensorsModel) {
    const contents = [...value].map(([name, buffer]): NamedContent => {
      return { name, buffer, format: value.format(name) };
    });
    return { kind: "model", contents, metadata: value.metadata };
  }
  if (value instanceof DeviceBuffer) {
    return { kind: "buffer", contents: [{ name: value.label ?? "", buffer: value }], metadata: {} };
  }
  if (!hasFields(value) || Object.getPrototypeOf(value) !== Object.prototype) {
    throw refused(`its function returned ${describeValue(value)}`);
  }
  const contents = Object.entries(value).map(([name, buffer]: [string, unknown]): NamedContent => {
    if (ADDED_NAMES.has(name)) {
      throw refused(`it names a buffer "${name}", which the kit adds itself`);
    }
    if (buffer instanceof DeviceBuffer) return { name, buffer };
    throw refused(`"${visibleText(name)}" in it is ${describeValue(buffer)}`);
  });
  if (contents.length === 0) throw refused("its function returned an object without buffers");
  return { kind: "buffers", contents, metadata: {} };
}

/** Returns the resource that a block goes back to; undefined where a cache keeps it, or another one does. */
export function virtualSourceOf({ resource }: Allocation): VirtualMemoryResource | undefined {
  let source = resource;
  while (source instanceof ResourceAdaptor && !(source instanceof CacheAdaptor)) {
    source = source.upstream;
  }
  return source instanceof VirtualMemoryResource ? source : undefined;
}

/** Puts buffers together as a value of the kind that was persisted. */
export function putTogether(
  { kind, metadata, contents }: TakenApart,
  memory: readonly DeviceBuffer[],
): Persistable {
  if (kind === "buffer") return contents[0]?.buffer as DeviceBuffer;
  if (kind === "buffers") {
    return Object.fromEntries(contents.map(({ name, buffer }) => [name, buffer]));
  }
  const tensors = contents.map(({ name, buffer, format = "U8" }) => {
    return [name, { tensor: buffer, format }] as const;
  });
  return new SafetensorsModel(new Parts({ memory, tensors, metadata }));
}

/** Describes contents over the chunks of a resource; chunks without any are left out. */
export function describeContents(
  { kind, contents, metadata }: TakenApart,
  { arena }: VirtualMemoryResource,
): {
  readonly description: Description;
  readonly allocations: readonly Allocation[];
  /** The memory, in the order of the description. */
  readonly chunks: readonly VirtualRange[];
} {
  const allocations = [...new Set(contents.map(({ buffer }) => blockOf(buffer)))];
  const blocks = allocations.flatMap((allocation) => {
    const place = arena.placeOf(allocation.address);
    return place === undefined ? [] : [{ allocation, ...place }]; // one without bytes has none
  });
  const chunks = [...new Set(blocks.map(({ chunk }) => chunk))];
  const description: Description = {
    kind,
    metadata,
    chunks: chunks.map(({ reservedBytes }) => reservedBytes),
    blocks: blocks.map(({ allocation: { label }, chunk, offset, byteLength }) => {
      return { chunk: chunks.indexOf(chunk), offset, byteLength, label };
    }),
    contents: contents.map(({ name, buffer, format }) => {
      const { dtype, shape, byteOffset } = buffer;
      const block = blocks.findIndex(({ allocation }) => allocation === blockOf(buffer));
      return { name, block, offset: byteOffset, dtype, shape: [...shape], format };
    }),
  };
  return { description, allocations, chunks };
}

/** Makes buffers over blocks of memory that another process has filled. */
export function makeContents(
  { kind, blocks: facts, contents, metadata }: Description,
  { addresses, resource, stream }: {
    readonly addresses: readonly bigint[];
    readonly resource: VirtualMemoryResource;
    readonly stream: CudaStream;
  },
): { readonly value: Persistable; readonly allocations: readonly Allocation[] } {
  const blockAt = (address: bigint, { byteLength = 0, label }: Partial<BlockFacts>) => {
    return new Allocation({ kind: "device", byteLength, resource, stream, label }, address);
  };
  const allocations = facts.map((block, i) => blockAt(addresses[i] ?? 0n, block));
  const owners = allocations.map((allocation, i) => {
    const whole = contents.filter(({ block }) => block === i);
    const [only] = whole;
    // A buffer that is all of its block owns it, as the one that was persisted did.
    const isWhole = kind !== "model" && whole.length === 1 && only?.offset === 0 &&
      byteLengthOf(only.dtype, only.shape) === allocation.byteLength;
    const { dtype, shape } = isWhole
      ? only
      : { dtype: "uint8" as const, shape: [allocation.byteLength] };
    return new DeviceBuffer<DType>(new Parts({ allocation, dtype, shape }));
  });
  const buffers = contents.map((content): NamedContent => {
    const { name, block, format, dtype, shape } = content;
    const owner = owners[block] ??
      new DeviceBuffer<DType>(new Parts({ allocation: blockAt(0n, {}), dtype, shape }));
    return { name, buffer: viewIn(owner, content), format };
  });
  const value = putTogether({ kind, contents: buffers, metadata }, owners);
  return { value, allocations };
}

/** The words about contents for a list: `"float32[2, 3]"`, `"model of 300 tensors"`. */
export function contentWords({ kind, contents }: TakenApart): string {
  const [first] = contents;
  if (kind === "buffer" && first !== undefined) {
    return formatShape(first.buffer.dtype, first.buffer.shape);
  }
  if (kind === "buffers") return formatCount(contents.length, "buffer");
  return `model of ${formatCount(contents.length, "tensor")}`;
}

/** Returns a buffer of a block: its owner if that is the same, or else a view with a name. */
export function viewIn(
  owner: DeviceBuffer,
  { name, dtype, shape, offset }: Pick<ContentFacts, "name" | "dtype" | "shape" | "offset">,
): DeviceBuffer {
  const isAll = owner.dtype === dtype && offset === 0 && owner.shape.join() === shape.join();
  if (isAll) return owner;
  const bytes = bytesOf(owner).subarray(offset, offset + byteLengthOf(dtype, shape));
  return nameView(bytes.as(dtype).reshape(shape), name);
}

/** Shows all bytes of a buffer's block. */
export function bytesOf(buffer: DeviceBuffer): DeviceBuffer<"uint8"> {
  return buffer.as("uint8").reshape([buffer.byteLength]);
}
