// The persisted memory that this program has open: opened by descriptors of the keeper, or read from the
// file in which it sleeps; found by name, by value, and by the resource of its blocks.

import { ownerOf } from "../buffers/gpu_buffer.ts";
import type { Context } from "../driver/context.ts";
import { Allocation } from "../memory/allocation.ts";
import { ChunkArena } from "../memory/chunk_arena.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import { takeOrReclaim } from "../memory/out_of_memory.ts";
import { VirtualMemoryResource } from "../memory/virtual_memory_resource.ts";
import { VirtualRange } from "../memory/virtual_range.ts";
import { defaultStreamOf } from "../order/stream.ts";
import { closeDescriptor } from "../sharing/local_socket.ts";
import { CudaError } from "../words/errors.ts";
import { visibleText } from "../words/format.ts";
import { Parts } from "../words/parts.ts";
import { warn } from "../words/warning.ts";
import {
  type Description,
  makeContents,
  type Persistable,
  takeApart,
  type TakenApart,
} from "./contents.ts";
import type { Answered, KeeperConnection } from "./keeper_connection.ts";
import {
  type KeeperAnswer,
  type KeptFacts,
  type KeptWords,
  MAX_DESCRIPTORS,
} from "./keeper_words.ts";
import { PersistError, refusalOf } from "./persist_error.ts";
import { Persistence } from "./persistence.ts";
import { readParts } from "./sleep_file.ts";
import { readText, StatePage } from "./state_page.ts";
import { WriteWatch } from "./write_watch.ts";

/** A value that outlives its program. */
export type Persisted<T> = T & Disposable & {
  /** The facts known about it: when it was made and of what, and whether it is whole. */
  readonly persistence: Persistence;
  /** Lets go of the memory here; only `gpu.forget()` gives it up. */
  dispose(): void;
};

/** Persisted memory that this program has open. */
export interface OpenPersisted {
  readonly name: string;
  readonly connection: KeeperConnection;
  readonly resource: VirtualMemoryResource;
  /** Chunks in the order in which the keeper has their descriptors. */
  readonly chunks: readonly VirtualRange[];
  readonly allocations: readonly Allocation[];
  readonly persistence: Persistence;
  readonly value: WeakRef<object>;
  /** Where its contents are while this program has put it to sleep. */
  asleepIn: string | undefined;
}

/** Memory that was made or opened just now. */
export interface NewlyOpen extends Pick<OpenPersisted, "connection" | "resource" | "chunks"> {
  readonly context: Context;
  readonly allocations: readonly Allocation[];
  readonly states: StatePage;
  readonly facts: KeptFacts;
  readonly value: Persistable;
  /** It was there before the call. */
  readonly wasThere: boolean;
}

const openIn = new WeakMap<Context, Map<string, OpenPersisted>>();
const openOf = new WeakMap<MemoryResource, OpenPersisted>();

/** Returns what is open that a block belongs to; undefined for memory that was not persisted. */
export function openedAround({ resource }: Allocation): OpenPersisted | undefined {
  return openOf.get(resource);
}

/** Finds what this program has open under a name, all of it. */
export function knownHere(
  context: Context,
  name: string,
): { readonly open: OpenPersisted; readonly value: object } | undefined {
  const open = openIn.get(context)?.get(name);
  const value = open?.value.deref();
  if (open === undefined || value === undefined) return undefined;
  if (open.allocations.some(({ released }) => released)) return undefined;
  return { open, value };
}

/** Watches the memory of a value, gives the value its words, and remembers it for the next call. */
export function show({ kind, contents }: TakenApart, opened: NewlyOpen): Persisted<Persistable> {
  const { context, connection, resource, chunks, allocations, states, facts, wasThere } = opened;
  const { name } = facts;
  const readOpeners = () => states.openers;
  const readAsleep = () => record.asleepIn;
  const persistence = new Persistence(new Parts({ facts, wasThere, readOpeners, readAsleep }));
  const words = { persistence: { value: persistence, configurable: true } };
  const owners = [...new Set(contents.map(({ buffer }) => ownerOf(buffer)))];
  const dispose = () => owners.forEach((owner) => owner.dispose());
  const shown = kind === "buffers"
    ? Object.defineProperties({ ...opened.value as object }, {
      ...words,
      dispose: { value: dispose },
      disposed: { get: () => owners.every(({ disposed }) => disposed) },
      [Symbol.dispose]: { value: dispose },
    })
    : Object.defineProperties(opened.value, words);
  const watch = new WriteWatch(context, states, allocations.map(({ usage }) => usage));
  const value = new WeakRef<object>(shown);
  const record: OpenPersisted = {
    ...{ name, connection, resource, chunks, allocations, persistence, value },
    asleepIn: undefined,
  };
  const known = openIn.getOrInsertComputed(context, () => new Map());
  known.set(name, record);
  openOf.set(resource, record);
  const end = () => {
    watch.end();
    states.close();
    connection[Symbol.dispose]();
    if (known.get(name) === record) known.delete(name);
  };
  resource.arena.whenEmpty = end;
  if (resource.arena.chunks.length === 0) end();
  return shown as Persisted<Persistable>;
}

/** Opens memory that the keeper holds: the descriptors are the description, the page, and first chunks. */
export async function openKept(
  context: Context,
  connection: KeeperConnection,
  { facts, slot, descriptors: [description = -1, page = -1, ...first] }: Required<
    Pick<Answered, "facts" | "slot" | "descriptors">
  >,
): Promise<Persisted<Persistable>> {
  const described: Description = JSON.parse(readText(description));
  const arena = new ChunkArena(context);
  arena.seal();
  const resource = new VirtualMemoryResource({ context }, new Parts(arena));
  using undo = new DisposableStack();
  undo.defer(() => arena.releaseUnused());
  undo.defer(() => releaseFrom(context, resource));
  const opening = { context, connection, arena, name: facts.name, sizes: described.chunks };
  const chunks = facts.asleep === null
    ? await importChunks(opening, first)
    : await wakeChunks(opening, facts.asleep);
  const addresses = described.blocks.map(({ chunk, offset, byteLength }) => {
    const place = { chunk: chunks[chunk] as VirtualRange, offset, byteLength };
    return resource.adopt(arena.adoptBlock(place));
  });
  const stream = defaultStreamOf(context);
  const { value, allocations } = makeContents(described, { addresses, resource, stream });
  const states = new StatePage(page, slot);
  undo.move();
  const byteLength = described.chunks.reduce((sum, size) => sum + size, 0);
  const awake: KeptFacts = { ...facts, byteLength, asleep: null };
  const kept = { context, connection, resource, chunks, allocations, states, facts: awake };
  const shown = show(takeApart(value, facts.name), { ...kept, value, wasThere: true });
  const { state, unfinishedBy } = shown.persistence;
  if (state === "dirty" && unfinishedBy !== undefined) {
    const words = `may be incomplete: process ${unfinishedBy} ended while it wrote`;
    warn(`"${visibleText(facts.name)}" ${words}; pass { replace: true } to make it anew`);
  }
  return shown;
}

/** Memory that comes into an arena. */
interface Opening {
  readonly context: Context;
  readonly connection: KeeperConnection;
  readonly arena: ChunkArena;
  readonly name: string;
  /** Bytes of each chunk. */
  readonly sizes: readonly number[];
}

/** Maps memory by its descriptors: the first came with the answer, more of them are asked for. */
async function importChunks(
  { context, connection, arena, name, sizes }: Opening,
  first: readonly number[],
): Promise<VirtualRange[]> {
  const chunks: VirtualRange[] = [];
  const adopt = (descriptor: number) => {
    try {
      const chunk = VirtualRange.whole(context, sizes[chunks.length] ?? 0, descriptor);
      chunks.push(chunk);
      arena.adopt(chunk);
    } catch (cause) {
      if (!(cause instanceof CudaError)) throw cause;
      const words = `the driver refuses its memory (${cause.codeName}), as after a reset of the ` +
        "GPU or a restart of its driver; forget() it, or pass { replace: true }";
      throw gone(name, words, { cause });
    }
  };
  first.forEach(adopt);
  while (chunks.length < sizes.length) {
    const { descriptors } = await connection.ask({ op: "more", from: chunks.length });
    try {
      if (descriptors.length === 0) throw forgotten(name);
      descriptors.forEach(adopt);
    } finally {
      descriptors.forEach(closeDescriptor);
    }
  }
  return chunks;
}

/** Takes new memory, reads what slept in a file, and hands the memory to the keeper. */
async function wakeChunks(
  { context, connection, arena, name, sizes }: Opening,
  { file }: NonNullable<KeptFacts["asleep"]>,
): Promise<VirtualRange[]> {
  if (file === null) throw forgotten(name); // the keeper hands out nothing else
  const chunks = sizes.map((byteLength) => {
    const need = { context, kind: "device", byteLength } as const;
    const chunk = takeOrReclaim(need, () => VirtualRange.whole(context, byteLength));
    arena.adopt(chunk);
    return chunk;
  });
  const stream = defaultStreamOf(context);
  const parts = chunks.map((range) => ({ range, byteLength: range.reservedBytes }));
  await readParts(context, parts, { file, stream, doing: `open "${visibleText(name)}"` });
  await stream.synchronize();
  const answer = await handOver(connection, { op: "wake" }, { chunks });
  if (answer.refused !== undefined) throw refusalOf(name, answer);
  return chunks;
}

function gone(name: string, words: string, options?: ErrorOptions): PersistError {
  return new PersistError("gone", `Cannot open "${visibleText(name)}": ${words}`, options);
}

function forgotten(name: string): PersistError {
  return gone(name, "it was forgotten meanwhile; call again to make it");
}

/** The words before the descriptors, without their number. */
type Announcement = { readonly op: "wake" } | ({ readonly op: "publish" } & KeptWords);

/**
 * Announces chunks to the keeper and sends their descriptors, which stay open here no longer than a message
 * takes. Returns the last answer: a refusal, or that of who does not need them, ends it.
 */
export async function handOver(
  connection: KeeperConnection,
  request: Announcement,
  { chunks, files }: { readonly chunks: readonly VirtualRange[]; readonly files?: number[] },
): Promise<KeeperAnswer> {
  const announced = { ...request, descriptorCount: chunks.length };
  let answer: KeeperAnswer = await connection.ask(announced, files);
  for (let at = 0; at < chunks.length && answer.found === true; at += MAX_DESCRIPTORS) {
    const descriptors: number[] = [];
    try {
      for (const chunk of chunks.slice(at, at + MAX_DESCRIPTORS)) descriptors.push(chunk.export());
      answer = await connection.ask({ op: "part" }, descriptors);
    } finally {
      descriptors.forEach(closeDescriptor);
    }
  }
  return answer;
}

/** Releases all that was allocated from a resource and is alive. */
export function releaseFrom({ ledger }: Context, resource: VirtualMemoryResource): void {
  for (const entry of ledger.entries()) {
    if (entry instanceof Allocation && entry.resource === resource) entry.release();
  }
}
