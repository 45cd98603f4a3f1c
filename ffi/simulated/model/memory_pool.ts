// Stream-ordered memory: a pool takes physical memory, hands out parts, and keeps what is freed
// until the host next waits, or longer when its release threshold says so.

import { roundUp } from "../../alignment.ts";
import { refuse } from "../errors.ts";
import { type Device, GRANULARITY_BYTES } from "./device.ts";
import type { SharedBytes } from "./shared_bytes.ts";
import type { Operation } from "./stream.ts";

/** A pool takes memory in steps of this, or of the device's own step when there is less left. */
const STEP_BYTES = 32 << 20;

/** Kind of memory that a pool hands out. */
export type PoolKind = "device" | "host" | "managed";

/** A free that is queued and not done: its bytes can be reused behind it. */
export interface PendingFree {
  /** Bytes that become free. */
  readonly byteLength: number;
  /** The queued free; undefined only while it is being queued. */
  operation: Operation | undefined;
}

/** Holds a pool's memory and its counters. */
export class MemoryPool {
  /** Device that the memory is on; the machine's host for all memory that the host can touch. */
  readonly device: Device;
  readonly handle: bigint;
  readonly kind: PoolKind;
  /** Where managed memory should live, by the driver's number. */
  readonly preferredLocation: number;
  /** Most bytes that the pool may reserve. */
  readonly maxBytes: number;
  /** Bytes that stay reserved when nothing uses them. */
  releaseThresholdBytes = 0;
  /** Highest number of bytes that were reserved. */
  reservedHighBytes = 0;
  /** Highest number of bytes that were used. */
  usedHighBytes = 0;
  /** The three reuse switches, by attribute number. */
  readonly reuse: Map<number, number> = new Map([[1, 1], [2, 1], [3, 1]]);
  /** Whether `cuMemPoolDestroy` was called: memory then goes back as soon as it is free. */
  isDestroyed = false;
  /** Kinds of handles by which other processes can open it. */
  readonly handleTypes: number;
  /** The file that other processes open; made when that is first asked for. */
  shared: SharedBytes | undefined;
  /** Number of the pool in the process that has it; undefined for a pool of this process. */
  readonly importedId: string | undefined;
  #reservedBytes = 0;
  #usedBytes = 0;
  #pendingBytes = 0;
  #lostBytes = 0;
  #pending = new Set<PendingFree>();
  #access = new Map<number, number>();

  /** Makes an empty pool, of device memory unless told; a maximum of 0 means no limit. */
  constructor(
    device: Device,
    handle: bigint,
    options: {
      kind?: PoolKind;
      maxBytes?: number;
      preferredLocation?: number;
      handleTypes?: number;
      importedId?: string;
    } = {},
  ) {
    const { kind = "device", maxBytes = 0, preferredLocation = device.ordinal } = options;
    this.device = device;
    this.handle = handle;
    this.kind = kind;
    this.maxBytes = maxBytes === 0 ? Infinity : maxBytes;
    this.preferredLocation = preferredLocation;
    this.handleTypes = options.handleTypes ?? 0;
    this.importedId = options.importedId;
  }

  get isImported(): boolean {
    return this.importedId !== undefined;
  }

  /** Counts memory of another process, which takes nothing from the device here. */
  adopt(byteLength: number): void {
    this.#usedBytes += byteLength;
  }

  /** Returns the bytes that the pool holds. */
  get reservedBytes(): number {
    return this.#reservedBytes;
  }

  /** Returns the bytes that are allocated. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Returns the bytes that are allocated and whose free is not queued. */
  get heldBytes(): number {
    return this.#usedBytes - this.#pendingBytes;
  }

  /** Returns the bytes that count as used; the driver forgets to take off what is freed at once. */
  get countedBytes(): number {
    return this.#usedBytes + this.#lostBytes;
  }

  /** Takes bytes; returns the queued frees that the new block reuses and must wait for. */
  take(byteLength: number): Operation[] {
    const leastBytes = this.#usedBytes + byteLength - this.#pendingBytes;
    if (!this.#fits(leastBytes)) {
      refuse("CUDA_ERROR_OUT_OF_MEMORY");
    }
    const reused = this.#reserve(this.#usedBytes + byteLength);
    this.#usedBytes += byteLength;
    this.usedHighBytes = Math.max(this.usedHighBytes, this.countedBytes);
    return reused;
  }

  /** Notes a free that is being queued. */
  expect(byteLength: number): PendingFree {
    const pending: PendingFree = { byteLength, operation: undefined };
    this.#pending.add(pending);
    this.#pendingBytes += byteLength;
    return pending;
  }

  /** Does a free whose turn has come, unless its bytes were already reused. */
  settle(pending: PendingFree): void {
    if (!this.#pending.delete(pending)) return;
    this.#pendingBytes -= pending.byteLength;
    this.#usedBytes -= pending.byteLength;
    if (this.isDestroyed) this.trim(0);
  }

  /** Frees bytes without a stream, and releases what is unused then. */
  giveBack(byteLength: number): void {
    this.#usedBytes -= byteLength;
    this.#lostBytes += byteLength;
    this.trim(this.releaseThresholdBytes);
  }

  /** Releases unused memory to the device, down to a number of bytes. */
  trim(keepBytes: number): void {
    const kept = roundUp(Math.max(this.#usedBytes, keepBytes), STEP_BYTES);
    if (kept >= this.#reservedBytes) return;
    this.device.discharge(this.#reservedBytes - kept);
    this.#reservedBytes = kept;
  }

  /** Returns the access rights of a device; where the memory is, all rights are there from the start. */
  accessOf(ordinal: number): number {
    const isHome = this.kind !== "managed" && ordinal === this.device.ordinal;
    return isHome ? 3 : this.#access.get(ordinal) ?? 0;
  }

  /** Returns the devices that may touch the memory now, by number. */
  get openTo(): ReadonlySet<number> {
    const others = this.#access.keys().filter((ordinal) => this.accessOf(ordinal) !== 0);
    return new Set([this.device.ordinal, ...others]);
  }

  /** Changes the access rights of another device. */
  setAccess(ordinal: number, flags: number): void {
    this.#access.set(ordinal, flags);
  }

  /** Returns the number of bytes to reserve for a number of used bytes. */
  #needed(usedBytes: number): number {
    const needed = roundUp(usedBytes, STEP_BYTES);
    const isThere = needed - this.#reservedBytes <= this.device.freeBytes;
    return isThere ? needed : roundUp(usedBytes, GRANULARITY_BYTES);
  }

  #fits(usedBytes: number): boolean {
    const needed = this.#needed(usedBytes);
    return needed - this.#reservedBytes <= this.device.freeBytes &&
      needed <= roundUp(this.maxBytes, STEP_BYTES);
  }

  /** Makes room for a number of used bytes, from the device or from frees that are still queued. */
  #reserve(usedBytes: number): Operation[] {
    if (this.#fits(usedBytes)) {
      const missing = Math.max(this.#needed(usedBytes) - this.#reservedBytes, 0);
      this.device.charge(missing);
      this.#reservedBytes += missing;
      this.reservedHighBytes = Math.max(this.reservedHighBytes, this.#reservedBytes);
      return [];
    }
    const [oldest] = this.#pending;
    if (oldest === undefined) return refuse("CUDA_ERROR_OUT_OF_MEMORY");
    this.settle(oldest);
    const reused = oldest.operation === undefined ? [] : [oldest.operation];
    return [...reused, ...this.#reserve(usedBytes - oldest.byteLength)];
  }
}
