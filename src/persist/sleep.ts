// Puts memory to sleep and wakes it: finds the blocks of what a program names, and what sleeps with them.

import { blockOf, GpuBuffer } from "../buffers/gpu_buffer.ts";
import { type FilePath, pathOf } from "../disk/file_path.ts";
import type { LoadedFile } from "../disk/loaded_files.ts";
import { nameOf } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { hasFields } from "../interop/named_buffers.ts";
import { DeviceModel } from "../interop/loaded_contents.ts";
import { Allocation } from "../memory/allocation.ts";
import { sourceOf } from "../memory/resource_kind.ts";
import { VirtualMemoryResource } from "../memory/virtual_memory_resource.ts";
import type { VirtualRange } from "../memory/virtual_range.ts";
import { pendingBefore } from "../memory/in_order.ts";
import { requireNoCapture } from "../order/capture.ts";
import { defaultStreamOf } from "../order/stream.ts";
import { classNameOf, describeValue, formatCount, visibleText } from "../words/format.ts";
import { ANYTHING, oneOf, OptionSet } from "../words/options.ts";
import { warn } from "../words/warning.ts";
import { virtualSourceOf } from "./contents.ts";
import { handOver, openedAround, type OpenPersisted, type Persisted } from "./open_persisted.ts";
import { PersistError, type PersistProblem } from "./persist_error.ts";
import type { SleepPart } from "./sleep_file.ts";
import { Sleeper, sleeperOf } from "./sleeper.ts";

/** Options for {@link CudaDevice.sleep}. */
export interface SleepOptions {
  /**
   * Where the contents go: `"host"` memory, which is the default; a `"file"`; or `"nothing"`, for what can
   * be made again.
   */
  readonly to?: "host" | "file" | "nothing" | undefined;
  /** The file, for `{ to: "file" }`. */
  readonly path?: FilePath | undefined;
  /**
   * Effect of a use of the memory: `"wake"` it first, which is the default, or `"throw"`. With contents in a
   * file every use throws, until `wake()` has read them.
   */
  readonly onUse?: "wake" | "throw" | undefined;
}

const SLEEP_OPTIONS = new OptionSet<SleepOptions>({
  to: oneOf("host", "file", "nothing"),
  path: ANYTHING, // checked as a path
  onUse: oneOf("wake", "throw"),
});

/** All memory of the resources with a tag. */
export interface SleepTag {
  /** The tag, as it was given to their resources. */
  readonly tag: string;
}

/**
 * Memory that can be put to sleep: a buffer, a model, an object of named buffers, a result of
 * `gpu.persist()`, or all memory of a tag.
 */
export type Sleepable =
  | GpuBuffer
  | DeviceModel<string, unknown>
  | Readonly<Record<string, unknown>>
  | Persisted<unknown>
  | SleepTag;

/**
 * Puts memory to sleep behind what was queued. Resolves when it is away, or when a use has woken it.
 *
 * @throws PersistError for memory that cannot leave its addresses, with its name.
 */
export async function sleepMemory(
  context: Context,
  target: Sleepable,
  options: SleepOptions,
): Promise<void> {
  options = SLEEP_OPTIONS.read(options, "sleep");
  requireNoCapture("put memory to sleep");
  const { to = "host", onUse = "wake" } = options;
  if (to === "file" && options.path === undefined) {
    throw new TypeError('Cannot call sleep() with { to: "file" }: option "path" is missing');
  }
  const path = to === "file" ? pathOf(options.path as FilePath) : "";
  const { name, allocations: named } = blocksOf(context, target, "sleep");
  await untilNothingIsPending(context, named);
  const allocations = named.filter(({ released }) => !released); // others may have their addresses by now
  const awake = allocations.filter((allocation) => sleeperOf(allocation) === undefined);
  if (awake.length === 0) return;
  if (awake.length < allocations.length) {
    throw cannotSleep("asleep", name, "a part of it is; wake() it first");
  }
  for (const allocation of allocations) allocation.requireNotLent("put to sleep");
  const sleeping = context.ledger.entries().find((entry) => {
    return entry instanceof Allocation && sleeperOf(entry)?.where === path;
  });
  if (sleeping !== undefined) {
    const words = `${nameOf(sleeping)} sleeps in ${visibleText(path)}; pass another path`;
    throw cannotSleep("asleep", name, words);
  }
  const opened = openedOf(name, allocations);
  const parts = partsOf(context, { name, allocations, opened });
  let kept: OpenPersisted | undefined; // what the keeper knows to be asleep
  const whenAway = (file: LoadedFile | null) => {
    if (opened !== undefined) opened.asleepIn = sleeper.where;
    if (kept !== undefined) sendAway(kept, file);
  };
  const whenAwake = async () => {
    if (opened !== undefined) opened.asleepIn = undefined;
    if (kept !== undefined) await handBack(kept);
  };
  const place = { context, name, parts, allocations, to, path };
  const sleeper = new Sleeper({ ...place, onUse, whenAway, whenAwake });
  try {
    if (opened !== undefined && await takeBack(opened, sleeper.where)) kept = opened;
    if (!await sleeper.fallAsleep()) await whenAwake();
  } catch (error) {
    await sleeper.wake(); // it has not slept
    await whenAwake();
    throw error;
  }
}

/**
 * Finds the persisted memory that blocks are.
 *
 * @throws PersistError when they are a part of it: the rest would stay, and the keeper with it.
 */
function openedOf(name: string, allocations: readonly Allocation[]): OpenPersisted | undefined {
  const own = new Set(allocations);
  for (const opened of new Set(allocations.map(openedAround))) {
    if (opened === undefined) continue;
    const blocks = opened.allocations.filter(({ byteLength }) => byteLength > 0);
    if (blocks.length === own.size && blocks.every((block) => own.has(block))) return opened;
    const words = "sleeps alone and as a whole; pass what gpu.persist() returned";
    throw cannotSleep("elsewhere", name, `"${visibleText(opened.name)}" ${words}`);
  }
  return undefined;
}

/** Waits for transfers under way, which keep memory, and for those that are called meanwhile. */
async function untilNothingIsPending(
  context: Context,
  allocations: readonly Allocation[],
): Promise<void> {
  const stream = defaultStreamOf(context);
  for (;;) {
    const earlier = allocations.flatMap((allocation) => {
      const { address, byteLength } = allocation;
      return pendingBefore(stream, [{ allocation, address, byteLength, access: "write" }]);
    });
    if (earlier.length === 0) return;
    await Promise.all(earlier.map((work) => work.over()));
  }
}

/** Wakes memory, and resolves when its contents are there. What is awake stays as it is. */
export async function wakeMemory(context: Context, target: Sleepable): Promise<void> {
  requireNoCapture("wake memory");
  const { allocations } = blocksOf(context, target, "wake");
  const sleepers = new Set(allocations.map(sleeperOf).filter((sleeper) => sleeper !== undefined));
  for (const sleeper of sleepers) await sleeper.wake();
}

/** Finds the blocks of what a program names. */
function blocksOf(
  context: Context,
  target: Sleepable,
  action: string,
): { readonly name: string; readonly allocations: readonly Allocation[] } {
  if (hasFields(target) && typeof (target as Partial<SleepTag>).tag === "string") {
    const { tag } = target as SleepTag;
    const allocations = context.ledger.entries().filter((entry) => {
      const source = entry instanceof Allocation ? sourceOf(entry.resource) : undefined;
      return source instanceof VirtualMemoryResource && source.tag === tag;
    }) as Allocation[];
    return { name: `tag "${visibleText(tag)}"`, allocations };
  }
  const buffers = buffersOf(target);
  if (buffers.length === 0) {
    throw new TypeError(
      `Cannot ${action} ${describeValue(target)}: expected a buffer, a model, an object of named ` +
        `buffers, or { tag: "weights" }`,
    );
  }
  const allocations = new Set<Allocation>();
  for (const buffer of buffers) {
    const block = blockOf(buffer);
    block.checkThere();
    if (block.context !== context) {
      throw new TypeError(
        `Cannot ${action} ${buffer}: it belongs to device ${block.context.ordinal}; ask that device`,
      );
    }
    if (block.byteLength > 0) allocations.add(block);
  }
  const [first] = buffers;
  const name = target instanceof GpuBuffer || target instanceof DeviceModel
    ? `${target}`
    : `${formatCount(buffers.length, "buffer")} (${first})`;
  return { name, allocations: [...allocations] };
}

function buffersOf(target: unknown): readonly GpuBuffer[] {
  if (target instanceof GpuBuffer) return [target];
  if (target instanceof DeviceModel) return [...target].map(([, buffer]) => buffer);
  if (!hasFields(target)) return [];
  const values: unknown[] = Object.values(target);
  return values.every((value) => value instanceof GpuBuffer) ? values : [];
}

/** Finds the memory behind blocks, all of which sleeps or none; that of the keeper in its order. */
function partsOf(
  context: Context,
  { name, allocations, opened }: {
    readonly name: string;
    readonly allocations: readonly Allocation[];
    readonly opened: OpenPersisted | undefined;
  },
): readonly SleepPart[] {
  const chunks = new Map<VirtualRange, { readonly resource: VirtualMemoryResource; end: number }>(
    opened?.chunks.map((chunk) => [chunk, { resource: opened.resource, end: 0 }]),
  );
  const parts: SleepPart[] = [];
  for (const allocation of allocations) {
    const { address, byteLength } = allocation;
    const resource = virtualSourceOf(allocation);
    const range = resource?.rangeAt(address);
    const place = resource?.arena.placeOf(address);
    if (range !== undefined) parts.push({ range, byteLength });
    else if (resource !== undefined && place?.byteLength === byteLength) {
      const { chunk, offset } = place;
      const end = Math.max(offset + byteLength, chunks.get(chunk)?.end ?? 0);
      chunks.set(chunk, { resource, end });
    } else {
      const from = classNameOf(allocation.resource);
      const words = `its memory comes from a ${from}, and cannot leave its addresses; allocate ` +
        "it from new VirtualMemoryResource(gpu)";
      throw cannotSleep("elsewhere", nameOf(allocation), words);
    }
  }
  const own = new Set(allocations.map(({ address }) => address));
  for (const [range, { resource, end }] of chunks) {
    const other = resource.arena.addressesIn(range).find((address) => !own.has(address));
    if (other !== undefined) throw sharing(context, name, other);
    parts.push({ range, byteLength: end });
  }
  return parts;
}

function sharing({ ledger }: Context, name: string, address: bigint): PersistError {
  const other = ledger.entries().find((entry) => entry.address === address);
  const found = other === undefined ? "a block whose free is still queued" : nameOf(other);
  const words = `it shares a chunk of memory with ${found}; allocate it from a ` +
    "VirtualMemoryResource of its own, or put the tag to sleep";
  return cannotSleep("elsewhere", name, words);
}

/**
 * Tells the keeper that memory goes to sleep, so that nobody else opens it. Returns whether the keeper has it:
 * what was forgotten is this program's alone.
 */
async function takeBack({ connection, name }: OpenPersisted, where: string): Promise<boolean> {
  const { refused, pids = [], found } = await connection.ask({ op: "sleep", where });
  if (refused === undefined) return found === true;
  const words = `process ${pids.join(", ")} has it open, too`;
  throw cannotSleep("open", `"${visibleText(name)}"`, words);
}

function cannotSleep(reason: PersistProblem, name: string, words: string): PersistError {
  return new PersistError(reason, `Cannot put ${name} to sleep: ${words}`);
}

/** Has the keeper close its descriptors, without which no memory would be given back. */
function sendAway({ connection }: OpenPersisted, file: LoadedFile | null): void {
  try {
    connection.tell({ op: "away", file });
  } catch {
    // It has ended, and holds nothing.
  }
}

/** Hands new descriptors to the keeper, after which the memory outlives this program again. */
async function handBack({ connection, chunks, name }: OpenPersisted): Promise<void> {
  try {
    await handOver(connection, { op: "wake" }, { chunks }); // unless it has them still, or forgot the name
  } catch (error) {
    warn(`"${visibleText(name)}" no longer outlives this program: ${(error as Error).message}`);
  }
}
