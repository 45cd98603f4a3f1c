// A block that a graph allocates: recorded as a step, allocated by a launch, and freed by another
// step or, when it outlives the capture, after a launch. Until it is allocated it holds no bytes.

import { nameOf } from "../accounting/ledger.ts";
import { Allocation, type AllocationRequest } from "../memory/allocation.ts";
import { type CapturedMemory, capturedMemory, type GraphBlock } from "../memory/captured_memory.ts";
import { CudaAsyncMemoryResource } from "../memory/cuda_async_memory_resource.ts";
import { takeOrReclaim } from "../memory/out_of_memory.ts";
import type { Access } from "../memory/stream_usage.ts";
import type { CudaStream } from "../order/stream.ts";
import { CudaUnavailableError } from "../words/errors.ts";
import { classNameOf } from "../words/format.ts";
import { GraphMemory } from "./graph_memory.ts";
import { GraphMemoryResource } from "./graph_memory_resource.ts";

/** The state of a block's memory: before, after or without a launch. */
type Presence = "to come" | "there" | "never";

/** A block of memory of a graph. */
export class GraphAllocation extends Allocation implements GraphBlock {
  readonly requestedBytes: number;
  #presence: Presence = "to come";
  #isFreedInGraph = false;
  /** Bytes that count as held: 0 when the buffer was disposed before a launch. */
  #heldBytes = 0;

  private constructor(request: AllocationRequest, address: bigint) {
    super({ ...request, byteLength: 0 }, address);
    this.requestedBytes = request.byteLength;
  }

  /**
   * Records an allocation.
   *
   * @throws TypeError when the memory should come from another resource.
   * @throws CudaUnavailableError when the device has no memory pools.
   * @throws OutOfMemoryError when the device has too little memory.
   */
  static record(request: AllocationRequest, captured: CapturedMemory): GraphAllocation {
    const { resource, byteLength, stream, kind } = request;
    const { context } = stream;
    if (!(resource instanceof GraphMemoryResource) || resource.context !== context) {
      throw new TypeError(
        `Cannot allocate from ${classNameOf(resource)} of device ${resource.context.ordinal} ` +
          `on ${stream} in a capture: name no resource, or a GraphMemoryResource of its device`,
      );
    }
    if (!CudaAsyncMemoryResource.isSupported({ context })) {
      throw new CudaUnavailableError(
        "driver-too-old",
        `Cannot allocate in a capture on device ${context.ordinal}: it has no memory pools; ` +
          `allocate before the capture`,
      );
    }
    const take = () => resource.allocate(byteLength, stream);
    const address = byteLength === 0 ? 0n : takeOrReclaim({ context, kind, byteLength }, take);
    const made = new GraphAllocation(request, address);
    captured.addMade(made, stream);
    return made;
  }

  get isFreedInGraph(): boolean {
    return this.#isFreedInGraph;
  }

  get isThere(): boolean {
    return this.#presence === "there";
  }

  arrive(): void {
    if (this.isThere) return;
    this.#presence = "there";
    this.place({ address: this.address, byteLength: this.requestedBytes });
    this.#heldBytes = this.released ? 0 : this.requestedBytes;
    GraphMemory.of(this.context).heldBytes += this.#heldBytes;
  }

  giveUp(): void {
    if (!this.isThere) this.#presence = "never";
  }

  /** Returns whether a use needs no check: never before its memory is allocated. */
  override isInOrder(stream: CudaStream, access: Access): boolean {
    return this.isThere && super.isInOrder(stream, access);
  }

  /**
   * Checks that a call may use the block later: when its memory is allocated, or a launch is under
   * way.
   *
   * @throws TypeError when its memory will not be allocated.
   */
  override checkUse(access: Access): void {
    if (!this.isThere && !this.usage.hasPending) throw this.#absent("use");
    super.checkUse(access);
  }

  /**
   * Makes `stream` wait for the uses of the block by other streams.
   *
   * @throws TypeError while its memory is not allocated: before a launch, and outside of the
   *   capture.
   * @throws Error that the launch failed with, if that had to wait for its turn.
   */
  override order(stream: CudaStream, access: Access): void {
    if (!this.isThere && !this.#isRecordedBy(stream)) {
      this.usage.untoldFailure()?.tell();
      throw this.#absent("use");
    }
    super.order(stream, access);
  }

  /**
   * Gives the address away without freeing it.
   *
   * @throws TypeError while its memory is not allocated, and while a transfer or a graph uses it.
   */
  override giveAway(): bigint {
    if (!this.isThere) throw this.#absent("release");
    const address = super.giveAway();
    GraphMemory.of(this.context).heldBytes -= this.#heldBytes;
    return address;
  }

  /** Records the free inside the capture; afterwards there is memory to free only after a launch. */
  protected override deallocate(stream: CudaStream): void {
    if (capturedMemory()?.usageWithin(this) !== undefined) {
      super.deallocate(stream);
      this.#isFreedInGraph = true;
    } else if (this.isThere) {
      GraphMemory.of(this.context).heldBytes -= this.#heldBytes;
      super.deallocate(stream);
    }
  }

  #isRecordedBy(stream: CudaStream): boolean {
    const captured = capturedMemory();
    return captured?.usageWithin(this) !== undefined && captured.records(this, stream);
  }

  #absent(action: string): TypeError {
    if (this.#presence === "never") {
      return new TypeError(
        `Cannot ${action} ${nameOf(this)}: its graph was disposed before a launch`,
      );
    }
    const isRecorded = capturedMemory()?.usageWithin(this) !== undefined;
    return new TypeError(
      isRecorded
        ? `Cannot ${action} ${nameOf(this)} here: it belongs to the graph that is being ` +
          `captured, let the stream wait for a captured one first`
        : `Cannot ${action} ${nameOf(this)}: its memory comes with its graph; launch the graph ` +
          `first`,
    );
  }
}
