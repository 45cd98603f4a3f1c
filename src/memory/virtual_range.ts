// Addresses that are reserved once and get memory behind them as it is needed, and lose it again.
// Memory comes and goes in equal steps from the start, so the end of what is mapped says it all.

import {
  CUmemAccess_flags,
  CUmemAllocationGranularity_flags,
  CUmemAllocationType,
  CUmemLocationType,
} from "../../ffi/constants.ts";
import { CUmemAccessDesc, CUmemAllocationProp } from "../../ffi/structs.ts";
import type { Context } from "../context.ts";
import { formatBytes } from "../format.ts";

/** What another device may do with memory. */
export type DeviceAccess = "read" | "readwrite";

/** How many addresses to reserve, and how much memory to put behind them at a time. */
export interface VirtualRangeRequest {
  /** Bytes of addresses, rounded up to steps; they cost no memory. */
  readonly reservedBytes: number;
  /** Bytes of one step, rounded up to what the device can map; as little as possible by default. */
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
  readonly #cell = new BigUint64Array(1);
  readonly #memory: Uint8Array<ArrayBuffer>;
  /** What each device may do, by its driver's handle. */
  readonly #access = new Map<number, DeviceAccess>();
  #mappedBytes = 0;

  /** Reserves addresses without memory behind them (cuMemAddressReserve). */
  constructor(context: Context, request: VirtualRangeRequest) {
    const granularity = granularityOf(context);
    this.context = context;
    this.#memory = describeMemory(context);
    this.stepBytes = roundUp(Math.max(1, request.stepBytes ?? 1), granularity);
    this.reservedBytes = roundUp(Math.max(1, request.reservedBytes), this.stepBytes);
    const size = BigInt(this.reservedBytes);
    context.call("cuMemAddressReserve", this.#cell, size, 0n, 0n, 0n);
    this.address = this.#cell[0] ?? 0n;
    this.#access.set(context.deviceHandle, "readwrite");
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
    const formerBytes = this.#mappedBytes;
    const target = this.stepsFor(byteLength);
    if (target <= formerBytes) return;
    try {
      while (this.#mappedBytes < target) this.#mapStep();
      this.#setAccess(formerBytes, target);
    } catch (error) {
      this.unmapTo(formerBytes);
      throw error;
    }
  }

  /** Takes the memory from behind all whole steps after the first `byteLength` bytes (cuMemUnmap). */
  unmapTo(byteLength: number): void {
    const target = this.stepsFor(byteLength);
    while (this.#mappedBytes > target) {
      const start = this.address + BigInt(this.#mappedBytes - this.stepBytes);
      this.context.call("cuMemUnmap", start, BigInt(this.stepBytes));
      this.#mappedBytes -= this.stepBytes;
    }
  }

  /** Lets another device use the memory, also what is mapped later (cuMemSetAccess). */
  grant(device: Context, access: DeviceAccess): void {
    const former = this.#access.get(device.deviceHandle);
    this.#access.set(device.deviceHandle, access);
    try {
      this.#setAccess(0, this.#mappedBytes);
    } catch (error) {
      if (former === undefined) this.#access.delete(device.deviceHandle);
      else this.#access.set(device.deviceHandle, former);
      throw error;
    }
  }

  /** Takes a device's access back (cuMemSetAccess). */
  revoke(device: Context): void {
    if (!this.#access.delete(device.deviceHandle) || this.#mappedBytes === 0) return;
    const { CU_MEM_ACCESS_FLAGS_PROT_NONE } = CUmemAccess_flags;
    const entry = describeAccess(device.deviceHandle, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    const size = BigInt(this.#mappedBytes);
    this.context.call("cuMemSetAccess", this.address, size, entry, 1n);
  }

  /** Gives all memory and the addresses back (cuMemUnmap, cuMemAddressFree). */
  free(): void {
    this.unmapTo(0);
    this.context.call("cuMemAddressFree", this.address, BigInt(this.reservedBytes));
  }

  /** The mapping keeps the memory, so the handle is given up at once. */
  #mapStep(): void {
    const { context } = this;
    const size = BigInt(this.stepBytes);
    context.call("cuMemCreate", this.#cell, size, this.#memory, 0n);
    const handle = this.#cell[0] ?? 0n;
    try {
      context.call("cuMemMap", this.address + BigInt(this.#mappedBytes), size, 0n, handle, 0n);
      this.#mappedBytes += this.stepBytes;
    } finally {
      context.status("cuMemRelease", handle);
    }
  }

  #setAccess(start: number, end: number): void {
    if (start === end) return;
    const entries = new Uint8Array(this.#access.size * CUmemAccessDesc.byteLength);
    let at = 0;
    for (const [device, access] of this.#access) {
      entries.set(describeAccess(device, ACCESS_FLAGS[access]), at);
      at += CUmemAccessDesc.byteLength;
    }
    const address = this.address + BigInt(start);
    const count = BigInt(this.#access.size);
    this.context.call("cuMemSetAccess", address, BigInt(end - start), entries, count);
  }
}

const ACCESS_FLAGS = {
  read: CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READ,
  readwrite: CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
} as const satisfies Record<DeviceAccess, number>;

function describeMemory({ deviceHandle }: Context): Uint8Array<ArrayBuffer> {
  return CUmemAllocationProp.encode({
    type: CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED,
    location: { type: CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, id: deviceHandle },
  });
}

function describeAccess(device: number, flags: number): Uint8Array<ArrayBuffer> {
  const location = { type: CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, id: device };
  return CUmemAccessDesc.encode({ location, flags });
}

function granularityOf(context: Context): number {
  const cell = new BigUint64Array(1);
  const { CU_MEM_ALLOC_GRANULARITY_RECOMMENDED } = CUmemAllocationGranularity_flags;
  context.call(
    "cuMemGetAllocationGranularity",
    cell,
    describeMemory(context),
    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,
  );
  return Number(cell[0]);
}

function roundUp(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}
