// The driver's stream-ordered pools: an allocation takes half a microsecond, and memory is freed in
// stream order. Calls skip the result layer, which would be a third of their cost.

import { CUresult } from "../../ffi/constants.ts";
import type { DriverApi } from "../../ffi/cuda.ts";
import type { Context } from "../driver/context.ts";
import { HandleRecord } from "../order/handle_record.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import { CudaUnavailableError, DisposedError } from "../words/errors.ts";
import { BaseMemoryResource, requireBytes } from "./base_memory_resource.ts";
import type { DeviceAccess } from "./device_access.ts";
import { DriverPool, POOL_OPTIONS, type PoolOptions, type PoolReuse } from "./driver_pool.ts";
import { contextOf, type ContextOwner } from "./memory_resource.ts";

/** The driver's functions that the hot path calls. */
type PoolCalls = Pick<
  DriverApi,
  "cuMemAllocAsync" | "cuMemAllocFromPoolAsync" | "cuMemFreeAsync"
>;

/**
 * Memory from the device's default pool, or from a new pool when options are given.
 *
 * The default pool is used as the driver sets it up: its release threshold is 0. Memory that was freed
 * returns to the device once the GPU is done with it: at the end of the next wait when it is more than a
 * thousandth of the device's memory, or than 128 MiB; else after half a second. `gpu.synchronizeSync()`,
 * `gpu.trim()` and a shortage of memory give all back at once. A new pool keeps memory up to its
 * threshold, and ends when it is disposed and its last allocation is freed.
 */
export class CudaAsyncMemoryResource extends BaseMemoryResource implements Disposable {
  readonly #calls: PoolCalls;
  readonly #cell = new BigUint64Array(1);
  readonly #pool: DriverPool;
  /** The owner record of a new pool; undefined for the default pool. */
  readonly #record: HandleRecord | undefined;
  /** Other devices may use its memory, for those that asked. */
  readonly #isOpenTo = new Map<Context, boolean>();

  /**
   * Takes memory from a device's default pool, or from a new pool with these options.
   *
   * @throws CudaUnavailableError when the device has no pools.
   * @throws RangeError for a text that is not a size.
   */
  constructor(owner: ContextOwner, options?: PoolOptions) {
    super(owner);
    const { context } = this;
    if (options !== undefined) options = POOL_OPTIONS.read(options, "new CudaAsyncMemoryResource");
    this.#calls = requireCalls(context);
    if (options === undefined) {
      this.#pool = defaultPool(context);
      return;
    }
    const pool = DriverPool.create(context, options);
    context.ledger.caches.add(pool);
    const destroy = () => pool.destroy();
    this.#pool = pool;
    this.#record = new HandleRecord(this, { context, kind: "pool", handle: pool.handle, destroy });
  }

  /** Returns whether a device has stream-ordered pools. */
  static isSupported(owner: ContextOwner): boolean {
    const context = contextOf(owner, "look for the pools of");
    return context.attribute("CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED") === 1;
  }

  /**
   * Allocates in the order of `stream` (cuMemAllocAsync, cuMemAllocFromPoolAsync).
   *
   * @throws MemoryLimitError when the maximum size of a new pool does not allow it.
   */
  allocate(byteLength: number, stream: CudaStream): bigint {
    requireBytes(byteLength);
    const own = this.#record === undefined ? undefined : this.#open.handle;
    const size = BigInt(byteLength);
    const { handle } = queueOf(stream);
    const status = own === undefined
      ? this.#calls.cuMemAllocAsync(this.#cell, size, handle)
      : this.#calls.cuMemAllocFromPoolAsync(this.#cell, size, own, handle);
    if (status !== CUresult.CUDA_SUCCESS) throw this.#failure(status, byteLength);
    this.#pool.noteTaken();
    return this.#cell[0] ?? 0n;
  }

  /** Frees in the order of `stream` (cuMemFreeAsync). */
  deallocate(address: bigint, byteLength: number, stream: CudaStream): void {
    const queue = queueOf(stream);
    const status = this.#calls.cuMemFreeAsync(address, queue.handle);
    if (status !== CUresult.CUDA_SUCCESS) {
      throw this.context.driver.error(status, "cuMemFreeAsync");
    }
    this.#pool.noteFreed(queue, byteLength);
  }

  /** Bytes that the pool's allocations hold, other libraries' in the default pool included. */
  get usedBytes(): number {
    return this.#open.usedBytes;
  }

  /** The most bytes that its allocations held at once. */
  get peakUsedBytes(): number {
    return this.#open.read64("CU_MEMPOOL_ATTR_USED_MEM_HIGH");
  }

  /** Bytes that the pool has taken from the device. */
  get reservedBytes(): number {
    return this.#open.reservedBytes;
  }

  /** The most bytes that it had taken from the device at once. */
  get peakReservedBytes(): number {
    return this.#open.read64("CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH");
  }

  /** Bytes that it keeps at a synchronisation although nothing uses them. */
  get releaseThresholdBytes(): number {
    return this.#open.read64("CU_MEMPOOL_ATTR_RELEASE_THRESHOLD");
  }

  /** The cases in which it reuses memory whose free is not done yet. */
  get reuse(): Required<PoolReuse> {
    return this.#open.reuse;
  }

  /** Tells whether it was disposed; the default pool never is. */
  get disposed(): boolean {
    return this.#record?.released ?? false;
  }

  /** Resets both peaks to the bytes that are used and reserved now. */
  resetPeaks(): void {
    this.#open.resetPeaks();
  }

  /**
   * Gives unused memory back to the device, down to `keepBytes` (cuMemPoolTrimTo). Freed memory
   * counts as unused once its stream has reached the free: synchronise first to give everything
   * back.
   */
  trim(keepBytes = 0): void {
    this.#open.trim(keepBytes);
  }

  /**
   * Sets whether another device may use the pool's memory (cuMemPoolSetAccess). The first copy
   * between two devices gives access by itself, unless it was taken away here.
   */
  setAccess(peer: ContextOwner, access: DeviceAccess): void {
    const other = contextOf(peer, "set the access of");
    this.#open.setAccess(other, access);
    this.#isOpenTo.set(other, access !== "none");
  }

  /**
   * @ignore Lets another device use the pool's memory unless the program forbade that; returns
   * whether it may.
   */
  openTo(peer: Context): boolean {
    return this.#isOpenTo.getOrInsertComputed(peer, () => this.#open.openTo(peer));
  }

  /** Reads the access that a device has to the pool's memory (cuMemPoolGetAccess). */
  accessOf(peer: ContextOwner): DeviceAccess {
    return this.#open.accessOf(contextOf(peer, "read the access of"));
  }

  /**
   * Ends a new pool; its allocations stay valid, and it is destroyed when the GPU has freed the last of
   * them (cuMemPoolDestroy). Does nothing for the default pool, or when called again.
   */
  dispose(): void {
    this.#record?.release();
  }

  /** Same as {@link CudaAsyncMemoryResource.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** @ignore Takes a new pool out of the live objects, because the kit made it for itself. */
  unlist(): void {
    this.#record?.unlist();
  }

  /** @ignore The pool when other processes can open it. */
  get shareablePool(): DriverPool | undefined {
    const { isShareable } = this.#pool;
    return isShareable ? this.#open : undefined;
  }

  /** @ignore Counts memory that was handed over and will be freed through this resource. */
  noteAdopted(): void {
    this.#pool.noteTaken();
  }

  /** Returns the pool, after checking that it was not disposed. */
  get #open(): DriverPool {
    if (this.disposed) throw new DisposedError("CudaAsyncMemoryResource");
    return this.#pool;
  }

  /** Creates the error of an allocation that failed. */
  #failure(status: number, byteLength: number): Error {
    const isFull = status === CUresult.CUDA_ERROR_OUT_OF_MEMORY;
    const call = this.#record === undefined ? "cuMemAllocAsync" : "cuMemAllocFromPoolAsync";
    return (isFull ? this.#pool.limitError(byteLength) : undefined) ??
      this.context.driver.error(status, call);
  }
}

const defaultPools = new WeakMap<Context, DriverPool>();

/** The device's own pool; its unused memory counts as cached and is given back in a shortage. */
function defaultPool(context: Context): DriverPool {
  return defaultPools.getOrInsertComputed(context, () => {
    const pool = DriverPool.ofDevice(context);
    context.ledger.caches.add(pool);
    return pool;
  });
}

function requireCalls(context: Context): PoolCalls {
  if (CudaAsyncMemoryResource.isSupported({ context })) {
    const { cuMemAllocAsync, cuMemAllocFromPoolAsync, cuMemFreeAsync } = context.driver.api;
    return { cuMemAllocAsync, cuMemAllocFromPoolAsync, cuMemFreeAsync };
  }
  throw new CudaUnavailableError(
    "driver-too-old",
    `Cannot use stream-ordered memory on device ${context.ordinal}: it has no memory ` +
      `pools; use CudaMemoryResource`,
  );
}
