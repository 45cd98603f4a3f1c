// Memory that graphs allocate: its address is known at the capture, a launch takes it from the
// device, and it stays taken until it is idle and trimmed.

import { roundUp } from "../../alignment.ts";
import { refuse } from "../errors.ts";
import type { Ranged } from "./address_map.ts";
import { type Absence, Allocation, type Asker, FREED } from "./allocation.ts";
import type { Capture } from "./capture.ts";
import type { Context } from "./context.ts";
import type { Device } from "./device.ts";
import { DeviceStorage } from "./device_storage.ts";
import { happensBefore, type Moment } from "./happens_before.ts";
import type { MemoryPool } from "./memory_pool.ts";
import type { Operation, Stream } from "./stream.ts";

/** Memory whose graph was not launched yet. */
export const NOT_LAUNCHED: Absence = {
  rule: "notLaunched",
  words: "is not there, its graph was not launched",
};

/** Physical memory for graphs moves in steps of this. */
const GRANULE_BYTES = 32 << 20;

/** A block that a graph allocates, at the same address in every launch. */
export class GraphAllocation extends Allocation {
  /** Capture that recorded the allocation. */
  readonly capture: Capture;
  /** Memory that the launches of its graph hold on its device. */
  readonly reserve: GraphReserve;
  /** A launch has allocated it: then any call may use and free it. */
  isThere = false;
  #bytes: DeviceStorage;
  #openTo: ReadonlySet<number>;
  #isFreedInGraph = false;
  #wasLaunched = false;
  #isOpen = false;

  constructor(
    place: Ranged,
    options:
      & Pick<GraphAllocation, "capture" | "reserve" | "context" | "id">
      & { readonly pool: MemoryPool },
  ) {
    const storage = new DeviceStorage(place.byteLength);
    super(place, { ...options, kind: "graph", storage });
    this.capture = options.capture;
    this.reserve = options.reserve;
    this.#bytes = storage;
    this.#openTo = options.pool.openTo;
  }

  override absence(asker: Asker): Absence | undefined {
    if (asker === "kernel" ? this.#isOpen : this.isThere || this.#isInCapture) return undefined;
    if (asker === "free" && this.isLeft) return undefined;
    if (this.#isFreedInGraph) return { ...FREED, words: "was freed in its graph" };
    return this.#wasLaunched ? FREED : NOT_LAUNCHED;
  }

  /** Tells whether the capture has ended and its graph leaves the block to others, now or once launched. */
  get isLeft(): boolean {
    return !this.capture.isOpen && !this.#isFreedInGraph;
  }

  /** Tells whether the block is freed for good once its graph is destroyed, and nothing queued needs it. */
  get isPast(): boolean {
    return (this.#isFreedInGraph || this.#wasLaunched) && this.reserve.isIdle;
  }

  /** Tells whether a context may touch the bytes, by the rights that the pool had at the allocation. */
  override permits(context: Context): boolean {
    return this.#openTo.has(context.device.ordinal);
  }

  /** Notes a launch: memory that the graph does not free can be used by all later calls. */
  launch(): void {
    this.#wasLaunched = true;
    this.isThere = !this.#isFreedInGraph;
  }

  /** Notes that the graph frees the block, so that later ones of it can take its place. */
  freeInGraph(moment: Moment): void {
    this.#isFreedInGraph = true;
    this.reserve.vacate(this, moment);
  }

  /** Lets kernels use the bytes, which are unwritten. */
  open(): void {
    this.#bytes.clear();
    this.#isOpen = true;
  }

  /** Ends the use that `open()` began. */
  close(): void {
    this.#bytes.clear();
    this.#isOpen = false;
  }

  override giveBack(): void {
    this.isThere = false;
    this.close();
  }

  get #isInCapture(): boolean {
    return this.capture.isValid && !this.#isFreedInGraph;
  }
}

/** The memory that the launches of one graph need on one device. */
export class GraphReserve {
  readonly allocations: GraphAllocation[] = [];
  readonly memory: GraphMemory;
  #pending: Operation[] = [];
  #places: Place[] = [];

  constructor(memory: GraphMemory) {
    this.memory = memory;
  }

  /** Returns the physical memory that a launch needs. */
  get byteLength(): number {
    const sum = this.#places.reduce((bytes, { byteLength }) => bytes + byteLength, 0);
    return roundUp(sum, GRANULE_BYTES);
  }

  /** Returns whether a launch has left a block, which is not freed. */
  get isInUse(): boolean {
    return this.allocations.some(({ isThere }) => isThere);
  }

  /** Returns whether nothing that is queued or there needs the memory. */
  get isIdle(): boolean {
    return this.#pending.every(({ isDone }) => isDone) && !this.isInUse;
  }

  /** Returns whether no launch on a stream can meet one that needs the memory. */
  isFreeFor(stream: Stream): boolean {
    const { latest } = stream.timeline;
    return !this.isInUse &&
      this.#pending.every(({ isDone, moment }) => isDone || happensBefore(moment, latest));
  }

  /** Adds a block, in the place of one that the graph has freed before where that is large enough. */
  place(allocation: GraphAllocation, moment: Moment): void {
    this.allocations.push(allocation);
    const left = this.#places.find(({ byteLength, vacated }) =>
      byteLength >= allocation.byteLength && vacated !== undefined && happensBefore(vacated, moment)
    );
    const place = left ?? { byteLength: allocation.byteLength, holder: allocation };
    place.holder = allocation;
    place.vacated = undefined;
    if (left === undefined) this.#places.push(place);
  }

  /** Notes where in its recording the graph frees a block. */
  vacate(allocation: GraphAllocation, moment: Moment): void {
    const place = this.#places.find(({ holder }) => holder === allocation);
    if (place !== undefined) place.vacated = moment;
  }

  /** Notes an operation that needs the memory. */
  needFor(operation: Operation): void {
    this.#pending = [...this.#pending.filter(({ isDone }) => !isDone), operation];
  }
}

/** Addresses of one block of a graph after another. */
interface Place {
  readonly byteLength: number;
  holder: GraphAllocation;
  /** Place in the recording from which on nobody holds it. */
  vacated?: Moment | undefined;
}

/** Physical memory that graphs share of which only one runs at a time. */
interface Share {
  byteLength: number;
  /** Graphs that may still need it. */
  readonly reserves: Set<GraphReserve>;
}

/** The memory that all graphs hold on one device, and its counters. */
export class GraphMemory {
  readonly device: Device;
  /** Highest number of bytes that were held since the mark was set back: used, and reserved. */
  readonly highBytes: { used: number; reserved: number } = { used: 0, reserved: 0 };
  #shares = new Set<Share>();
  #reserves = new WeakMap<Capture, GraphReserve>();

  constructor(device: Device) {
    this.device = device;
  }

  /** Returns what the graph of a capture needs here. */
  reserveFor(capture: Capture): GraphReserve {
    return this.#reserves.getOrInsertComputed(capture, () => new GraphReserve(this));
  }

  get heldBytes(): number {
    return [...this.#shares].reduce((bytes, { byteLength }) => bytes + byteLength, 0);
  }

  /** Throws when the device has too little memory for a launch, even after freeing idle memory. */
  requireRoom(reserve: GraphReserve, stream: Stream): void {
    if (!this.device.hasRoom(this.#missingBytes(reserve, stream))) this.trim();
    if (this.device.hasRoom(this.#missingBytes(reserve, stream))) return;
    refuse("CUDA_ERROR_OUT_OF_MEMORY");
  }

  /** Takes memory for a launch, from what other graphs leave or from the device. */
  hold(reserve: GraphReserve, stream: Stream): void {
    const missingBytes = this.#missingBytes(reserve, stream);
    const share = this.#shareFor(reserve, stream) ?? { byteLength: 0, reserves: new Set() };
    this.device.charge(missingBytes);
    share.byteLength += missingBytes;
    for (const other of share.reserves) if (other.isIdle) share.reserves.delete(other);
    share.reserves.add(reserve);
    this.#shares.add(share);
    const { highBytes, heldBytes } = this;
    highBytes.used = Math.max(highBytes.used, heldBytes);
    highBytes.reserved = Math.max(highBytes.reserved, heldBytes);
  }

  /** Releases idle memory. */
  trim(): void {
    for (const share of this.#shares) {
      if (![...share.reserves].every(({ isIdle }) => isIdle)) continue;
      this.#shares.delete(share);
      this.device.discharge(share.byteLength);
    }
  }

  #missingBytes(reserve: GraphReserve, stream: Stream): number {
    const held = this.#shareFor(reserve, stream)?.byteLength ?? 0;
    return Math.max(reserve.byteLength - held, 0);
  }

  /** Finds memory whose graphs come before a launch on a stream and have left no block in it. */
  #shareFor(reserve: GraphReserve, stream: Stream): Share | undefined {
    return [...this.#shares].find(({ reserves }) =>
      [...reserves].every((other) => other === reserve || other.isFreeFor(stream))
    );
  }
}
