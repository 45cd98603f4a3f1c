// Addresses that are reserved once and get memory behind them as it is needed, and lose it again.
// Memory comes and goes in equal steps from the start, so the end of what is mapped says it all.

import { CUmemAllocationGranularity_flags, CUmemAllocationType } from "../../ffi/constants.ts";
import { CUmemAccessDesc, CUmemAllocationProp } from "../../ffi/structs.ts";
import type { Context } from "../driver/context.ts";
import { take64 } from "../driver/driver.ts";
import { tryRelease } from "../driver/release.ts";
import { formatBytes } from "../words/format.ts";
import { describeAccess, type DeviceAccess, deviceLocation } from "./device_access.ts";

/** The size of a range, and of the steps in which it gets memory. */
export interface VirtualRangeRequest {
  /** Bytes of addresses, rounded up to steps; they cost no memory. */
  readonly reservedBytes: number;
  /**
   * Bytes of one step, rounded up to the smallest size that the device maps, which is the default.
   */
  readonly stepBytes?: number | undefined;
}

/** Reserved addresses of one device, mapped from the start up to `mappedBytes`. */
export class VirtualRange {
  /** The context whose device has the memory. */
  readonly context: Context;
  /** The first address; it stays the same. */
  readonly address: bigint;
  /** Bytes of addresses. */
  readonly reservedBytes: number;
  /** Bytes that are mapped and unmapped at a time. */
  readonly stepBytes: number;
  readonly #memory: Uint8Array<ArrayBuffer>;
  /** The devices that may use the memory, including memory that is mapped later. */
  readonly #access = new Map<Context, DeviceAccess>();
  #mappedBytes = 0;
  /** Bytes from the start that the devices may use: fewer than are mapped where a step stayed. */
  #openBytes = 0;

  /**
   * Reserves addresses without memory behind them (cuMemAddressReserve).
   *
   * @ignore
   */
  constructor(context: Context, request: VirtualRangeRequest) {
    const granularity = granularityOf(context);
    this.context = context;
    this.#memory = describeMemory(context);
    this.stepBytes = roundUp(Math.max(1, request.stepBytes ?? 1), granularity);
    this.reservedBytes = roundUp(Math.max(1, request.reservedBytes), this.stepBytes);
    const size = BigInt(this.reservedBytes);
    this.address = take64(context, "cuMemAddressReserve", size, 0n, 0n, 0n);
    this.#access.set(context, "readwrite");
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
   * Puts memory behind at least the first `byteLength` bytes (cuMemCreate, cuMemMap, cuMemSetAccess);
   * when that fails, nothing has changed.
   *
   * @throws RangeError when that is more than the addresses that were reserved.
   */
  mapTo(byteLength: number): void {
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
      while (this.#mappedBytes < target) this.#mapStep();
      this.#open(formerBytes, target);
      this.#openBytes = target;
    } catch (error) {
      this.unmapTo(formerBytes);
      throw error;
    }
  }

  /**
   * Takes the memory from behind all whole steps after the first `byteLength` bytes (cuMemUnmap). A
   * failure is reported and never thrown: that step stays mapped, and so do those before it.
   */
  unmapTo(byteLength: number): void {
    const target = this.stepsFor(byteLength);
    while (this.#mappedBytes > target) {
      if (!this.#unmapStep(this.#mappedBytes - this.stepBytes)) return;
      this.#mappedBytes -= this.stepBytes;
      this.#openBytes = Math.min(this.#openBytes, this.#mappedBytes);
    }
  }

  /**
   * Gives a device access to the memory, also to memory that is mapped later, or ends it
   * (cuMemSetAccess).
   */
  setAccess(device: Context, access: DeviceAccess): void {
    const entry = describeAccess(device, access);
    if (this.#mappedBytes > 0) {
      this.context.call("cuMemSetAccess", this.address, BigInt(this.#mappedBytes), entry, 1n);
    }
    if (access === "none") this.#access.delete(device);
    else this.#access.set(device, access);
  }

  /**
   * Gives all memory and the addresses back (cuMemUnmap, cuMemAddressFree). A failure is reported and
   * never thrown: the step that it names stays, and the addresses with it.
   */
  free(): void {
    const { address, reservedBytes, context, stepBytes } = this;
    let isEmpty = true;
    for (let start = 0; start < this.#mappedBytes; start += stepBytes) {
      isEmpty = this.#unmapStep(start) && isEmpty;
    }
    if (!isEmpty) return;
    this.#mappedBytes = 0;
    this.#openBytes = 0;
    const free = () => context.giveBack("cuMemAddressFree", address, BigInt(reservedBytes));
    tryRelease(context.driver, `${formatBytes(reservedBytes)} of addresses`, free);
  }

  #unmapStep(start: number): boolean {
    const { address, context, stepBytes } = this;
    const unmap = () => context.giveBack("cuMemUnmap", address + BigInt(start), BigInt(stepBytes));
    return tryRelease(context.driver, `${formatBytes(stepBytes)} of virtual memory`, unmap);
  }

  /** The mapping keeps the memory, so the handle is given up at once. */
  #mapStep(): void {
    const { context } = this;
    const size = BigInt(this.stepBytes);
    const handle = take64(context, "cuMemCreate", size, this.#memory, 0n);
    try {
      context.call("cuMemMap", this.address + BigInt(this.#mappedBytes), size, 0n, handle, 0n);
      this.#mappedBytes += this.stepBytes;
    } finally {
      const release = () => context.giveBack("cuMemRelease", handle);
      tryRelease(context.driver, `${formatBytes(this.stepBytes)} of virtual memory`, release);
    }
  }

  /** Lets all devices that may use the range use a part that was just mapped (cuMemSetAccess). */
  #open(start: number, end: number): void {
    const entries = new Uint8Array(this.#access.size * CUmemAccessDesc.byteLength);
    let at = 0;
    for (const [device, access] of this.#access) {
      entries.set(describeAccess(device, access), at);
      at += CUmemAccessDesc.byteLength;
    }
    const address = this.address + BigInt(start);
    const count = BigInt(this.#access.size);
    this.context.call("cuMemSetAccess", address, BigInt(end - start), entries, count);
  }
}

function describeMemory(device: Context): Uint8Array<ArrayBuffer> {
  return CUmemAllocationProp.encode({
    type: CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED,
    location: deviceLocation(device),
  });
}

function granularityOf(context: Context): number {
  const { CU_MEM_ALLOC_GRANULARITY_RECOMMENDED: flag } = CUmemAllocationGranularity_flags;
  return Number(take64(context, "cuMemGetAllocationGranularity", describeMemory(context), flag));
}

function roundUp(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}
