// Memory that a graph allocates for itself: each launch has it to itself while it runs.

import { take64 } from "../driver/driver.ts";
import { BaseMemoryResource, requireBytes } from "../memory/base_memory_resource.ts";
import type { ContextOwner } from "../memory/memory_resource.ts";
import { isCaptured } from "../order/capture.ts";
import { type CudaStream, queueOf } from "../order/stream.ts";
import { GraphMemory } from "./graph_memory.ts";

/**
 * Memory whose allocation and free are steps of a graph, for streams that are being captured. Device
 * buffers made on such streams use it by themselves. All resources of one device show the same
 * memory.
 */
export class GraphMemoryResource extends BaseMemoryResource {
  /** Makes a resource for the graph memory of a device. */
  constructor(owner: ContextOwner) {
    super(owner);
  }

  /**
   * Records an allocation; the address is known now, the memory is allocated by a launch
   * (cuMemAllocAsync).
   *
   * @throws TypeError on a stream that is not being captured.
   */
  allocate(byteLength: number, stream: CudaStream): bigint {
    requireBytes(byteLength);
    if (!isCaptured(stream)) {
      throw new TypeError(
        `Cannot allocate graph memory on ${stream}: it is not being captured; use another resource`,
      );
    }
    return take64(this.context, "cuMemAllocAsync", BigInt(byteLength), queueOf(stream).handle);
  }

  /** Records a free, or frees memory that a launch has left allocated (cuMemFreeAsync). */
  deallocate(address: bigint, _byteLength: number, stream: CudaStream): void {
    this.context.giveBack("cuMemFreeAsync", address, queueOf(stream).handle);
    this.#memory.trimAfter(stream);
  }

  /** Bytes that graphs hold since a launch, until they are trimmed. */
  get usedBytes(): number {
    return this.#memory.read("used");
  }

  /** The most bytes that graphs held at once. */
  get peakUsedBytes(): number {
    return this.#memory.read("peakUsed");
  }

  /** Bytes taken from the device for graphs. */
  get reservedBytes(): number {
    return this.#memory.read("reserved");
  }

  /** The most bytes that were taken from the device at once. */
  get peakReservedBytes(): number {
    return this.#memory.read("peakReserved");
  }

  /** Resets both peaks to the bytes that are used and reserved now. */
  resetPeaks(): void {
    this.#memory.resetPeaks();
  }

  /** Gives back the memory that no launch and no buffer uses; a later launch takes it again. */
  trim(): void {
    this.#memory.trim();
  }

  get #memory(): GraphMemory {
    return GraphMemory.of(this.context);
  }
}
