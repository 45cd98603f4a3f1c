// The simulated machine: its devices, contexts, memory and queues, and the handles that name them.
// Every group of driver calls works on one machine; two machines share nothing.

import { CU_DEVICE_CPU } from "../../constants.ts";
import { CallSite, refuse } from "../errors.ts";
import type { SimulationSettings } from "../options.ts";
import { AddressSpace } from "./address_space.ts";
import type { Allocation } from "./allocation.ts";
import { Context, ContextStack } from "./context.ts";
import { Device, type OutsideBytes } from "./device.ts";
import { describedMemory } from "./shared_bytes.ts";
import { GraphMemory } from "./graph_memory.ts";
import { HostWaits, type Moment, precedes } from "./happens_before.ts";
import { MemoryPool } from "./memory_pool.ts";
import { OpenCaptures } from "./capture.ts";
import type { PhysicalMemory } from "./reservation.ts";
import { Scheduler } from "./scheduler.ts";
import { Stream, StreamGroup } from "./stream.ts";

/** Handles start here: far from addresses, and from the small numbers that name default streams. */
const FIRST_HANDLE = 0x5000_0000n;
const HANDLE_STEP = 0x10n;

/**
 * To ask the system what others hold takes some milliseconds, on a busy machine hundreds. So its answer
 * serves for a while, and for a multiple of the time that it took.
 */
const MIN_OUTSIDE_MILLISECONDS = 100;
const MIN_OUTSIDE_COSTS = 50;

/** Holds everything that a simulated driver knows. */
export class Machine {
  readonly settings: SimulationSettings;
  /** Number that no other machine has, in this process or another. */
  readonly id: string = crypto.getRandomValues(new Uint8Array(16)).toHex();
  readonly site: CallSite = new CallSite();
  /** `cuInit` was called. */
  isInitialized = false;
  /** Physical memory that goes by descriptors, by its number; a handle or a mapping keeps it. */
  readonly described: Map<string, PhysicalMemory> = new Map();
  readonly devices: readonly Device[];
  /** The host's memory, as the home of a pool. */
  readonly host: Device = new Device(CU_DEVICE_CPU, 2 ** 40);
  readonly memory: AddressSpace;
  readonly scheduler: Scheduler;
  readonly waits: HostWaits = new HostWaits();
  readonly captures: OpenCaptures = new OpenCaptures();
  readonly contexts: ContextStack = new ContextStack();
  readonly defaultPools: readonly MemoryPool[];
  /** All pools, and destroyed ones while their memory is in use. */
  readonly pools: Set<MemoryPool>;
  #graphMemory: Map<Device, GraphMemory>;
  #primaries = new Map<Device, Context>();
  #streams = new Map<Context, StreamGroup>();
  #handles = new Map<bigint, { item: object; owner: Context | undefined }>();
  #nextHandle = FIRST_HANDLE;
  #nextId = 1;

  constructor(settings: SimulationSettings) {
    this.settings = settings;
    this.devices = Array.from(
      { length: settings.devices },
      (_, ordinal) => new Device(ordinal, settings.memoryBytes, this.#outside(ordinal)),
    );
    this.memory = new AddressSpace(this.site, this.devices);
    this.scheduler = new Scheduler(this.site, this.captures);
    this.defaultPools = this.devices.map((device) =>
      this.register((handle) => new MemoryPool(device, handle))
    );
    this.#graphMemory = new Map(this.devices.map((device) => [device, new GraphMemory(device)]));
    this.pools = new Set(this.defaultPools);
  }

  /** Makes an object that callers hold by handle, and that goes with its owner when there is one. */
  register<T extends object>(make: (handle: bigint) => T, owner?: Context): T {
    const handle = this.#nextHandle;
    this.#nextHandle += HANDLE_STEP;
    const item = make(handle);
    this.#handles.set(handle, { item, owner });
    return item;
  }

  /** Returns the object of a class that a handle names; throws when there is none. */
  find<T extends object>(
    type: abstract new (...values: never[]) => T,
    handle: bigint,
    status: Parameters<typeof refuse>[0] = "CUDA_ERROR_INVALID_HANDLE",
  ): T {
    const found = this.#handles.get(handle)?.item;
    return found instanceof type ? found : refuse(status);
  }

  forget(handle: bigint): void {
    this.#handles.delete(handle);
  }

  device(ordinal: number): Device {
    return this.devices[ordinal] ?? refuse("CUDA_ERROR_INVALID_DEVICE");
  }

  /** Returns the memory that graphs hold on a device; throws when there is none. */
  graphMemory(device: Device): GraphMemory {
    return this.#graphMemory.get(device) ?? refuse("CUDA_ERROR_INVALID_DEVICE");
  }

  /** Returns a context, also one that its last user has released; throws when there is none. */
  anyContext(handle: bigint): Context {
    return this.find(Context, handle, "CUDA_ERROR_INVALID_CONTEXT");
  }

  /** Returns a living context; throws when there is none. */
  context(handle: bigint): Context {
    const context = this.anyContext(handle);
    return context.isDestroyed ? refuse("CUDA_ERROR_INVALID_CONTEXT") : context;
  }

  streamsOf(context: Context): StreamGroup {
    return this.#streams.getOrInsertComputed(context, () => new StreamGroup(context));
  }

  /** Finds a stream; one that was made names its own context, whichever is current. */
  stream(handle: bigint): Stream {
    if (handle === 0n || handle === 1n) return this.streamsOf(this.contexts.current).legacy;
    if (handle === 2n) return this.streamsOf(this.contexts.current).thread;
    return this.find(Stream, handle);
  }

  /** Returns a stream for new work; rejects first what its captures forbid. */
  workStream(handle: bigint): Stream {
    const stream = this.stream(handle);
    this.captures.of(stream)?.requireValid();
    this.captures.requireNoneBefore(stream);
    return stream;
  }

  /** Returns a stream for a call that cannot be recorded; invalidates a capture that it meets. */
  plainStream(handle: bigint): Stream {
    const stream = this.stream(handle);
    this.captures.requireUncaptured(stream);
    this.captures.requireNoneBefore(stream);
    return stream;
  }

  /** Rejects a call that a capture forbids to its thread, and invalidates the capture. */
  requireRelaxed(): void {
    if (this.captures.disturb("capturing")) refuse("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
  }

  /** Returns a number that no other block of memory has. */
  nextId(): number {
    return this.#nextId++;
  }

  /** Adds a user of a device's primary context, which is made for the first user. */
  retain(device: Device): Context {
    const make = () => this.register((handle) => new Context(device, handle, this.waits));
    const context = this.#primaries.getOrInsertComputed(device, make);
    context.userCount++;
    return context;
  }

  /** Removes a user of a device's primary context; the last one empties it, and its handle stays. */
  release(device: Device): void {
    const context = this.#primaries.get(device);
    if (context === undefined || context.isDestroyed) return refuse("CUDA_ERROR_INVALID_CONTEXT");
    if (context.userCount > 1) context.userCount--;
    else this.synchronizeBefore(context, () => this.#destroy(context));
  }

  /** Runs all work of a context, as a host that waits for it; throws the first mistake when all is run. */
  synchronize(context: Context): void {
    const mistakes: unknown[] = [];
    for (const stream of [...this.streamsOf(context)]) {
      for (let left = Infinity; this.scheduler.queuedCount < left;) {
        left = this.scheduler.queuedCount;
        try {
          this.scheduler.drain(stream);
          break;
        } catch (error) {
          mistakes.push(error);
        }
      }
    }
    this.noticeFrees(context);
    if (mistakes.length > 0) throw mistakes[0];
  }

  /** Waits for a context's work before something of it goes, which goes also when the work has a mistake. */
  synchronizeBefore(context: Context, goes: () => void): void {
    try {
      this.synchronize(context);
    } finally {
      goes();
    }
  }

  /**
   * Acts as the driver after a wait of the host for a moment, or for all of a context: pools notice
   * the frees before it and release idle memory, and drained streams go.
   */
  noticeFrees(context: Context, moment?: Moment): void {
    for (const pool of this.pools) {
      if (pool.device !== context.device && !pool.device.isHost) continue;
      pool.notice((free) =>
        moment === undefined ? free.stream.context === context : precedes(free.moment, moment)
      );
    }
    const streams = this.streamsOf(context);
    for (const stream of streams) {
      if (stream.handle > 2n && stream.head === undefined && !this.#handles.has(stream.handle)) {
        streams.delete(stream);
      }
    }
  }

  free(allocation: Allocation): void {
    // The next launch of its graph allocates graph memory again, at the same address.
    if (allocation.kind !== "graph") this.memory.remove(allocation);
    allocation.giveBack();
  }

  /** Counts the bytes of a device that others hold by descriptors, if the machine has a name. */
  #outside(ordinal: number): OutsideBytes | undefined {
    const { machine } = this.settings;
    if (machine === "") return undefined;
    let last = { byteLength: 0, until: -Infinity };
    const now = () => {
      const start = performance.now();
      const byteLength = describedMemory(machine, ordinal)
        .reduce((sum, { id, byteLength }) => this.described.has(id) ? sum : sum + byteLength, 0);
      const end = performance.now();
      const wait = Math.max(MIN_OUTSIDE_MILLISECONDS, MIN_OUTSIDE_COSTS * (end - start));
      last = { byteLength, until: end + wait };
      return byteLength;
    };
    return { now, lately: () => performance.now() > last.until ? now() : last.byteLength };
  }

  #destroy(context: Context): void {
    for (const allocation of [...this.memory.allocations()]) {
      if (allocation.context !== context) continue;
      this.free(allocation);
      this.memory.remove(allocation);
    }
    for (const [handle, { owner }] of this.#handles) if (owner === context) this.forget(handle);
    this.graphMemory(context.device).trim();
    this.noticeFrees(context);
    context.userCount = 0;
    context.peers.clear();
    this.streamsOf(context).clear();
    for (const other of this.#primaries.values()) other.peers.delete(context);
  }
}
