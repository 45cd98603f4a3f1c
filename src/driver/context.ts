// A device's primary context: retained while anything uses it, made current where a call needs it.
// CUDA's current context belongs to a thread, so all calls here stay on the JavaScript thread.

import {
  CUdevice_attribute,
  CUresult,
  CUstream_flags,
  type DeviceAttribute,
} from "../../ffi/constants.ts";
import type { DriverFunction } from "../../ffi/cuda.ts";
import { availableBytes } from "../../ffi/system_memory.ts";
import { Ledger } from "../accounting/ledger.ts";
import { DisposedError, isRefusal } from "../words/errors.ts";
import { COPY, THIS_COPY } from "../words/format.ts";
import { afterPause } from "../words/timer.ts";
import { UNCLONEABLE, UNCLONEABLE_FIELD } from "../words/uncloneable.ts";
import { DeferredQueue, type DeferredWork } from "./deferred_work.ts";
import { type Driver, type DriverArguments, take32, take64, takePair } from "./driver.ts";
import { FreedMemory } from "./freed_memory.ts";
import { type Release, releaseAll, tryRelease } from "./release.ts";

/** Options of a context, fixed while it is open. */
export interface ContextOptions {
  /**
   * @ignore Whether streams that use the same buffer are ordered after each other; true by default.
   */
  readonly ordersStreams?: boolean | undefined;
}

/** Number of fruitless looks at deferred work by a release. */
const LOOKS_OF_A_RELEASE = 4;

/** Number of fruitless looks by an allocation. */
const LOOKS_OF_AN_ALLOCATION = 32;

/**
 * Freed memory that the end of a wait leaves in the driver's pools: at most this, and a part of the
 * device's memory. To give back and take 32 MiB again, their step, costs 125 us on an H200: ten times a
 * loop of small buffers, and a tenth of moving 64 MiB.
 */
const MAX_LEFT_BYTES = 128 * 2 ** 20;
const MAX_LEFT_PART = 1 / 1024;

/** Number of looks after a pause: what was queued last may just have begun. */
const LOOKS_OF_A_PAUSE = 8;

/** The pause after which a context that the program leaves alone gives freed memory back. */
const PAUSE_MILLISECONDS = 500;

const contexts = new WeakMap<Driver, Map<number, Context>>();

/** The primary context of one device, shared by everything in this process that uses the device. */
export class Context {
  /** Refuses clones of all that has a context; fields are cloned in order, so it is the first. */
  protected readonly [UNCLONEABLE_FIELD]: symbol = UNCLONEABLE;
  /** The checked driver. */
  readonly driver: Driver;
  /** The device's number, counted from 0. */
  readonly ordinal: number;
  /** The driver's handle of the device. */
  readonly deviceHandle: number;
  /** The driver's handle of the context. */
  readonly handle: bigint;
  /** Handle of the default stream, which does not block on the legacy stream. */
  readonly defaultStreamHandle: bigint;
  /** @ignore The live objects of this context. */
  readonly ledger: Ledger = new Ledger();
  /** The device's memory in bytes. */
  readonly totalBytes: number;
  /** @ignore Bytes of all copies queued so far. */
  copiedBytes = 0;
  /** Streams that use the same buffer are ordered after each other. */
  readonly ordersStreams: boolean;
  /** @ignore Work for the host that waits for the GPU. */
  readonly deferred: DeferredQueue;
  /** @ignore Memory that was freed in the order of streams and is not back yet. */
  readonly freed: FreedMemory = new FreedMemory();
  /**
   * @ignore Whether a stream of this context is being captured: deferred work waits, because it
   * would be recorded.
   */
  isCapturing = false;

  /**
   * @ignore Resolves when threads are back that kept memory; undefined when none is on its way. Calls that
   * are awaited wait for them, so that nothing goes on behind a test that ends then.
   */
  returning: Promise<unknown> | undefined;
  #references = 1;
  readonly #current = new BigUint64Array(1);
  readonly #attributes = new Map<DeviceAttribute, number>();
  readonly #mostLeftBytes: number;
  readonly #releaseHooks: Release[] = [];
  /** This context made itself current on the thread. */
  #isAdopted = false;
  /** It will look after a pause for memory that it can give back. */
  #isWatching = false;

  /** @ignore Retains the primary context of a device. */
  private constructor(driver: Driver, ordinal: number, { ordersStreams = true }: ContextOptions) {
    this.driver = driver;
    this.deferred = new DeferredQueue(driver);
    this.ordinal = ordinal;
    this.ordersStreams = ordersStreams;
    this.deviceHandle = take32(driver, "cuDeviceGet", ordinal);
    this.totalBytes = Number(take64(driver, "cuDeviceTotalMem_v2", this.deviceHandle));
    this.#mostLeftBytes = Math.min(MAX_LEFT_BYTES, MAX_LEFT_PART * this.totalBytes);
    this.handle = take64(driver, "cuDevicePrimaryCtxRetain", this.deviceHandle);
    try {
      this.#adoptThread();
      const flags = CUstream_flags.CU_STREAM_NON_BLOCKING;
      this.defaultStreamHandle = take64(this, "cuStreamCreateWithPriority", flags, 0);
    } catch (error) {
      releaseAll(driver, `the context of device ${ordinal}`, this.#leaving);
      throw error;
    }
  }

  /**
   * Retains the context of a device; each call needs one call of {@link Context.release}.
   *
   * @throws RangeError when there is no such device.
   * @throws TypeError when it is open already with other options.
   * @ignore
   */
  static retain(driver: Driver, ordinal: number, options: ContextOptions = {}): Context {
    if (!Number.isInteger(ordinal) || ordinal < 0 || ordinal >= driver.deviceCount) {
      const last = driver.deviceCount - 1;
      throw new RangeError(
        `Cannot open device ${ordinal}: this machine has ${driver.deviceCount} ` +
          `(${last === 0 ? "0" : `0 to ${last}`})`,
      );
    }
    const known = contexts.getOrInsertComputed(driver, () => new Map());
    const context = known.get(ordinal);
    if (context !== undefined) return context.#check(options).retain();
    const made = new Context(driver, ordinal, options);
    known.set(ordinal, made);
    return made;
  }

  /** Tells whether the last user has released the context. */
  get released(): boolean {
    return this.#references === 0;
  }

  /**
   * Checks that somebody still uses the context, before a call that comes after an await.
   *
   * @throws DisposedError when the device and all that was made on it were disposed.
   * @ignore
   */
  requireLive(): void {
    if (this.released) throw new DisposedError(`device ${this.ordinal}`);
  }

  /**
   * Retains the context for one more user.
   *
   * @throws DisposedError when its last user has released it: it would be released twice.
   * @ignore
   */
  retain(): this {
    if (this.#references === 0) this.requireLive();
    this.#references++;
    return this;
  }

  /**
   * @ignore Releases the context for one user; the last one releases the primary context itself.
   */
  release(): void {
    if (--this.#references > 0) return;
    contexts.get(this.driver)?.delete(this.ordinal);
    releaseAll(this.driver, `the context of device ${this.ordinal}`, [
      () => this.waitForAll(),
      () => {
        if (this.freed.streams.size > 0) this.waitForAll(); // that failed, and pools wait for it
      },
      ...this.#releaseHooks,
      () => this.giveBack("cuStreamDestroy_v2", this.defaultStreamHandle),
      ...this.#leaving,
    ]);
  }

  /** Calls a driver function with this context current, and throws the error of its status. */
  call<K extends DriverFunction>(name: K, ...args: DriverArguments<K>): void {
    const status = this.status(name, ...args);
    if (status !== CUresult.CUDA_SUCCESS) throw this.driver.error(status, name);
  }

  /** Calls a driver function with this context current, and returns its status. */
  status<K extends DriverFunction>(name: K, ...args: DriverArguments<K>): number {
    const { driver } = this;
    if (this.#isCurrent) return driver.status(name, ...args);
    return this.#inside(() => driver.status(name, ...args), { former: this.#current[0] ?? 0n });
  }

  /**
   * @ignore Runs calls of another library with this context current. What such a library leaves
   * current in its place is undone. Where the context is not needed, the calls are made without it
   * if it cannot be current.
   */
  enter<T>(body: () => T, { isNeeded = true }: { readonly isNeeded?: boolean } = {}): T {
    const former = this.#isCurrent ? this.handle : this.#current[0] ?? 0n;
    return this.#inside(body, { former, isNeeded });
  }

  /**
   * @ignore Calls a function that releases something, and throws the error of its status. The
   * context is made current if that is possible; most of these functions work without it.
   */
  giveBack<K extends DriverFunction>(name: K, ...args: DriverArguments<K>): void {
    const call = () => this.driver.call(name, ...args);
    if (this.#isCurrent) return call();
    this.#inside(call, { former: this.#current[0] ?? 0n, isNeeded: false });
  }

  /**
   * @ignore Checks the status of a call that was made without making this context current, and
   * throws its error. When another device's context was current, the driver rejects pool memory and
   * has done nothing; the call is then repeated with this context. Costs one comparison in the
   * normal case.
   */
  settle<K extends DriverFunction>(status: number, name: K, ...args: DriverArguments<K>): void {
    if (status === CUresult.CUDA_SUCCESS) return;
    if (this.#isCurrent) throw this.driver.error(status, name);
    this.call(name, ...args);
  }

  /**
   * Reads one attribute of the device; 0 when this driver does not know it (cuDeviceGetAttribute).
   *
   * @throws CudaError when the driver call fails.
   */
  attribute(name: DeviceAttribute): number {
    return this.#attributes.getOrInsertComputed(name, () => this.#readAttribute(name));
  }

  #readAttribute(name: DeviceAttribute): number {
    const cell = new Int32Array(1);
    const status = this.driver.status(
      "cuDeviceGetAttribute",
      cell,
      CUdevice_attribute[name],
      this.deviceHandle,
    );
    if (isRefusal(status)) return 0;
    this.driver.check(status, "cuDeviceGetAttribute");
    return cell[0] ?? 0;
  }

  /** Tells that the device has no memory of its own and takes the system's: an integrated GPU. */
  get sharesSystemMemory(): boolean {
    return this.attribute("CU_DEVICE_ATTRIBUTE_INTEGRATED") === 1;
  }

  /**
   * Reads the bytes that are free on the device, for all programs together. Where it takes the system's
   * memory, they are those that the system can give, because the driver counts the page cache as used.
   */
  freeBytes(): number {
    const [free] = takePair(this, "cuMemGetInfo_v2");
    const available = this.sharesSystemMemory
      ? availableBytes(this.driver.api, this.ordinal)
      : undefined;
    return available === undefined ? Number(free) : Math.min(this.totalBytes, available);
  }

  /** @ignore Notes threads that are on their way back. */
  noteReturning(threads: Promise<void> | undefined): void {
    if (threads === undefined) return;
    const all = Promise.all([this.returning, threads]).then(() => {
      if (this.returning === all) this.returning = undefined;
    });
    this.returning = all;
  }

  /**
   * @ignore Registers a function that runs when the last user releases the context, while it can
   * still be used.
   */
  atRelease(hook: () => void): void {
    this.#releaseHooks.push(hook);
  }

  /**
   * @ignore Defers work until the GPU has passed a point. It runs at a later allocation, release or
   * synchronisation, or after a pause.
   */
  defer(work: DeferredWork): void {
    this.deferred.works.add(work);
    this.watchFreed();
  }

  /**
   * @ignore Does what was put off until the GPU is done, at the end of a wait. Leaves a little freed memory
   * in pools, so that a loop of small buffers does not take it from the device again and again.
   */
  endWait(): void {
    if (this.deferred.works.size > 0) {
      tryRelease(this.driver, "deferred work", () => this.sweepMore());
    }
    const { byteLength, awaitedCount } = this.freed;
    if (awaitedCount > 0 || byteLength > this.#mostLeftBytes) this.noticeFrees();
  }

  /** @ignore Gives all freed memory back that the GPU is done with; does not wait, and never throws. */
  noticeFrees(): void {
    if (this.isCapturing) return;
    tryRelease(this.driver, "freed memory", () => this.freed.notice());
  }

  /** @ignore Looks after a pause for what the GPU is done with, also when the program makes no call. */
  watchFreed(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    afterPause(PAUSE_MILLISECONDS, () => {
      this.#isWatching = false;
      if (this.released) return;
      for (let look = 0; look < LOOKS_OF_A_PAUSE && this.#isKeeping; look++) {
        tryRelease(this.driver, "deferred work", () => this.sweep());
        this.noticeFrees();
      }
      if (this.#isKeeping) this.watchFreed();
    });
  }

  /** Tells whether it keeps something that it gives back when the GPU is done with it. */
  get #isKeeping(): boolean {
    return this.deferred.works.size > 0 || this.freed.byteLength > 0;
  }

  /** @ignore Makes a stream's later work come after all that deferred work waits for. */
  holdForDeferred(streamHandle: bigint): void {
    if (!this.isCapturing) this.deferred.hold(streamHandle);
  }

  /** @ignore Runs the deferred work that is due. */
  sweep(): void {
    if (this.deferred.works.size > 0 && !this.isCapturing) this.deferred.sweep();
  }

  /**
   * @ignore Runs due work before an allocation or at the end of a wait, which stop looking early when there
   * is much work.
   */
  sweepMore(): void {
    if (this.deferred.works.size === 0 || this.isCapturing) return;
    this.deferred.sweepSome(LOOKS_OF_AN_ALLOCATION);
  }

  /**
   * @ignore Runs due work at a release, so that a loop of releases keeps little memory; never
   * throws.
   */
  sweepSome(): void {
    if (this.deferred.works.size === 0 || this.isCapturing) return;
    const sweep = () => this.deferred.sweepSome(LOOKS_OF_A_RELEASE);
    tryRelease(this.driver, "deferred work", sweep);
  }

  /** @ignore Blocks until the GPU is idle, and runs all deferred work. */
  waitForAll(): void {
    if (this.isCapturing) return;
    let isPassed = false;
    try {
      this.call("cuCtxSynchronize");
      isPassed = true;
      this.freed.forget();
    } finally {
      this.deferred.runAll({ isPassed });
    }
  }

  /** @ignore The copy of the kit that it belongs to. */
  get [COPY](): object {
    return THIS_COPY;
  }

  /** Returns the context's name for messages: `Context(device 0)`. */
  toString(): string {
    return `Context(device ${this.ordinal})`;
  }

  /** Returns the context's name for JSON of what refers to it, such as a stream: a handle has none. */
  toJSON(): string {
    return this.toString();
  }

  /** Returns the console's text, short because objects with the context show it too. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }

  #check({ ordersStreams = this.ordersStreams }: ContextOptions): this {
    if (ordersStreams === this.ordersStreams) return this;
    throw new TypeError(
      `Cannot open device ${this.ordinal} with ${orderName(ordersStreams)} order: it is open ` +
        `with ${orderName(this.ordersStreams)} order, dispose all that was made on it first`,
    );
  }

  /** Tells whether the context is current on this thread; false when the driver does not say. */
  get #isCurrent(): boolean {
    this.#current[0] = 0n;
    return this.driver.api.cuCtxGetCurrent(this.#current) === CUresult.CUDA_SUCCESS &&
      this.#current[0] === this.handle;
  }

  /** Runs calls with this context current, and then makes the former one current again. */
  #inside<T>(
    body: () => T,
    { former, isNeeded = true }: { readonly former: bigint; readonly isNeeded?: boolean },
  ): T {
    const { driver } = this;
    const status = driver.status("cuCtxPushCurrent_v2", this.handle);
    if (isNeeded) driver.check(status, "cuCtxPushCurrent_v2");
    try {
      return body();
    } finally {
      if (status === CUresult.CUDA_SUCCESS) this.#stepBack(former);
    }
  }

  /**
   * Makes the former context current again. The work in between is done, so a failure does not
   * throw: the call is tried again, and then another call.
   */
  #stepBack(former: bigint): void {
    const { driver } = this;
    const pop = () => driver.status("cuCtxPopCurrent_v2", new BigUint64Array(1));
    if (pop() === CUresult.CUDA_SUCCESS || pop() === CUresult.CUDA_SUCCESS) return;
    const replace = () => driver.call("cuCtxSetCurrent", former);
    tryRelease(driver, "the context that was current before", replace);
  }

  /** Keeps this context current where no other is, so that later calls need no switch. */
  #adoptThread(): void {
    this.driver.call("cuCtxGetCurrent", this.#current);
    if (this.#current[0] !== 0n) return;
    this.driver.call("cuCtxSetCurrent", this.handle);
    this.#isAdopted = true;
  }

  /** The releases of what opening took, last in first out. */
  get #leaving(): Release[] {
    return [
      () => this.#leaveThread(),
      () => this.driver.call("cuDevicePrimaryCtxRelease_v2", this.deviceHandle),
    ];
  }

  /** Makes no context current when this one is, or when the driver does not tell. */
  #leaveThread(): void {
    const { driver } = this;
    const isKnown = driver.status("cuCtxGetCurrent", this.#current) === CUresult.CUDA_SUCCESS;
    const isCurrent = isKnown ? this.#current[0] === this.handle : this.#isAdopted;
    if (isCurrent) driver.call("cuCtxSetCurrent", 0n);
  }
}

function orderName(ordersStreams: boolean): string {
  return ordersStreams ? "automatic" : "manual";
}
