// Stream-ordered memory: a pool takes physical memory, hands out parts, and keeps what is freed
// until the host waits for something behind the free, or longer when its release threshold says so.
// Queries tell a pool nothing: memory whose free is done by then can only be handed out again.

import { roundUp } from "../../alignment.ts";
import { refuse } from "../errors.ts";
import { type Device, GRANULARITY_BYTES } from "./device.ts";
import type { SharedBytes } from "./shared_bytes.ts";
import type { Operation, Stream } from "./stream.ts";

/** A pool takes memory in steps of this, or of the device's own step when there is less left. */
const STEP_BYTES = 32 << 20;

export type PoolKind = "device" | "host" | "managed";

type PoolOptions = Partial<
  Pick<MemoryPool, "kind" | "maxBytes" | "preferredLocation" | "handleTypes" | "importedId">
>;

/** A queued free, until a wait of the host tells its pool that it is done. */
interface UnnoticedFree {
  /** Bytes of it that the pool has not handed out again. */
  byteLength: number;
  readonly operation: Operation;
}

export class MemoryPool {
  /** Device that the memory is on; the machine's host for all memory that the host can touch. */
  readonly device: Device;
  readonly handle: bigint;
  readonly kind: PoolKind;
  /** Best place for managed memory, by the driver's number. */
  readonly preferredLocation: number;
  readonly maxBytes: number;
  reservedBytes = 0;
  /** Bytes that are allocated and whose free is not queued. */
  usedBytes = 0;
  /** Bytes that stay reserved when nothing uses them. */
  releaseThresholdBytes = 0;
  reservedHighBytes = 0;
  usedHighBytes = 0;
  /** The three reuse switches, by attribute number. */
  readonly reuse: Map<number, number> = new Map([[1, 1], [2, 1], [3, 1]]);
  /** Kinds of handles by which other processes can open it. */
  readonly handleTypes: number;
  /** The file that other processes open; made when that is first asked for. */
  shared: SharedBytes | undefined;
  /** Rights of devices to memory that is elsewhere, by number. */
  readonly access: Map<number, number> = new Map();
  /** Number of the pool in the process that has it; undefined for a pool of this process. */
  readonly importedId: string | undefined;
  #lostBytes = 0;
  #freedBytes = 0;
  #frees = new Set<UnnoticedFree>();

  /** Makes an empty pool, of device memory unless told; a maximum of 0 means no limit. */
  constructor(device: Device, handle: bigint, options: PoolOptions = {}) {
    this.device = device;
    this.handle = handle;
    this.kind = options.kind ?? "device";
    this.maxBytes = options.maxBytes || Infinity;
    this.preferredLocation = options.preferredLocation ?? device.ordinal;
    this.handleTypes = options.handleTypes ?? 0;
    this.importedId = options.importedId;
  }

  get isImported(): boolean {
    return this.importedId !== undefined;
  }

  /** Returns the bytes that count as used; the driver forgets to take off what is freed at once. */
  get countedBytes(): number {
    return this.usedBytes + this.#lostBytes;
  }

  /** Returns the bytes whose free is queued and not done. */
  get expectedBytes(): number {
    const expected = this.#frees.values().filter(({ operation }) => !operation.isDone);
    return expected.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Takes bytes for a stream; returns the queued frees that the new block reuses and must wait for. */
  take(byteLength: number, stream: Stream): Operation[] {
    const usedBytes = this.usedBytes + byteLength;
    if (!this.#fits(usedBytes)) refuse("CUDA_ERROR_OUT_OF_MEMORY");
    this.#reuse(usedBytes, ({ operation }) => operation.stream === stream || operation.isDone);
    const isGrown = this.#fits(usedBytes + this.#freedBytes);
    const reused = isGrown ? [] : this.#reuse(usedBytes, () => true);
    this.#grow(usedBytes + this.#freedBytes);
    this.usedBytes = usedBytes;
    this.usedHighBytes = Math.max(this.usedHighBytes, this.countedBytes);
    return reused;
  }

  /** Notes a free that is queued. */
  expect(byteLength: number, operation: Operation): void {
    this.#frees.add({ byteLength, operation });
    this.#freedBytes += byteLength;
    this.usedBytes -= byteLength;
  }

  /** Learns which frees are done, among those that the host has waited for, and releases what is unused. */
  notice(isWaitedFor: (free: Operation) => boolean): void {
    for (const free of this.#frees) {
      const { operation, byteLength } = free;
      if (operation.isDone && isWaitedFor(operation)) this.#forget(free, byteLength);
    }
    this.trim(this.releaseThresholdBytes);
  }

  /** Frees bytes without a stream, and releases what is unused then. */
  giveBack(byteLength: number): void {
    this.usedBytes -= byteLength;
    this.#lostBytes += byteLength;
    this.trim(this.releaseThresholdBytes);
  }

  /** Releases unused memory to the device, down to a number of bytes. */
  trim(keepBytes: number): void {
    const kept = roundUp(Math.max(this.usedBytes + this.#freedBytes, keepBytes), STEP_BYTES);
    if (kept >= this.reservedBytes) return;
    this.device.discharge(this.reservedBytes - kept);
    this.reservedBytes = kept;
  }

  /** Returns the access rights of a device; where the memory is, all rights are there from the start. */
  accessOf(ordinal: number): number {
    const isHome = this.kind !== "managed" && ordinal === this.device.ordinal;
    return isHome ? 3 : this.access.get(ordinal) ?? 0;
  }

  /** Returns the devices that may touch the memory now, by number. */
  get openTo(): ReadonlySet<number> {
    const others = this.access.keys().filter((ordinal) => this.accessOf(ordinal) !== 0);
    return new Set([this.device.ordinal, ...others]);
  }

  /** Returns the number of bytes to reserve for a number of used bytes. */
  #needed(usedBytes: number): number {
    const needed = roundUp(usedBytes, STEP_BYTES);
    const isThere = this.device.hasRoom(needed - this.reservedBytes);
    return isThere ? needed : roundUp(usedBytes, GRANULARITY_BYTES);
  }

  #fits(usedBytes: number): boolean {
    const needed = this.#needed(usedBytes);
    return this.device.hasRoom(needed - this.reservedBytes) &&
      needed <= roundUp(this.maxBytes, STEP_BYTES);
  }

  /**
   * Hands out freed memory again, until a number of used bytes fits into what is reserved; returns the
   * frees that are not done.
   */
  #reuse(usedBytes: number, isReusable: (free: UnnoticedFree) => boolean): Operation[] {
    const reused: Operation[] = [];
    for (const free of this.#frees) {
      const missing = usedBytes + this.#freedBytes - this.reservedBytes;
      if (missing <= 0) break;
      if (!isReusable(free)) continue;
      if (!free.operation.isDone) reused.push(free.operation);
      this.#forget(free, Math.min(missing, free.byteLength));
    }
    return reused;
  }

  #forget(free: UnnoticedFree, byteLength: number): void {
    free.byteLength -= byteLength;
    this.#freedBytes -= byteLength;
    if (free.byteLength === 0) this.#frees.delete(free);
  }

  /** Takes memory from the device until a number of bytes is reserved. */
  #grow(byteLength: number): void {
    const missing = Math.max(this.#needed(byteLength) - this.reservedBytes, 0);
    this.device.charge(missing);
    this.reservedBytes += missing;
    this.reservedHighBytes = Math.max(this.reservedHighBytes, this.reservedBytes);
  }
}
