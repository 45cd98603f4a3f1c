// Device memory whose addresses are reserved before its memory, so that blocks can grow in place.

import type { CudaStream } from "../order/stream.ts";
import { CudaUnavailableError } from "../words/errors.ts";
import { checkSize } from "../words/format.ts";
import { NUMBER, OptionSet } from "../words/options.ts";
import { BaseMemoryResource, requireBytes } from "./base_memory_resource.ts";
import type { ContextOwner } from "./memory_resource.ts";
import { hasVirtualMemory, takeRange } from "./virtual_memory.ts";
import { VirtualRange, type VirtualRangeRequest } from "./virtual_range.ts";
import { freeWhenPassed } from "./when_passed.ts";

const VIRTUAL_RANGE = new OptionSet<VirtualRangeRequest>({
  reservedBytes: NUMBER,
  stepBytes: NUMBER,
});

/** Virtual memory of a device (cuMemAddressReserve, cuMemCreate, cuMemMap). */
export class VirtualMemoryResource extends BaseMemoryResource {
  readonly #ranges = new Map<bigint, VirtualRange>();

  /**
   * Takes memory from a device.
   *
   * @throws CudaUnavailableError when the device or its driver has no virtual memory calls.
   */
  constructor(owner: ContextOwner) {
    super(owner);
    const { context } = this;
    if (hasVirtualMemory(context)) return;
    throw new CudaUnavailableError(
      "not-supported",
      `Cannot use virtual memory on device ${context.ordinal}: the device or its driver does not ` +
        `support it; use a device buffer`,
    );
  }

  /** Reserves addresses and maps memory at all of them, without waiting for the stream. */
  allocate(byteLength: number): bigint {
    requireBytes(byteLength);
    const range = this.reserve({ reservedBytes: byteLength, stepBytes: byteLength });
    try {
      range.mapTo(byteLength);
      return range.address;
    } catch (error) {
      this.#ranges.delete(range.address);
      range.free();
      throw error;
    }
  }

  /**
   * @ignore Reserves addresses that get memory later; {@link VirtualMemoryResource.deallocate}
   * frees them.
   */
  reserve(request: VirtualRangeRequest): VirtualRange {
    request = VIRTUAL_RANGE.read(request, "reserve");
    checkSize(request.reservedBytes, "reserved bytes");
    if (request.stepBytes !== undefined) checkSize(request.stepBytes, "step");
    const range = new VirtualRange(this.context, request);
    this.#ranges.set(range.address, range);
    return range;
  }

  /** Gives memory and addresses back once the work queued on `stream` is done. */
  deallocate(address: bigint, _byteLength: number, stream: CudaStream): void {
    const range = takeRange(this.#ranges, address);
    const block = { kind: "virtual", byteLength: range.mappedBytes } as const;
    freeWhenPassed(stream, block, () => range.free());
  }
}
