// Memory that outlives its program: made once by a function, kept by the keeper, and opened by name by
// whoever asks for the same next.

import type { AsyncLocalStorage } from "node:async_hooks";
import { allocateDeviceBuffer, type DeviceBuffer } from "../buffers/device_buffer.ts";
import { blockOf, ownerOf } from "../buffers/gpu_buffer.ts";
import { listenToLoads, type LoadedFile } from "../disk/loaded_files.ts";
import type { Context } from "../driver/context.ts";
import { deviceUuid } from "../driver/device_uuid.ts";
import type { DType } from "../dtype.ts";
import { Allocation } from "../memory/allocation.ts";
import { ChunkArena } from "../memory/chunk_arena.ts";
import { sourceOf } from "../memory/resource_kind.ts";
import { VirtualChunk } from "../memory/virtual_chunk.ts";
import { canBeShared } from "../memory/virtual_memory.ts";
import { VirtualMemoryResource } from "../memory/virtual_memory_resource.ts";
import { requireNoCapture } from "../order/capture.ts";
import { defaultStreamOf } from "../order/stream.ts";
import { whenDone } from "../sharing/share_memory.ts";
import { closeDescriptor } from "../sharing/local_socket.ts";
import { builtin } from "../words/builtin.ts";
import { CudaError } from "../words/errors.ts";
import { visibleText } from "../words/format.ts";
import { CALLBACK, FLAG, OptionSet, requireKind, SIGNAL, TEXT } from "../words/options.ts";
import { Parts } from "../words/parts.ts";
import { warn } from "../words/warning.ts";
import {
  contentWords,
  describeContents,
  type Description,
  makeContents,
  type NamedContent,
  ownersOf,
  type Persistable,
  putTogether,
  takeApart,
  type TakenApart,
  viewIn,
} from "./contents.ts";
import { KeeperConnection, newFile, readText, textFile } from "./keeper_connection.ts";
import { type KeeperAnswer, type KeptFacts, MOST_DESCRIPTORS, PAGE_BYTES } from "./keeper_words.ts";
import { differenceFrom, originWords, type PersistOrigin } from "./origin.ts";
import { PersistError } from "./persist_error.ts";
import { PersistedTable } from "./persisted_table.ts";
import { Persistence } from "./persistence.ts";
import { StatePage } from "./state_page.ts";
import { WriteWatch } from "./write_watch.ts";

/** Options for {@link CudaDevice.persist}. */
export interface PersistOptions {
  /** The program's own key: a name that was made with another one is not opened. */
  readonly key?: string | undefined;
  /** Whether to make it anew, whatever is there under that name. */
  readonly replace?: boolean | undefined;
  /**
   * Whether to move memory that the function allocated elsewhere, buffer by buffer; without this it is
   * refused.
   */
  readonly move?: boolean | undefined;
  /** Ends the wait for another program that makes the same name. */
  readonly signal?: AbortSignal | undefined;
}

const PERSIST_OPTIONS = new OptionSet<PersistOptions>({
  key: TEXT,
  replace: FLAG,
  move: FLAG,
  signal: SIGNAL,
});

/** The longest wait for the end of a process that was killed while it had memory open. */
const ENDING_MILLISECONDS = 60_000;

/** A value that outlives its program. */
export type Persisted<T> = T & Disposable & {
  /** What is known about it: when it was made and of what, and whether it is whole. */
  readonly persistence: Persistence;
  /** Lets go of the memory here; only `gpu.forget()` gives it up. */
  dispose(): void;
};

/** What a program asks for. */
export interface PersistRequest {
  readonly name: string;
  /** Makes the value when it is not there. */
  readonly make: () => unknown;
  /** Runs a function with a resource for the device's memory. */
  readonly withResource: (resource: VirtualMemoryResource, body: () => unknown) => unknown;
}

/** Persisted memory that this program has open. */
export interface OpenPersisted {
  readonly name: string;
  readonly connection: KeeperConnection;
  readonly resource: VirtualMemoryResource;
  /** Chunks in the order in which the keeper has their descriptors. */
  readonly chunks: readonly VirtualChunk[];
  readonly allocations: readonly Allocation[];
  readonly watch: WriteWatch;
  readonly persistence: Persistence;
  readonly origin: PersistOrigin;
  readonly value: WeakRef<object>;
}

const openIn = new WeakMap<Context, Map<string, OpenPersisted>>();
const openOf = new WeakMap<object, OpenPersisted>();

/** Returns what is open behind a value; undefined for a value that was not persisted. */
export function openedBehind(value: unknown): OpenPersisted | undefined {
  return typeof value === "object" && value !== null ? openOf.get(value) : undefined;
}

/** Returns what is known about a persisted value; undefined for any other. */
export function persistenceOf(value: object): Persistence | undefined {
  return openOf.get(value)?.persistence;
}

/**
 * Opens what is persisted under a name, or makes it.
 *
 * @throws PersistError when it is of another origin, of a kind that cannot be persisted, or there can be no
 *   keeper.
 */
export async function persistMemory(
  context: Context,
  { name, make, withResource }: PersistRequest,
  options: PersistOptions,
): Promise<Persistable> {
  options = PERSIST_OPTIONS.read(options, "persist");
  requireKind(name, TEXT, "persist");
  requireKind(make, CALLBACK, "persist");
  requireNoCapture("persist memory");
  requireShareable(context);
  if (makings().getStore()?.has(name) === true) {
    throw new TypeError(
      `Cannot call persist("${
        visibleText(name)
      }") in the function that makes it: give one of the two ` +
        "another name",
    );
  }
  const turns = turnsOf.getOrInsertComputed(context, () => new Map());
  const turn = (turns.get(name) ?? Promise.resolve()).then(() => {
    return persistNow(context, { name, make, withResource }, options);
  });
  const over = turn.then(() => {}, () => {});
  turns.set(name, over);
  try {
    return await turn;
  } finally {
    if (turns.get(name) === over) turns.delete(name);
  }
}

/** The calls for each name, one after another: the second returns what the first has made. */
const turnsOf = new WeakMap<Context, Map<string, Promise<void>>>();

let namesInMaking: AsyncLocalStorage<ReadonlySet<string>> | undefined;

/** The names that the functions make which run now. */
function makings(): AsyncLocalStorage<ReadonlySet<string>> {
  return namesInMaking ??= new (builtin("node:async_hooks").AsyncLocalStorage)();
}

async function persistNow(
  context: Context,
  { name, make, withResource }: PersistRequest,
  options: PersistOptions,
): Promise<Persistable> {
  const { key, replace = false, signal } = options;
  const known = replace ? undefined : knownHere(context, name);
  if (known !== undefined && await isListed(known.open)) {
    requireOrigin(name, known.open.origin, key);
    return known.value as Persistable;
  }
  const device = deviceUuid(context);
  const connection = await KeeperConnection.open(signal);
  using undo = new DisposableStack();
  undo.use(connection);
  connection.tell({ op: "want", name, device, anew: replace });
  let answer = await connection.hear({ signal });
  while (answer.state === "making" || answer.state === "ending") {
    const patience = answer.state === "making" ? Infinity : ENDING_MILLISECONDS;
    const pids = answer.pids?.join(", ");
    const late = answer.state === "ending" ? stillEnding(name, pids) : undefined;
    answer = await connection.hear({ signal, patience, late });
  }
  if (answer.state === "there" && answer.facts !== undefined) {
    const { facts, slot = 0, descriptors } = answer;
    requireOrigin(name, JSON.parse(facts.origin), key);
    try {
      const opened = await openKept(context, connection, { facts, slot, descriptors });
      undo.move(); // the connection lasts as long as the memory is open
      return opened;
    } finally {
      descriptors.forEach(closeDescriptor);
    }
  }
  if (answer.state !== "make") throw refusalOf(name, answer);
  const made = await makeKept(context, connection, { name, make, withResource, options });
  undo.move();
  return made;
}

/** Lists what is persisted on a device, oldest first; on all devices without one. */
export async function listPersisted(device?: string): Promise<readonly Persistence[]> {
  using connection = await KeeperConnection.find();
  if (connection === undefined) return [];
  const { descriptors: [list = -1] } = await connection.ask({ op: "list" });
  try {
    const facts: readonly KeptFacts[] = JSON.parse(readText(list));
    return facts.filter((each) => device === undefined || each.device === device)
      .map((each) => new Persistence(new Parts({ facts: each, wasThere: true })));
  } finally {
    closeDescriptor(list);
  }
}

/** Lists what is persisted as a table, on one device or on all. */
export async function persistedTable(device?: string): Promise<PersistedTable> {
  return new PersistedTable(new Parts(await listPersisted(device)));
}

/** Gives a name up: its memory is freed when the last program lets go. Returns whether there was one. */
export async function forgetPersisted(
  { name, device }: { readonly name: string; readonly device: string },
): Promise<boolean> {
  using connection = await KeeperConnection.find();
  const answer = await connection?.ask({ op: "forget", name, device });
  return answer?.found === true;
}

/** Returns whether the keeper still has what this program has open. */
async function isListed({ connection }: OpenPersisted): Promise<boolean> {
  try {
    return (await connection.ask({ op: "check" })).found === true;
  } catch (error) {
    if (error instanceof PersistError) return false; // the keeper is gone
    throw error;
  }
}

/** Opens memory that the keeper holds. */
async function openKept(
  context: Context,
  connection: KeeperConnection,
  { facts, slot, descriptors: [description = -1, page = -1] }: {
    readonly facts: KeptFacts;
    readonly slot: number;
    readonly descriptors: readonly number[];
  },
): Promise<Persistable> {
  const described: Description = JSON.parse(readText(description));
  const arena = new ChunkArena(context, { isShareable: true });
  arena.seal();
  const resource = new VirtualMemoryResource({ context }, new Parts(arena));
  using undo = new DisposableStack();
  undo.defer(() => arena.releaseUnused());
  undo.defer(() => releaseFrom(context, resource));
  const chunks: VirtualChunk[] = [];
  while (chunks.length < described.chunks.length) {
    const { descriptors } = await connection.ask({ op: "more", from: chunks.length });
    try {
      if (descriptors.length === 0) throw forgotten(facts.name);
      for (const descriptor of descriptors) {
        const byteLength = described.chunks[chunks.length] ?? 0;
        const chunk = importChunk(context, facts.name, { byteLength, descriptor });
        chunks.push(chunk);
        arena.adopt(chunk);
      }
    } finally {
      descriptors.forEach(closeDescriptor);
    }
  }
  const addresses = described.blocks.map(({ chunk, offset, byteLength }) => {
    const place = { chunk: chunks[chunk] as VirtualChunk, offset, byteLength };
    return resource.adopt(arena.adoptBlock(place));
  });
  const stream = defaultStreamOf(context);
  const { value, allocations } = makeContents(described, { addresses, resource, stream });
  const states = new StatePage(page, slot);
  undo.move();
  const kept = { context, connection, resource, chunks, allocations, states, facts };
  const contents = takeApart(value, facts.name);
  const shown = show(contents, { ...kept, value, wasThere: true });
  const { state, unfinishedBy } = persistenceOf(shown) as Persistence;
  if (state === "dirty" && unfinishedBy !== undefined) {
    warn(
      `"${
        visibleText(facts.name)
      }" may be incomplete: process ${unfinishedBy} ended while it wrote; ` +
        "pass { replace: true } to make it anew",
    );
  }
  return shown;
}

/** Makes memory and hands it to the keeper. */
async function makeKept(
  context: Context,
  connection: KeeperConnection,
  { name, make, withResource, options }: PersistRequest & { readonly options: PersistOptions },
): Promise<Persistable> {
  const { key, move = false } = options;
  const arena = new ChunkArena(context, { isShareable: true });
  const resource = new VirtualMemoryResource({ context }, new Parts(arena));
  using undo = new DisposableStack();
  undo.defer(() => releaseFrom(context, resource));
  const files = new Map<string, LoadedFile>();
  const note = (file: LoadedFile) => void files.set(file.path, file);
  const names = new Set([...makings().getStore() ?? [], name]);
  const made = await makings().run(names, () => {
    return listenToLoads(note, () => withResource(resource, make));
  });
  const taken = await inArena(takeApart(made, name), { name, resource, move });
  const { description, allocations } = describeContents(taken.contents, resource);
  arena.seal();
  for (const { buffer } of taken.contents.contents) await whenDone(buffer.span);
  const value = taken.isMoved ? putTogether(taken.contents, taken.blocks) : made as Persistable;
  const used = new Set(allocations.map(({ address }) => arena.placeOf(address)?.chunk));
  const chunks = [...used].filter((chunk) => chunk !== undefined);
  const origin: PersistOrigin = { files: [...files.values()], key };
  const { slot, facts, page } = await publish(connection, {
    name,
    chunks,
    description,
    origin,
    what: contentWords(taken.contents),
  });
  try {
    const states = new StatePage(page, slot);
    undo.move();
    const kept = { context, connection, resource, chunks, allocations, states, facts };
    return show(taken.contents, { ...kept, value, wasThere: false });
  } finally {
    closeDescriptor(page);
  }
}

/** Hands chunks to the keeper, which takes all or nothing. */
async function publish(
  connection: KeeperConnection,
  { name, chunks, description, origin, what }: {
    readonly name: string;
    readonly chunks: readonly VirtualChunk[];
    readonly description: Description;
    readonly origin: PersistOrigin;
    readonly what: string;
  },
): Promise<{ readonly slot: number; readonly facts: KeptFacts; readonly page: number }> {
  using files = new DisposableStack();
  const described = textFile(JSON.stringify(description));
  files.defer(() => closeDescriptor(described));
  const page = newFile(new Uint8Array(PAGE_BYTES));
  using onFailure = new DisposableStack();
  onFailure.defer(() => closeDescriptor(page));
  let answer = await connection.ask({
    op: "publish",
    byteLength: chunks.reduce((sum, { byteLength }) => sum + byteLength, 0),
    what,
    origin: JSON.stringify(origin),
    descriptorCount: chunks.length,
  }, [described, page]);
  if (answer.refused !== undefined) throw refusalOf(name, answer);
  for (let at = 0; at < chunks.length; at += MOST_DESCRIPTORS) {
    const answered = await sendChunks(
      connection,
      { op: "part" },
      chunks.slice(at, at + MOST_DESCRIPTORS),
    );
    if (answered.refused !== undefined) throw refusalOf(name, answered);
    answer = answered;
  }
  const { slot, facts } = answer;
  if (slot === undefined || facts === undefined) throw refusalOf(name, answer);
  onFailure.move();
  return { slot, facts, page };
}

/** Sends descriptors of chunks, which stay open here no longer than the message takes. */
export async function sendChunks(
  connection: KeeperConnection,
  request: { readonly op: "part" },
  chunks: readonly VirtualChunk[],
): ReturnType<KeeperConnection["ask"]> {
  const descriptors: number[] = [];
  try {
    for (const chunk of chunks) descriptors.push(chunk.export());
    return await connection.ask(request, descriptors);
  } finally {
    descriptors.forEach(closeDescriptor);
  }
}

/** Watches the memory of a value, gives the value its words, and remembers it for the next call. */
function show(
  { kind, contents }: TakenApart,
  opened: Pick<OpenPersisted, "connection" | "resource" | "chunks" | "allocations"> & {
    readonly context: Context;
    readonly states: StatePage;
    readonly facts: KeptFacts;
    readonly value: Persistable;
    readonly wasThere: boolean;
  },
): Persistable {
  const { context, connection, resource, chunks, allocations, states, facts, wasThere } = opened;
  const { name } = facts;
  const persistence = new Persistence(
    new Parts({ facts, wasThere, readOpeners: () => states.openers }),
  );
  const words = { persistence: { value: persistence, configurable: true } };
  const owners = ownersOf(contents);
  const dispose = () => owners.forEach((owner) => owner.dispose());
  const shown: Persistable = kind === "buffers"
    ? Object.defineProperties({ ...opened.value as object }, {
      ...words,
      dispose: { value: dispose },
      disposed: { get: () => owners.every(({ disposed }) => disposed) },
      [Symbol.dispose]: { value: dispose },
    }) as Persistable
    : Object.defineProperties(opened.value, words);
  const watch = new WriteWatch(context, states, allocations.map(({ usage }) => usage));
  const origin: PersistOrigin = JSON.parse(facts.origin);
  const value = new WeakRef<object>(shown);
  const record: OpenPersisted = {
    ...{ name, connection, resource, chunks, allocations, watch, persistence, origin, value },
  };
  const known = openIn.getOrInsertComputed(context, () => new Map());
  known.set(name, record);
  openOf.set(shown, record);
  const end = () => {
    watch.end();
    states.close();
    connection[Symbol.dispose]();
    if (known.get(name) === record) known.delete(name);
  };
  resource.arena.whenEmpty = end;
  if (resource.arena.chunks.length === 0) end();
  return shown;
}

/** Finds what this program has open under a name, all of it. */
function knownHere(
  context: Context,
  name: string,
): { readonly open: OpenPersisted; readonly value: object } | undefined {
  const open = openIn.get(context)?.get(name);
  const value = open?.value.deref();
  if (open === undefined || value === undefined) return undefined;
  if (open.allocations.some(({ released }) => released)) return undefined;
  return { open, value };
}

/** Contents whose memory lies in an arena. */
interface InArena {
  readonly contents: TakenApart;
  readonly isMoved: boolean;
  /** For contents that were moved: the buffers that own their blocks. */
  readonly blocks: readonly DeviceBuffer[];
}

/** Checks that memory comes from the arena, or moves it there, one block after the other. */
async function inArena(
  taken: TakenApart,
  { name, resource, move }: {
    readonly name: string;
    readonly resource: VirtualMemoryResource;
    readonly move: boolean;
  },
): Promise<InArena> {
  const isElsewhere = ({ buffer }: NamedContent) => {
    const block = blockOf(buffer);
    return block.byteLength > 0 && (sourceOf(block.resource) !== resource ||
      resource.arena.placeOf(block.address) === undefined);
  };
  const elsewhere = taken.contents.filter(isElsewhere);
  const [first] = elsewhere;
  if (first === undefined) return { contents: taken, isMoved: false, blocks: [] };
  const { context } = first.buffer;
  if (context !== resource.context || !move) {
    throw new PersistError(
      "elsewhere",
      `Cannot persist "${
        visibleText(name)
      }": ${first.buffer} was not allocated by its function from ` +
        `gpu.memoryResource of device ${resource.context.ordinal}; allocate it there, or pass ` +
        "{ move: true }",
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
    const { name, buffer: { dtype, shape, byteOffset } } = content;
    contents.push({
      ...content,
      buffer: viewIn(owner, { name, dtype, shape, offset: byteOffset }),
    });
  }
  return { contents: { ...taken, contents }, isMoved: true, blocks: [...moved.values()] };
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
  const moved = allocateDeviceBuffer<DType>({ dtype, shape, resource, stream, label });
  try {
    moved.as("uint8").reshape([moved.byteLength]).copyFrom(bytesOf(former));
    await stream.synchronize();
  } catch (error) {
    moved.dispose();
    throw error;
  }
  former.dispose();
  return moved;
}

/** Shows all bytes of a buffer's block. */
function bytesOf(buffer: DeviceBuffer): DeviceBuffer<"uint8"> {
  return buffer.as("uint8").reshape([buffer.byteLength]);
}

function importChunk(
  context: Context,
  name: string,
  { byteLength, descriptor }: { readonly byteLength: number; readonly descriptor: number },
): VirtualChunk {
  try {
    return new VirtualChunk(context, byteLength, { isShareable: true, descriptor });
  } catch (cause) {
    if (!(cause instanceof CudaError)) throw cause;
    throw new PersistError(
      "gone",
      `Cannot open "${
        visibleText(name)
      }": the driver refuses its memory (${cause.codeName}), as after a ` +
        "reset of the GPU or a restart of its driver; forget() it, or pass { replace: true }",
      { cause },
    );
  }
}

/** Releases all that was allocated from a resource and is alive. */
function releaseFrom({ ledger }: Context, resource: VirtualMemoryResource): void {
  for (const entry of ledger.entries()) {
    if (entry instanceof Allocation && entry.resource === resource) entry.release();
  }
}

function requireShareable(context: Context): void {
  if (Deno.build.os === "linux" && canBeShared(context)) return;
  throw new PersistError(
    "unsupported",
    `Cannot persist memory of device ${context.ordinal}: that needs Linux, and a driver that passes ` +
      "memory by file descriptors",
  );
}

function requireOrigin(name: string, origin: PersistOrigin, key: string | undefined): void {
  const difference = differenceFrom(origin, { key });
  if (difference === undefined) return;
  throw new PersistError(
    "origin",
    `Cannot open "${visibleText(name)}", made of ${originWords(origin)}: ${difference}; pass ` +
      "{ replace: true } to make it anew, or use another name",
  );
}

function refusalOf(
  name: string,
  { refused, state, facts, pids = [], limit, used }: KeeperAnswer,
): PersistError {
  const shown = visibleText(name);
  if (state === "asleep") {
    const asleep = facts?.asleep;
    return new PersistError(
      "asleep",
      `Cannot open "${shown}": it is asleep in process ${asleep?.pid}, in ${asleep?.where}; wake it there`,
    );
  }
  if (refused === "descriptors") {
    return new PersistError(
      "descriptors",
      `Cannot persist "${shown}": the keeper may have ${limit} files open and has ${used}; forget other ` +
        "names, or raise the limit (ulimit -Hn) before the keeper starts",
    );
  }
  if (refused === "openers") {
    return new PersistError(
      "openers",
      `Cannot open "${shown}": ${pids.length} programs have it open, which is the most`,
    );
  }
  return new PersistError(
    "gone",
    `Cannot persist "${shown}": the keeper did not understand (${refused})`,
  );
}

function forgotten(name: string): PersistError {
  return new PersistError(
    "gone",
    `Cannot open "${visibleText(name)}": it was forgotten meanwhile; call again to make it`,
  );
}

function stillEnding(name: string, pids: string | undefined): PersistError {
  return new PersistError(
    "ending",
    `Cannot open "${
      visibleText(name)
    }": process ${pids}, which had it open, let go without a word and ` +
      `still runs, so that its work may not be over; end it`,
  );
}
