// Addresses that are reserved once; memory behind them is mapped and unmapped as needed, in equal
// steps from the start, so that the end of the mapped part describes the whole state.

import { roundUp } from "../../ffi/alignment.ts";
import type { Context } from "../driver/context.ts";
import { formatBytes } from "../words/format.ts";
import { describeAccess, type DeviceAccess } from "./device_access.ts";
import {
  canBeShared,
  exportMemory,
  freeAddresses,
  giveAccess,
  granularityOf,
  importMemory,
  mapMemory,
  type NamedRange,
  reserveAddresses,
  unmapMemory,
} from "./virtual_memory.ts";

/** The size of a range, and of the steps in which it gets memory. */
export interface VirtualRangeRequest {
  /** Bytes of addresses, rounded up to steps; they cost no memory. */
  readonly reservedBytes: number;
  /** Bytes of one step, rounded up to the least that the device maps, which is the default. */
  readonly stepBytes?: number | undefined;
}

/** Reserved addresses of one device, mapped from the start up to `mappedBytes`. */
export class VirtualRange {
  readonly context: Context;
  /** The first address, which never changes. */
  readonly address: bigint;
  /** Bytes of addresses. */
  readonly reservedBytes: number;
  readonly stepBytes: number;
  /** The devices that may use the memory, including memory that is mapped later. */
  readonly #access = new Map<Context, DeviceAccess>();
  #mappedBytes = 0;
  /** Bytes that the devices may use: fewer than are mapped if an unmapping failed. */
  #openBytes = 0;
  /** The number of sleepers that no new block may join: their copies are in no block's order. */
  sleeperCount = 0;
  #isSuspended = false;
  #isFreed = false;

  /** @ignore Reserves addresses without memory behind them (cuMemAddressReserve). */
  constructor(context: Context, request: VirtualRangeRequest) {
    const granularity = granularityOf(context);
    this.context = context;
    this.stepBytes = roundUp(Math.max(1, request.stepBytes ?? 1), granularity);
    this.reservedBytes = roundUp(Math.max(1, request.reservedBytes), this.stepBytes);
    this.address = reserveAddresses(context, this.reservedBytes);
    this.#access.set(context, "readwrite");
  }

  /**
   * Reserves addresses and maps memory behind all of them at once: new memory, or that of a descriptor of
   * another process.
   */
  static whole(context: Context, byteLength: number, descriptor?: number): VirtualRange {
    const range = new VirtualRange(context, { reservedBytes: byteLength, stepBytes: byteLength });
    try {
      range.mapTo(range.reservedBytes, descriptor);
      return range;
    } catch (error) {
      range.free();
      throw error;
    }
  }

  /** Bytes that have memory behind them. */
  get mappedBytes(): number {
    return this.#mappedBytes;
  }

  /** Rounds a size up to whole steps. */
  stepsFor(byteLength: number): number {
    return roundUp(byteLength, this.stepBytes);
  }

  /**
   * Maps memory for at least the first `byteLength` bytes (cuMemCreate, cuMemMap, cuMemSetAccess); a
   * failure changes nothing. With a descriptor, the one step is memory of another process.
   *
   * @throws RangeError when that is more than the reserved addresses.
   */
  mapTo(byteLength: number, descriptor?: number): void {
    if (byteLength > this.reservedBytes) {
      throw new RangeError(
        `Cannot grow to ${formatBytes(byteLength)}: ${formatBytes(this.reservedBytes)} of ` +
          `addresses were reserved; reserve more when making the buffer`,
      );
    }
    const formerBytes = this.#openBytes;
    const target = this.stepsFor(byteLength);
    if (target <= formerBytes) return;
    try {
      while (this.#mappedBytes < target) this.#mapStep(descriptor);
      const added = this.#rangeAt(formerBytes, target - formerBytes);
      giveAccess(this.context, added, this.#access);
      this.#openBytes = target;
    } catch (error) {
      this.unmapTo(formerBytes);
      throw error;
    }
  }

  /**
   * Unmaps all whole steps after the first `byteLength` bytes (cuMemUnmap). A failure is reported
   * and never thrown: that step stays mapped, and so do those before it.
   */
  unmapTo(byteLength: number): void {
    const target = this.stepsFor(byteLength);
    while (this.#mappedBytes > target) {
      if (!this.#isSuspended && !this.#unmapStep(this.#mappedBytes - this.stepBytes)) return;
      this.#mappedBytes -= this.stepBytes;
      this.#openBytes = Math.min(this.#openBytes, this.#mappedBytes);
    }
  }

  get isFreed(): boolean {
    return this.#isFreed;
  }

  /** Gives the memory back and keeps addresses and sizes; reports a failure and returns whether it did. */
  suspend(): boolean {
    if (this.#isSuspended || this.#mappedBytes === 0) return true;
    const { context, mappedBytes } = this;
    this.#isSuspended = unmapMemory(context, this.#rangeAt(0, mappedBytes));
    return this.#isSuspended;
  }

  /** Maps new memory where there was some before. A failure changes nothing. */
  resume(): void {
    if (!this.#isSuspended) return;
    const mappedBytes = this.#mappedBytes;
    this.#isSuspended = false;
    this.#mappedBytes = 0;
    this.#openBytes = 0;
    try {
      if (mappedBytes > 0) this.mapTo(mappedBytes);
    } catch (error) {
      this.#isSuspended = true;
      this.#mappedBytes = mappedBytes;
      this.#openBytes = mappedBytes;
      throw error;
    }
  }

  /** Returns a descriptor that keeps the memory of the first step, for the caller to close. */
  export(): number {
    return exportMemory(this.context, this.#rangeAt(0, this.stepBytes));
  }

  /** Gives a device access, also to memory that is mapped later, or ends it (cuMemSetAccess). */
  setAccess(device: Context, access: DeviceAccess): void {
    const entry = describeAccess(device, access);
    if (this.#mappedBytes > 0 && !this.#isSuspended) {
      this.context.call("cuMemSetAccess", this.address, BigInt(this.#mappedBytes), entry, 1n);
    }
    if (access === "none") this.#access.delete(device);
    else this.#access.set(device, access);
  }

  /**
   * Frees all memory and the addresses (cuMemUnmap, cuMemAddressFree). A failure is reported and
   * never thrown: the step that it names stays, and so do the addresses.
   */
  free(): void {
    this.#isFreed = true;
    const { address, reservedBytes, context, stepBytes } = this;
    let isEmpty = true;
    const mappedBytes = this.#isSuspended ? 0 : this.#mappedBytes;
    for (let start = 0; start < mappedBytes; start += stepBytes) {
      isEmpty = this.#unmapStep(start) && isEmpty;
    }
    if (!isEmpty) return;
    this.#mappedBytes = 0;
    this.#openBytes = 0;
    freeAddresses(context, { address, byteLength: reservedBytes });
  }

  #unmapStep(start: number): boolean {
    return unmapMemory(this.context, this.#rangeAt(start, this.stepBytes));
  }

  #mapStep(descriptor: number | undefined): void {
    const range = this.#rangeAt(this.#mappedBytes, this.stepBytes);
    if (descriptor === undefined) mapMemory(this.context, range, canBeShared(this.context));
    else importMemory(this.context, range, descriptor);
    this.#mappedBytes += this.stepBytes;
  }

  #rangeAt(start: number, byteLength: number): NamedRange {
    return { address: this.address + BigInt(start), byteLength, what: "virtual memory" };
  }
}
