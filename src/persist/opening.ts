// Opens persisted memory that the keeper holds, and brings back what sleeps in a file.

import type { Context } from "../driver/context.ts";
import { ChunkArena } from "../memory/chunk_arena.ts";
import { takeOrReclaim } from "../memory/out_of_memory.ts";
import { VirtualChunk } from "../memory/virtual_chunk.ts";
import { VirtualMemoryResource } from "../memory/virtual_memory_resource.ts";
import { defaultStreamOf } from "../order/stream.ts";
import { closeDescriptor } from "../sharing/local_socket.ts";
import { CudaError } from "../words/errors.ts";
import { visibleText } from "../words/format.ts";
import { Parts } from "../words/parts.ts";
import { warn } from "../words/warning.ts";
import { type Description, makeContents, type Persistable, takeApart } from "./contents.ts";
import type { KeeperConnection } from "./keeper_connection.ts";
import type { KeptFacts } from "./keeper_words.ts";
import { releaseFrom, sendChunks } from "./making.ts";
import { type Persisted, show } from "./open_persisted.ts";
import { PersistError, refusalOf } from "./persist_error.ts";
import { readParts } from "./sleep_file.ts";
import { StatePage } from "./state_page.ts";
import { readText } from "./text_file.ts";

/** What the keeper hands out with a name. */
interface HandedOut {
  readonly facts: KeptFacts;
  /** This program's place in the page. */
  readonly slot: number;
  /** The description, the page, and the first of the chunks. */
  readonly descriptors: readonly number[];
}

/** Opens memory that the keeper holds. */
export async function openKept(
  context: Context,
  connection: KeeperConnection,
  { facts, slot, descriptors: [description = -1, page = -1, ...first] }: HandedOut,
): Promise<Persisted<Persistable>> {
  const described: Description = JSON.parse(readText(description));
  const arena = new ChunkArena(context, { isShareable: true });
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
    const place = { chunk: chunks[chunk] as VirtualChunk, offset, byteLength };
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
): Promise<VirtualChunk[]> {
  const chunks: VirtualChunk[] = [];
  const adopt = (descriptor: number) => {
    const byteLength = sizes[chunks.length] ?? 0;
    const chunk = importChunk(context, name, { byteLength, descriptor });
    chunks.push(chunk);
    arena.adopt(chunk);
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
): Promise<VirtualChunk[]> {
  const shown = `"${visibleText(name)}"`;
  if (file === null) throw forgotten(name); // the keeper hands out nothing else
  const chunks = sizes.map((byteLength) => {
    const need = { context, kind: "device", byteLength } as const;
    const chunk = takeOrReclaim(need, () => {
      return new VirtualChunk(context, byteLength, { isShareable: true });
    });
    arena.adopt(chunk);
    return chunk;
  });
  const stream = defaultStreamOf(context);
  await readParts(context, chunks, { file, stream, doing: `open ${shown}` });
  await stream.synchronize();
  let answer = await connection.ask({ op: "wake", descriptorCount: chunks.length });
  if (answer.refused === undefined) {
    answer = { ...answer, ...await sendChunks(connection, chunks) };
  }
  if (answer.refused !== undefined) throw refusalOf(name, answer);
  return chunks;
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
      `Cannot open "${visibleText(name)}": the driver refuses its memory (${cause.codeName}), as ` +
        "after a reset of the GPU or a restart of its driver; forget() it, or pass { replace: true }",
      { cause },
    );
  }
}

function forgotten(name: string): PersistError {
  return new PersistError(
    "gone",
    `Cannot open "${visibleText(name)}": it was forgotten meanwhile; call again to make it`,
  );
}
