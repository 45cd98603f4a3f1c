// A memory pool of the driver: its limits, its counters, and the access of other devices and
// processes.

import {
  CUmemAllocationHandleType,
  CUmemAllocationType,
  CUmemPool_attribute,
  CUresult,
} from "../../ffi/constants.ts";
import { CUmemLocation, CUmemPoolProps } from "../../ffi/structs.ts";
import type { MemoryCache } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { read32, read64, take32, take64 } from "../driver/driver.ts";
import { tryRelease } from "../driver/release.ts";
import type { StreamQueue } from "../order/stream_queue.ts";
import { CudaUnavailableError, isRefusal, MemoryLimitError } from "../words/errors.ts";
import { finished } from "../words/finished.ts";
import { type ByteSize, checkSize, parseBytes } from "../words/format.ts";
import { FLAG, oneOf, OptionSet, SIZE } from "../words/options.ts";
import {
  ACCESS_FLAGS,
  describeAccess,
  type DeviceAccess,
  deviceLocation,
} from "./device_access.ts";
import { closeOnExec } from "./virtual_memory.ts";

/** The cases in which a pool reuses memory whose free is not done yet; all are on by default. */
export interface PoolReuse {
  /** Behind an event that the allocating stream has waited for already. */
  readonly followEventDependencies?: boolean | undefined;
  /** As soon as the free happens to be done. */
  readonly allowOpportunistic?: boolean | undefined;
  /** By making the allocating stream wait for the free. */
  readonly allowInternalDependencies?: boolean | undefined;
}

/** Options of a new pool. */
export interface PoolOptions {
  /**
   * Most bytes it takes from the device; the device's memory by default. Needs CUDA 12.2. The driver
   * rounds it up to the steps in which it takes memory, of up to 32 MiB: a LimitingResourceAdaptor
   * around the pool holds a limit to the byte.
   */
  readonly maxSize?: ByteSize | undefined;
  /** Bytes it keeps at a synchronisation although nothing uses them; 0 by default. */
  readonly releaseThresholdSize?: ByteSize | undefined;
  /** The cases in which it reuses memory whose free is not done yet. */
  readonly reuse?: PoolReuse | undefined;
  /** The handle by which other processes can open its memory; none by default. */
  readonly handleType?: "none" | "fileDescriptor" | "fabric" | undefined;
}

/** Checks the options above. */
export const POOL_OPTIONS: OptionSet<PoolOptions> = new OptionSet({
  maxSize: SIZE,
  releaseThresholdSize: SIZE,
  reuse: new OptionSet<PoolReuse>({
    followEventDependencies: FLAG,
    allowOpportunistic: FLAG,
    allowInternalDependencies: FLAG,
  }),
  handleType: oneOf("none", "fileDescriptor", "fabric"),
});

const HANDLE_TYPES = {
  none: CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_NONE,
  fileDescriptor: CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
  fabric: CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_FABRIC,
} as const;

const REUSE_ATTRIBUTES = {
  followEventDependencies: "CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES",
  allowOpportunistic: "CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC",
  allowInternalDependencies: "CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES",
} as const satisfies Record<keyof PoolReuse, keyof typeof CUmemPool_attribute>;

/** One memory pool of a device, known by its handle. */
export class DriverPool implements MemoryCache {
  readonly name = "memory pool";
  readonly kind = "device";
  readonly handle: bigint;
  /** `gpu.limit()` leaves out the memory that it keeps. */
  readonly isUnlimited: boolean;
  /** Other processes can open it by a file descriptor. */
  readonly isShareable: boolean;
  readonly #context: Context;
  readonly #limitBytes: number;
  /** Blocks that the kit has taken and not freed. */
  #blockCount = 0;
  /** It has had blocks, whose frees may not be done: never in a pool of another process. */
  #isUsed = false;
  #isLeft = false;

  /** Wraps an existing pool; a limit of 0 means no limit. */
  constructor(
    context: Context,
    handle: bigint,
    { limitBytes = 0, isUnlimited = false, isShareable = false } = {},
  ) {
    this.#context = context;
    this.handle = handle;
    this.isUnlimited = isUnlimited;
    this.isShareable = isShareable;
    this.#limitBytes = limitBytes;
  }

  /**
   * Finds the pool that cuMemAllocAsync allocates from (cuDeviceGetDefaultMemPool). It takes memory
   * in large steps, for other libraries too, so a limit counts only what live buffers hold of it.
   */
  static ofDevice(context: Context): DriverPool {
    const handle = take64(context.driver, "cuDeviceGetDefaultMemPool", context.deviceHandle);
    return new DriverPool(context, handle, { isUnlimited: true });
  }

  /**
   * Creates a pool (cuMemPoolCreate); the caller disposes it.
   *
   * @throws CudaUnavailableError for a maximum size with a driver that knows none.
   */
  static create(context: Context, options: PoolOptions): DriverPool {
    const { maxSize = 0, releaseThresholdSize = 0, reuse = {}, handleType = "none" } = options;
    const threshold = parseBytes(releaseThresholdSize, "release threshold");
    const limitBytes = parseBytes(maxSize, "maximum size");
    if (limitBytes > 0) requireMaximum(context);
    const properties = CUmemPoolProps.encode({
      allocType: CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED,
      handleTypes: HANDLE_TYPES[handleType],
      location: deviceLocation(context),
      maxSize: BigInt(limitBytes),
    });
    const handle = take64(context, "cuMemPoolCreate", properties);
    const isShareable = handleType === "fileDescriptor";
    return finished(new DriverPool(context, handle, { limitBytes, isShareable }), (pool) => {
      pool.#write64("CU_MEMPOOL_ATTR_RELEASE_THRESHOLD", threshold);
      pool.#setReuse(reuse);
    });
  }

  get usedBytes(): number {
    return this.read64("CU_MEMPOOL_ATTR_USED_MEM_CURRENT");
  }

  /** Bytes taken from the device. */
  get reservedBytes(): number {
    return this.read64("CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT");
  }

  /**
   * Bytes taken from the device that no allocation holds. The driver takes off what is freed when the free
   * is queued, and forgets to take off what cuMemFree frees.
   */
  get byteLength(): number {
    return Math.max(0, this.reservedBytes - this.usedBytes);
  }

  noteTaken(): void {
    this.#blockCount++;
    this.#isUsed = true;
  }

  /** Notes that the kit has queued the free of a block; the last one ends a pool that was disposed. */
  noteFreed(queue: StreamQueue, byteLength: number): void {
    queue.noteFreed(byteLength);
    this.#blockCount--;
    if (this.#isLeft && this.#blockCount === 0) this.#end();
  }

  /** The cases in which memory is reused whose free is not done yet. */
  get reuse(): Required<PoolReuse> {
    const cases = Object.entries(REUSE_ATTRIBUTES).map(([name, attribute]) => {
      const number = CUmemPool_attribute[attribute];
      const isOn = read32(this.#context, "cuMemPoolGetAttribute", this.handle, number);
      return [name, isOn !== 0] as const;
    });
    return Object.fromEntries(cases) as Required<PoolReuse>;
  }

  resetPeaks(): void {
    this.#write64("CU_MEMPOOL_ATTR_USED_MEM_HIGH", 0);
    this.#write64("CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH", 0);
  }

  /**
   * Returns the error if the pool's own limit forbids a request, and undefined if the device is
   * full: the driver has one status for both.
   */
  limitError(requestedBytes: number): MemoryLimitError | undefined {
    const limitBytes = this.#limitBytes;
    if (limitBytes === 0) return undefined;
    const heldBytes = this.usedBytes;
    const isPassed = heldBytes + requestedBytes > limitBytes;
    if (!isPassed && this.#context.freeBytes() < requestedBytes) return undefined;
    return new MemoryLimitError("CudaAsyncMemoryResource", {
      requestedBytes,
      heldBytes,
      limitBytes,
      remedy: "make the pool with a larger maxSize",
    });
  }

  /** Gives unused memory back to the device, down to `keepBytes` (cuMemPoolTrimTo). */
  trim(keepBytes = 0): void {
    const keep = BigInt(checkSize(keepBytes, "bytes to keep"));
    this.#context.call("cuMemPoolTrimTo", this.handle, keep);
  }

  /** Sets whether another device may use the pool's memory (cuMemPoolSetAccess). */
  setAccess(peer: Context, access: DeviceAccess): void {
    this.#context.call("cuMemPoolSetAccess", this.handle, describeAccess(peer, access), 1n);
  }

  /**
   * Lets another device use the pool's memory, including earlier allocations, if it can reach it;
   * returns whether it can (cuMemPoolSetAccess).
   */
  openTo(peer: Context): boolean {
    if (this.accessOf(peer) !== "none") return true;
    const access = describeAccess(peer, "readwrite");
    const status = this.#context.status("cuMemPoolSetAccess", this.handle, access, 1n);
    if (status === CUresult.CUDA_SUCCESS) return true;
    if (isRefusal(status)) return false;
    throw this.#context.driver.error(status, "cuMemPoolSetAccess");
  }

  /** Reads the access that a device has to the pool's memory (cuMemPoolGetAccess). */
  accessOf(peer: Context): DeviceAccess {
    const location = CUmemLocation.encode(deviceLocation(peer));
    const flags = take32(this.#context, "cuMemPoolGetAccess", this.handle, location);
    if (flags === ACCESS_FLAGS.readwrite) return "readwrite";
    return flags === ACCESS_FLAGS.read ? "read" : "none";
  }

  /** Returns the pool's descriptor, for the caller to close (cuMemPoolExportToShareableHandle). */
  exportDescriptor(): number {
    const type = HANDLE_TYPES.fileDescriptor;
    const call = "cuMemPoolExportToShareableHandle";
    return closeOnExec(take32(this.#context, call, this.handle, type, 0n));
  }

  /**
   * Opens the pool of another process by its descriptor, which the caller closes
   * (cuMemPoolImportFromShareableHandle). Nothing can be allocated from it.
   */
  static import(context: Context, descriptor: number): DriverPool {
    const type = HANDLE_TYPES.fileDescriptor;
    const call = "cuMemPoolImportFromShareableHandle";
    return new DriverPool(context, take64(context, call, BigInt(descriptor), type, 0n));
  }

  /**
   * Destroys the pool once its last block is freed and the pool has noticed that (cuMemPoolDestroy);
   * while there are blocks, it keeps no unused memory. The driver accepts the call earlier, but release
   * 580 then crashes the process a few allocations later.
   */
  dispose(): void {
    this.#isLeft = true;
    if (this.#blockCount === 0) return this.#end();
    this.#write64("CU_MEMPOOL_ATTR_RELEASE_THRESHOLD", 0);
    this.trim();
  }

  #end(): void {
    const { driver, freed, ledger } = this.#context;
    const destroy = () => {
      ledger.caches.delete(this);
      const call = () => this.#context.giveBack("cuMemPoolDestroy", this.handle);
      tryRelease(driver, "a memory pool", call);
    };
    if (this.#isUsed) freed.afterAll(destroy);
    else destroy();
  }

  #setReuse(reuse: PoolReuse): void {
    for (const [name, attribute] of Object.entries(REUSE_ATTRIBUTES)) {
      const value = reuse[name as keyof PoolReuse];
      if (value === undefined) continue;
      const number = CUmemPool_attribute[attribute];
      const isOn = new Int32Array([Number(value)]);
      this.#context.call("cuMemPoolSetAttribute", this.handle, number, isOn);
    }
  }

  #write64(attribute: keyof typeof CUmemPool_attribute, value: number): void {
    const cell = new BigUint64Array([BigInt(value)]);
    const number = CUmemPool_attribute[attribute];
    this.#context.call("cuMemPoolSetAttribute", this.handle, number, cell);
  }

  /** Reads an amount in bytes (cuMemPoolGetAttribute). */
  read64(attribute: keyof typeof CUmemPool_attribute): number {
    const number = CUmemPool_attribute[attribute];
    return Number(read64(this.#context, "cuMemPoolGetAttribute", this.handle, number));
  }
}

/** `CUmemPoolProps` has a maximum from CUDA 12.2 on; older drivers would leave the pool without one. */
function requireMaximum({ driver: { version } }: Context): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 12 || (major === 12 && minor >= 2)) return;
  throw new CudaUnavailableError(
    "driver-too-old",
    `Cannot limit a memory pool: maxSize needs a driver for CUDA 12.2 or newer, this one is for ` +
      `${version}; wrap the pool in a LimitingResourceAdaptor`,
  );
}
