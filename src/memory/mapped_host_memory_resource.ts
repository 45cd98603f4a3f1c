// Page-locked host memory that the GPU reads and writes in place, over the bus, without a copy.

import { CU_MEMHOSTALLOC } from "../../ffi/constants.ts";
import { take64 } from "../driver/driver.ts";
import { tryRelease } from "../driver/release.ts";
import { CudaUnavailableError } from "../words/errors.ts";
import { formatBytes } from "../words/format.ts";
import { FLAG, OptionSet } from "../words/options.ts";
import type { ContextOwner } from "./memory_resource.ts";
import { PinnedHostMemoryResource } from "./pinned_host_memory_resource.ts";

/** Options of mapped host memory. */
export interface MappedMemoryOptions {
  /** All devices can use it; true by default. */
  readonly portable?: boolean | undefined;
  /**
   * The CPU bypasses its caches: writing in order is fast and the GPU reads it faster, but
   * the CPU reads it many times slower; false by default.
   */
  readonly writeCombined?: boolean | undefined;
}

const MAPPED_OPTIONS = new OptionSet<MappedMemoryOptions>({ portable: FLAG, writeCombined: FLAG });

/** Host memory at the device addresses that name its blocks (cuMemHostAlloc). */
export class MappedHostMemoryResource extends PinnedHostMemoryResource {
  /** All devices can use it. */
  readonly isPortable: boolean;
  /** The CPU bypasses its caches. */
  readonly isWriteCombined: boolean;
  /** By device address: they differ for write-combined memory, and without unified addresses. */
  readonly #hostAddresses = new Map<bigint, bigint>();

  /**
   * Takes memory through a device's context.
   *
   * @throws CudaUnavailableError when the device cannot use host memory in place.
   */
  constructor(owner: ContextOwner, options: MappedMemoryOptions = {}) {
    options = MAPPED_OPTIONS.read(options, "new MappedHostMemoryResource");
    const { portable = true, writeCombined = false } = options;
    const { PORTABLE, DEVICEMAP, WRITECOMBINED } = CU_MEMHOSTALLOC;
    super(owner, DEVICEMAP | (portable ? PORTABLE : 0) | (writeCombined ? WRITECOMBINED : 0));
    this.isPortable = portable;
    this.isWriteCombined = writeCombined;
    if (this.context.attribute("CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY") === 1) return;
    throw new CudaUnavailableError(
      "not-supported",
      `Cannot map host memory on device ${this.context.ordinal}: the device cannot use it in ` +
        `place; use a pinned or staged buffer`,
    );
  }

  /** Allocates at once; returns the address (cuMemHostAlloc, cuMemHostGetDevicePointer). */
  override allocate(byteLength: number): bigint {
    const { context } = this;
    const hostAddress = super.allocate(byteLength);
    try {
      const address = take64(context, "cuMemHostGetDevicePointer_v2", hostAddress, 0);
      this.#hostAddresses.set(address, hostAddress);
      return address;
    } catch (error) {
      const what = `${formatBytes(byteLength)} of mapped memory`;
      tryRelease(context.driver, what, () => super.deallocate(hostAddress));
      throw error;
    }
  }

  /** Frees at once; the caller has made sure that no queued work still needs the memory. */
  override deallocate(address: bigint): void {
    const hostAddress = this.hostAddress(address);
    this.#hostAddresses.delete(address);
    super.deallocate(hostAddress);
  }

  /** Returns the CPU's address of a block. */
  hostAddress(address: bigint): bigint {
    return this.#hostAddresses.get(address) ?? address;
  }
}
