// A point in a stream for the kit's own use: an event without times and without an owner.

import { CUevent_flags, CUresult } from "../../ffi/constants.ts";
import type { Context } from "../driver/context.ts";
import { take64 } from "../driver/driver.ts";
import { tryRelease } from "../driver/release.ts";
import { finished } from "../words/finished.ts";

/** A point in a stream that is recorded, and that other streams wait for. */
export abstract class Mark {
  protected readonly context: Context;

  constructor(context: Context) {
    this.context = context;
  }

  abstract get handle(): bigint;

  /** Moves it to the end of a stream's queue (cuEventRecord). */
  set(streamHandle: bigint): void {
    this.context.driver.call("cuEventRecord", this.handle, streamHandle);
  }

  /** Makes a stream's later work wait for it (cuStreamWaitEvent). */
  hold(streamHandle: bigint): void {
    this.context.driver.call("cuStreamWaitEvent", streamHandle, this.handle, 0);
  }

  /** Waits on another thread until the GPU has passed it (cuEventSynchronize). */
  async waitElsewhere(): Promise<void> {
    const { driver } = this.context;
    const status = await driver.api.cuEventSynchronizeNonblocking(this.handle);
    if (status !== CUresult.CUDA_SUCCESS) throw driver.error(status, "cuEventSynchronize");
  }

  /** Returns whether the GPU has passed it; throws earlier work's error (cuEventQuery). */
  poll(): boolean {
    const { driver } = this.context;
    const status = driver.status("cuEventQuery", this.handle);
    if (status === CUresult.CUDA_ERROR_NOT_READY) return false;
    if (status !== CUresult.CUDA_SUCCESS) throw driver.error(status, "cuEventQuery");
    return true;
  }
}

/** An event for the kit's own use; it is never in the ledger. */
export class Fence extends Mark {
  readonly handle: bigint;
  #holderCount = 1;

  /** Creates an event that counts as passed until it is set (cuEventCreate). */
  constructor(context: Context) {
    super(context);
    this.handle = take64(context, "cuEventCreate", CUevent_flags.CU_EVENT_DISABLE_TIMING);
  }

  /** Creates a fence at the end of a stream's queue; a failure leaves nothing behind. */
  static behind(context: Context, streamHandle: bigint): Fence {
    return finished(new Fence(context), (fence) => fence.set(streamHandle));
  }

  /**
   * Tells whether the GPU has passed the fence (cuEventQuery). When the query fails, this waits for the
   * fence; afterwards it is passed, even if the work before it failed.
   */
  get isPassed(): boolean {
    const { driver } = this.context;
    const status = driver.status("cuEventQuery", this.handle);
    if (status === CUresult.CUDA_ERROR_NOT_READY) return false;
    if (status !== CUresult.CUDA_SUCCESS) driver.status("cuEventSynchronize", this.handle);
    return true;
  }

  /**
   * Tells whether the GPU has passed the fence, for a caller that writes what the work before it uses: throws
   * when the GPU can neither be asked nor waited for.
   */
  get isSurelyPassed(): boolean {
    const status = this.context.driver.status("cuEventQuery", this.handle);
    if (status === CUresult.CUDA_ERROR_NOT_READY) return false;
    if (status !== CUresult.CUDA_SUCCESS) this.waitSync();
    return true;
  }

  /** Blocks until the GPU has passed the fence (cuEventSynchronize). */
  waitSync(): void {
    this.context.driver.call("cuEventSynchronize", this.handle);
  }

  override async waitElsewhere(): Promise<void> {
    this.#holderCount++;
    await super.waitElsewhere().finally(() => this.dispose());
  }

  /** Destroys the event once no thread waits for it; work that does still waits. A failure is reported. */
  dispose(): void {
    if (--this.#holderCount > 0) return;
    const context = this.context;
    const destroy = () => context.giveBack("cuEventDestroy_v2", this.handle);
    tryRelease(context.driver, "a fence", destroy);
  }
}
