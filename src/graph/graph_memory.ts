// The memory that a device keeps for the allocations of its graphs: taken by a launch, and kept
// afterwards. It counts as a cache of the device, and goes back with the last graph.

import { roundUp } from "../../ffi/alignment.ts";
import { CUgraphMem_attribute, CUresult } from "../../ffi/constants.ts";
import type { MemoryCache } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { read64 } from "../driver/driver.ts";
import { tryRelease } from "../driver/release.ts";
import { isPostponed } from "../memory/captured_memory.ts";
import { orderedAfter } from "../memory/when_passed.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";

/** The amounts of graph memory that the driver reports. */
export type GraphMemoryAmount = "used" | "peakUsed" | "reserved" | "peakReserved";

const ATTRIBUTES = {
  used: CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT,
  peakUsed: CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH,
  reserved: CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
  peakReserved: CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH,
} as const satisfies Record<GraphMemoryAmount, number>;

/** The driver takes graph memory in steps of this, and blocks in steps of the other. */
const STEP_BYTES = 32 * 2 ** 20;
const BLOCK_STEP_BYTES = 2 * 2 ** 20;

/** Most bytes that disposed graphs leave before all unused graph memory is given back. */
const MAX_GONE_BYTES = 128 * 2 ** 20;

const known = new WeakMap<Context, GraphMemory>();

/** The memory of one device's graphs. */
export class GraphMemory implements MemoryCache {
  readonly name = "graph memory";
  readonly kind = "device";
  /** The driver takes it in large steps, so each launch checks the limit for its own part. */
  readonly isUnlimited = true;
  readonly #context: Context;
  /** Number of graphs that can be launched and allocate. */
  graphCount = 0;
  /** Bytes that they gave to buffers, which have not given them away or begun to free them. */
  heldBytes = 0;
  /** Bytes of graphs that were disposed and whose launches are over, since the last trim. */
  #goneBytes = 0;
  /** Number of trims: what a launch has taken is there until the next one. */
  trimCount = 0;

  private constructor(context: Context) {
    this.#context = context;
    context.ledger.caches.add(this);
  }

  static of(context: Context): GraphMemory {
    return known.getOrInsertComputed(context, () => new GraphMemory(context));
  }

  /** Bytes kept in addition to those that buffers hold. */
  get byteLength(): number {
    return Math.max(0, this.read("reserved") - this.heldBytes);
  }

  /** Reads an amount in bytes (cuDeviceGetGraphMemAttribute). */
  read(amount: GraphMemoryAmount): number {
    const { driver, deviceHandle } = this.#context;
    return Number(read64(driver, "cuDeviceGetGraphMemAttribute", deviceHandle, ATTRIBUTES[amount]));
  }

  /** Resets both peaks to what is used and reserved now (cuDeviceSetGraphMemAttribute). */
  resetPeaks(): void {
    const { driver, deviceHandle } = this.#context;
    for (const peak of [ATTRIBUTES.peakUsed, ATTRIBUTES.peakReserved]) {
      driver.call("cuDeviceSetGraphMemAttribute", deviceHandle, peak, new BigUint64Array(1));
    }
  }

  /**
   * Gives back the memory that no launch and no buffer uses; a later launch takes it again
   * (cuDeviceGraphMemTrim).
   */
  trim(): void {
    this.trimCount++;
    this.#context.driver.call("cuDeviceGraphMemTrim", this.#context.deviceHandle);
    this.#goneBytes = 0;
  }

  /**
   * Checks that there is room for what a launch allocates. The driver must not find out: release 580
   * then keeps all that was free as graph memory, and gives it back to nobody.
   *
   * @throws CudaError as a launch without room does.
   */
  requireRoom(sizes: readonly number[]): void {
    const { driver } = this.#context;
    const needed = sizes.reduce((sum, size) => sum + roundUp(size, BLOCK_STEP_BYTES), STEP_BYTES);
    const unusedBytes = this.read("reserved") - this.read("used");
    if (unusedBytes + this.#context.freeBytes() >= needed) return;
    throw driver.error(CUresult.CUDA_ERROR_OUT_OF_MEMORY, "cuGraphLaunch");
  }

  /** Trims behind the work on `stream`, if it pays then; `goneBytes` are those of a graph that it launched last. */
  trimAfter(stream: CudaStream, goneBytes = 0): void {
    if (isPostponed(() => this.trimAfter(stream, goneBytes))) return;
    const { driver } = this.#context;
    const queue = queueOf(orderedAfter(stream));
    queue.noteFreed(Math.max(1, goneBytes));
    queue.afterFrees(() => {
      this.#goneBytes += goneBytes;
      if (this.#isIdle) tryRelease(driver, "memory that graphs keep", () => this.trim());
    });
    tryRelease(driver, "memory that graphs keep", () => queue.noticeFrees());
  }

  /** Tells whether no launch can use the memory again, or so much is unused that trimming pays. */
  get #isIdle(): boolean {
    return (this.graphCount === 0 && this.heldBytes === 0) || this.#goneBytes > MAX_GONE_BYTES;
  }
}
