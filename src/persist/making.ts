// Makes memory that outlives its program: a function fills an arena of its own, whose chunks go to the keeper.

import type { AsyncLocalStorage } from "node:async_hooks";
import { allocateDeviceBuffer, type DeviceBuffer } from "../buffers/device_buffer.ts";
import { blockOf, ownerOf } from "../buffers/gpu_buffer.ts";
import { listenToLoads, type LoadedFile } from "../disk/loaded_files.ts";
import type { Context } from "../driver/context.ts";
import type { DType } from "../dtype.ts";
import type { Allocation } from "../memory/allocation.ts";
import { ChunkArena } from "../memory/chunk_arena.ts";
import type { ResourceChoice } from "../memory/resource_choice.ts";
import { VirtualMemoryResource } from "../memory/virtual_memory_resource.ts";
import { defaultStreamOf } from "../order/stream.ts";
import { closeDescriptor } from "../sharing/local_socket.ts";
import { whenDone } from "../sharing/share_memory.ts";
import { builtin } from "../words/builtin.ts";
import { finishedLater } from "../words/finished.ts";
import { visibleText } from "../words/format.ts";
import { Parts } from "../words/parts.ts";
import {
  bytesOf,
  contentWords,
  describeContents,
  type NamedContent,
  type Persistable,
  putTogether,
  takeApart,
  type TakenApart,
  viewIn,
  virtualSourceOf,
} from "./contents.ts";
import type { KeeperConnection } from "./keeper_connection.ts";
import { NAME_PAGE_BYTES } from "./keeper_words.ts";
import { handOver, type Persisted, releaseFrom, show } from "./open_persisted.ts";
import type { PersistOrigin } from "./origin.ts";
import { PersistError, refusalOf } from "./persist_error.ts";
import { newFile, StatePage } from "./state_page.ts";

/** A program's request. */
export interface PersistRequest {
  readonly name: string;
  /** Makes the value when it is not there. */
  readonly make: () => unknown;
  /** The device's resources, for the time of making. */
  readonly resources: ResourceChoice;
}

/** Made with the first function: before, no call is in one. */
let namesInMaking: AsyncLocalStorage<ReadonlySet<string>> | undefined;

/** Returns the names that the functions make which run now. */
export function namesBeingMade(): ReadonlySet<string> {
  return namesInMaking?.getStore() ?? new Set();
}

/** Makes memory and hands it to the keeper. */
export async function makeKept(
  context: Context,
  connection: KeeperConnection,
  { name, make, resources, key, move }: PersistRequest & {
    readonly key: string | undefined;
    readonly move: boolean;
  },
): Promise<Persisted<Persistable>> {
  const arena = new ChunkArena(context);
  const resource = new VirtualMemoryResource({ context }, new Parts(arena));
  using undo = new DisposableStack();
  undo.defer(() => releaseFrom(context, resource));
  const loaded = new Map<string, LoadedFile>();
  const note = (file: LoadedFile) => void loaded.set(file.path, file);
  namesInMaking ??= new (builtin("node:async_hooks").AsyncLocalStorage)();
  const made = await namesInMaking.run(new Set([...namesBeingMade(), name]), () => {
    return listenToLoads(note, () => resources.run(resource, make));
  });
  const { taken, value } = await inArena(made, { name, resource, move });
  const { description, allocations, chunks } = describeContents(taken, resource);
  arena.seal();
  for (const { buffer } of taken.contents) await whenDone(buffer.span);
  const origin: PersistOrigin = { files: [...loaded.values()], key };
  using sent = new DisposableStack();
  const toSend = (descriptor: number) => sent.adopt(descriptor, closeDescriptor);
  const described = toSend(newFile(new TextEncoder().encode(JSON.stringify(description))));
  const page = toSend(newFile(new Uint8Array(NAME_PAGE_BYTES)));
  const byteLength = description.chunks.reduce((sum, size) => sum + size, 0);
  const words = { byteLength, what: contentWords(taken), origin: JSON.stringify(origin) };
  const files = [described, page];
  const answer = await handOver(connection, { op: "publish", ...words }, { chunks, files });
  const { slot, facts } = answer;
  if (slot === undefined || facts === undefined) throw refusalOf(name, answer);
  const states = new StatePage(page, slot);
  undo.move();
  const kept = { context, connection, resource, chunks, allocations, states, facts };
  return show(taken, { ...kept, value, wasThere: false });
}

/** Checks that memory comes from the arena, or moves it there, one block after the other. */
async function inArena(
  value: unknown,
  { name, resource, move }: {
    readonly name: string;
    readonly resource: VirtualMemoryResource;
    readonly move: boolean;
  },
): Promise<{ readonly taken: TakenApart; readonly value: Persistable }> {
  const taken = takeApart(value, name);
  const isElsewhere = ({ buffer }: NamedContent) => {
    const block = blockOf(buffer);
    return block.byteLength > 0 && (virtualSourceOf(block) !== resource ||
      resource.arena.placeOf(block.address) === undefined);
  };
  const first = taken.contents.find(isElsewhere);
  if (first === undefined) return { taken, value: value as Persistable };
  const { context } = first.buffer;
  if (context !== resource.context || !move) {
    const from = `gpu.memoryResource of device ${resource.context.ordinal}`;
    throw new PersistError(
      "elsewhere",
      `Cannot persist "${visibleText(name)}": ${first.buffer} was not allocated by its function ` +
        `from ${from}; allocate it there, or pass { move: true }`,
    );
  }
  const moved = new Map<Allocation, DeviceBuffer>();
  const contents: NamedContent[] = [];
  for (const content of taken.contents) {
    const former = blockOf(content.buffer);
    if (former.byteLength === 0) {
      contents.push(content);
      continue;
    }
    const owner = moved.get(former) ?? await moveBlock(content.buffer, resource);
    moved.set(former, owner);
    const { name, buffer: { dtype, shape, byteOffset: offset } } = content;
    contents.push({ ...content, buffer: viewIn(owner, { name, dtype, shape, offset }) });
  }
  const there = { ...taken, contents };
  return { taken: there, value: putTogether(there, [...moved.values()]) };
}

/** Copies the block of a buffer into the arena, and frees the former one. */
async function moveBlock(
  buffer: DeviceBuffer,
  resource: VirtualMemoryResource,
): Promise<DeviceBuffer> {
  const former = ownerOf(buffer) as DeviceBuffer;
  const { context, label } = former;
  const stream = defaultStreamOf(context);
  const isAll = !buffer.isView && buffer.byteLength === former.totalByteLength;
  const { dtype, shape } = isAll
    ? buffer
    : { dtype: "uint8" as const, shape: [former.totalByteLength] };
  const made = allocateDeviceBuffer<DType>({ dtype, shape, resource, stream, label });
  const moved = await finishedLater(made, async () => {
    bytesOf(made).copyFrom(bytesOf(former));
    await stream.synchronize();
  });
  former.dispose();
  return moved;
}
