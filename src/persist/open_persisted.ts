// What this program has open of persisted memory: found by name, by value, and by the resource of its blocks.

import type { Context } from "../driver/context.ts";
import type { Allocation } from "../memory/allocation.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import type { VirtualChunk } from "../memory/virtual_chunk.ts";
import type { VirtualMemoryResource } from "../memory/virtual_memory_resource.ts";
import { Parts } from "../words/parts.ts";
import { ownersOf, type Persistable, type TakenApart } from "./contents.ts";
import type { KeeperConnection } from "./keeper_connection.ts";
import type { KeptFacts } from "./keeper_words.ts";
import type { PersistOrigin } from "./origin.ts";
import { Persistence } from "./persistence.ts";
import type { StatePage } from "./state_page.ts";
import { WriteWatch } from "./write_watch.ts";

/** A value that outlives its program. */
export type Persisted<T> = T & Disposable & {
  /** What is known about it: when it was made and of what, and whether it is whole. */
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
  readonly chunks: readonly VirtualChunk[];
  readonly allocations: readonly Allocation[];
  readonly persistence: Persistence;
  readonly origin: PersistOrigin;
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
  /** Whether it was there before the call. */
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
  const owners = ownersOf(contents);
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
  const origin: PersistOrigin = JSON.parse(facts.origin);
  const value = new WeakRef<object>(shown);
  const record: OpenPersisted = {
    ...{ name, connection, resource, chunks, allocations, persistence, origin, value },
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
