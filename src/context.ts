// A device's primary context: retained while anything uses it, made current where a call needs it.
// CUDA's current context belongs to a thread, so all calls here stay on the JavaScript thread.

import {
  CUdevice_attribute,
  CUresult,
  CUstream_flags,
  type DeviceAttribute,
} from "../ffi/constants.ts";
import type { DriverFunction } from "../ffi/cuda.ts";
import type { Driver, DriverArguments } from "./driver.ts";
import { describeValue } from "./format.ts";
import { FLAG, OptionSet } from "./options.ts";
import { type CopyEnds, Ledger } from "./accounting/ledger.ts";

/** Work to do once the GPU has passed a point, such as freeing memory that a copy still reads. */
export interface DeferredWork {
  /** Whether the GPU has passed the point. */
  isDue(): boolean;
  /** Does the work; never throws. */
  run(): void;
}

/** How a context behaves, for as long as it is open. */
export interface ContextOptions {
  /** Whether a second stream waits by itself for a buffer's use on the first; true by default. */
  readonly ordersStreams?: boolean | undefined;
}

const CONTEXT_OPTIONS = new OptionSet<ContextOptions>({ ordersStreams: FLAG });

const contexts = new WeakMap<Driver, Map<number, Context>>();

/** The primary context of one device, shared by everything in this process that uses the device. */
export class Context {
  /** The checked driver. */
  readonly driver: Driver;
  /** Which device, counted from 0. */
  readonly ordinal: number;
  /** The driver's handle of the device. */
  readonly deviceHandle: number;
  /** The driver's handle of the context. */
  readonly handle: bigint;
  /** The stream that everything uses unless told otherwise; it does not block on the legacy stream. */
  readonly defaultStreamHandle: bigint;
  /**
   * What lives here.
   *
   * @internal
   */
  readonly ledger: Ledger = new Ledger();
  /** The device's memory in bytes. */
  readonly totalBytes: number;
  /** Bytes of all copies queued so far. */
  copiedBytes = 0;
  /** Whether a second stream waits by itself for a buffer's use on the first. */
  readonly ordersStreams: boolean;
  /** Whether a stream of it is being captured: deferred work would be recorded, so it waits. */
  isCapturing = false;

  #references = 1;
  readonly #current = new BigUint64Array(1);
  readonly #deferred = new Set<DeferredWork>();
  readonly #releaseHooks: (() => void)[] = [];

  private constructor(driver: Driver, ordinal: number, { ordersStreams = true }: ContextOptions) {
    this.driver = driver;
    this.ordinal = ordinal;
    this.ordersStreams = ordersStreams;
    const number = new Int32Array(1);
    driver.call("cuDeviceGet", number, ordinal);
    this.deviceHandle = number[0] ?? 0;
    const cell = new BigUint64Array(1);
    driver.call("cuDeviceTotalMem_v2", cell, this.deviceHandle);
    this.totalBytes = Number(cell[0]);
    driver.call("cuDevicePrimaryCtxRetain", cell, this.deviceHandle);
    this.handle = cell[0] ?? 0n;
    try {
      this.#adoptThread();
      this.call("cuStreamCreateWithPriority", cell, CUstream_flags.CU_STREAM_NON_BLOCKING, 0);
      this.defaultStreamHandle = cell[0] ?? 0n;
    } catch (error) {
      this.#leaveThread();
      driver.status("cuDevicePrimaryCtxRelease_v2", this.deviceHandle);
      throw error;
    }
  }

  /**
   * Checks a device's number before anything is opened.
   *
   * @throws TypeError when it is none, such as options without a number before them.
   */
  static checkOrdinal(ordinal: number): void {
    if (typeof ordinal === "number") return;
    throw new TypeError(
      `Cannot open device ${describeValue(ordinal)}: expected a number, and options ` +
        `after it, as in CudaDevice.open(0, { driver: "auto" })`,
    );
  }

  /**
   * Retains the context of a device; each call needs one {@link Context.release}.
   *
   * @throws RangeError when there is no such device.
   * @throws TypeError when it is open already with other options.
   */
  static retain(driver: Driver, ordinal: number, options: ContextOptions = {}): Context {
    CONTEXT_OPTIONS.read(options, "retain");
    if (!Number.isInteger(ordinal) || ordinal < 0 || ordinal >= driver.deviceCount) {
      throw new RangeError(
        `Cannot open device ${ordinal}: this machine has ${driver.deviceCount} ` +
          `(0 to ${driver.deviceCount - 1})`,
      );
    }
    const known = contexts.get(driver) ?? new Map<number, Context>();
    contexts.set(driver, known);
    const context = known.get(ordinal);
    if (context !== undefined) return context.#check(options).retain();
    const made = new Context(driver, ordinal, options);
    known.set(ordinal, made);
    return made;
  }

  /** Whether the last user let it go. */
  get released(): boolean {
    return this.#references === 0;
  }

  /** Keeps the context for one more user. */
  retain(): this {
    this.#references++;
    return this;
  }

  /** Lets one user go; with the last one the primary context itself is released. */
  release(): void {
    if (--this.#references > 0) return;
    contexts.get(this.driver)?.delete(this.ordinal);
    this.status("cuCtxSynchronize");
    this.sweep();
    for (const hook of this.#releaseHooks) hook();
    this.status("cuStreamDestroy_v2", this.defaultStreamHandle);
    this.#leaveThread();
    this.driver.status("cuDevicePrimaryCtxRelease_v2", this.deviceHandle);
  }

  /** Calls a driver function with this context current, and throws what its status says. */
  call<K extends DriverFunction>(name: K, ...args: DriverArguments<K>): void {
    const status = this.status(name, ...args);
    if (status !== CUresult.CUDA_SUCCESS) throw this.driver.error(status, name);
  }

  /** Calls a driver function with this context current, and returns its status. */
  status<K extends DriverFunction>(name: K, ...args: DriverArguments<K>): number {
    const { driver } = this;
    driver.api.cuCtxGetCurrent(this.#current);
    if (this.#current[0] === this.handle) return driver.status(name, ...args);
    driver.call("cuCtxPushCurrent_v2", this.handle);
    try {
      return driver.status(name, ...args);
    } finally {
      driver.call("cuCtxPopCurrent_v2", this.#current);
    }
  }

  /**
   * Answers a call that was made without making this context current first: throws what its status
   * says, unless another device's context was current. The driver then refuses pool memory and has
   * done nothing, so the call is made again with this context. Costs a comparison when all is well.
   */
  settle<K extends DriverFunction>(
    status: number,
    name: K,
    ...args: DriverArguments<K>
  ): void {
    if (status === CUresult.CUDA_SUCCESS) return;
    this.driver.api.cuCtxGetCurrent(this.#current);
    if (this.#current[0] === this.handle) throw this.driver.error(status, name);
    this.call(name, ...args);
  }

  /** Reads one attribute of the device; 0 when this driver does not know it. */
  attribute(name: DeviceAttribute): number {
    const cell = new Int32Array(1);
    const status = this.driver.status(
      "cuDeviceGetAttribute",
      cell,
      CUdevice_attribute[name],
      this.deviceHandle,
    );
    return status === CUresult.CUDA_SUCCESS ? cell[0] ?? 0 : 0;
  }

  /** Reads what the device has free, for all programs together, in bytes. */
  freeBytes(): number {
    const free = new BigUint64Array(1);
    this.call("cuMemGetInfo_v2", free, new BigUint64Array(1));
    return Number(free[0]);
  }

  /** Counts a copy that was queued, and notes it in the timeline. */
  noteCopy(byteLength: number, ends: CopyEnds): void {
    this.copiedBytes += byteLength;
    this.ledger.noteCopy(byteLength, ends);
  }

  /** Runs `hook` when the last user lets the context go, while it can still be used. */
  atRelease(hook: () => void): void {
    this.#releaseHooks.push(hook);
  }

  /** Keeps work for when the GPU has passed a point; it runs at a later allocation or release. */
  defer(work: DeferredWork): void {
    this.#deferred.add(work);
  }

  /** Runs the deferred work that is due. */
  sweep(): void {
    if (this.#deferred.size === 0 || this.isCapturing) return;
    for (const work of this.#deferred) {
      if (!work.isDue()) continue;
      this.#deferred.delete(work);
      work.run();
    }
  }

  /** Names the context: `Context(device 0)`. */
  toString(): string {
    return `Context(device ${this.ordinal})`;
  }

  /** Shows the context on a console: whatever belongs to it, such as a resource, shows it too. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }

  #check({ ordersStreams = this.ordersStreams }: ContextOptions): this {
    if (ordersStreams === this.ordersStreams) return this;
    throw new TypeError(
      `Cannot open device ${this.ordinal} with ${
        orderName(ordersStreams)
      } order: it is open with ` +
        `${orderName(this.ordersStreams)} order, dispose all that was made on it first`,
    );
  }

  /** Stays current on this thread when nothing else is, so that later calls need no switch. */
  #adoptThread(): void {
    this.driver.api.cuCtxGetCurrent(this.#current);
    if (this.#current[0] === 0n) this.driver.call("cuCtxSetCurrent", this.handle);
  }

  #leaveThread(): void {
    this.driver.api.cuCtxGetCurrent(this.#current);
    if (this.#current[0] === this.handle) this.driver.status("cuCtxSetCurrent", 0n);
  }
}

function orderName(ordersStreams: boolean): string {
  return ordersStreams ? "automatic" : "manual";
}
