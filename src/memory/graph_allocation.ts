// A block that a graph allocates: recorded as a step, there after a launch, and freed as a step too
// or, when it outlives the capture, after a launch.

import { nameOf } from "../accounting/ledger.ts";
import type { CudaStream } from "../stream.ts";
import { Allocation } from "./allocation.ts";
import type { AllocationRequest } from "./allocation_request.ts";
import { type CapturedMemory, capturedMemory, type GraphBlock } from "./captured_memory.ts";
import { GraphMemory } from "./graph_memory.ts";
import { GraphMemoryResource } from "./graph_memory_resource.ts";
import { takeWithinLimits } from "./out_of_memory.ts";
import type { Access } from "./stream_usage.ts";

/** A block of memory of a graph. */
export class GraphAllocation extends Allocation implements GraphBlock {
  #isThere = false;

  /**
   * Records an allocation.
   *
   * @throws TypeError when the memory is to come from elsewhere.
   * @throws OutOfMemoryError when the device has not that much.
   */
  static record(request: AllocationRequest, captured: CapturedMemory): GraphAllocation {
    const { resource, byteLength, stream, kind } = request;
    if (!(resource instanceof GraphMemoryResource)) {
      throw new TypeError(
        `Cannot allocate from ${resource.constructor.name} on ${stream} while it is being ` +
          `captured: name no resource, or a GraphMemoryResource`,
      );
    }
    const need = { context: stream.context, kind, byteLength, isDeviceOnly: true };
    const take = () => resource.allocate(byteLength, stream);
    const address = byteLength === 0 ? 0n : takeWithinLimits(need, take);
    const made = new GraphAllocation(request, address);
    captured.add(made, stream);
    return made;
  }

  /** Notes that a launch has given it memory. */
  arrive(): void {
    if (this.#isThere) return;
    this.#isThere = true;
    GraphMemory.of(this.context).hold(this.byteLength);
  }

  /**
   * Makes `stream` wait for what other streams do with the block.
   *
   * @throws TypeError outside of the capture before a launch: there is no memory yet.
   */
  override order(stream: CudaStream, access: Access): void {
    if (!this.#isThere && capturedMemory()?.usageOfMade(this) === undefined) {
      throw new TypeError(
        `Cannot use ${nameOf(this)}: its memory comes with its graph, launch that first`,
      );
    }
    super.order(stream, access);
  }

  /** Records the free inside the capture; afterwards there is only something to free after a launch. */
  protected override deallocate(stream: CudaStream): void {
    const isRecorded = capturedMemory()?.usageOfMade(this) !== undefined;
    if (!isRecorded && !this.#isThere) return;
    super.deallocate(stream);
    if (!this.#isThere) return;
    this.#isThere = false;
    GraphMemory.of(this.context).letGo(this.byteLength, stream);
  }
}
