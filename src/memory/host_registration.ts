// Page-locks memory that JavaScript owns, so that the GPU copies it at the speed of the bus. The
// memory stays referenced until the driver has unlocked it.

import { CU_MEMHOSTREGISTER, CUresult } from "../../ffi/constants.ts";
import { pageBytes } from "../../ffi/host.ts";
import type { Context } from "../driver/context.ts";
import { take64 } from "../driver/driver.ts";
import { tryRelease } from "../driver/release.ts";
import { CudaError, CudaUnavailableError } from "../words/errors.ts";
import { formatBytes } from "../words/format.ts";
import { BaseMemoryResource } from "./base_memory_resource.ts";
import { ownedParts } from "./host_bytes.ts";
import { addressOf } from "./host_memory.ts";
import type { ContextOwner } from "./memory_resource.ts";

/** Options for page-locking existing memory. */
export interface RegistrationOptions {
  /** All devices can use it; true by default. */
  readonly portable?: boolean | undefined;
  /**
   * The GPU may only read it; false by default. The kit then refuses writes, and so does
   * the driver where it supports that.
   */
  readonly readOnly?: boolean | undefined;
}

const ALREADY_REGISTERED = CUresult.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;

/** Page-locks one array, and gives it as a block (cuMemHostRegister). */
export class HostRegistration extends BaseMemoryResource {
  readonly isReadOnly: boolean;
  /** The memory; while this object is reachable, it is not collected. */
  readonly bytes: Uint8Array<ArrayBufferLike>;
  readonly #isPortable: boolean;
  readonly #hostAddress: bigint;
  /** The address that the driver was given: the memory's own, or that of its first page. */
  #registeredAddress = 0n;

  /**
   * Prepares to register `bytes`.
   *
   * @throws CudaUnavailableError when the device cannot use registered memory.
   * @ignore
   */
  constructor(
    owner: ContextOwner,
    bytes: Uint8Array<ArrayBufferLike>,
    { portable = true, readOnly = false }: RegistrationOptions,
  ) {
    super(owner, { isHostAccessible: true });
    this.bytes = bytes;
    this.isReadOnly = readOnly;
    this.#isPortable = portable;
    this.#hostAddress = addressOf(bytes);
    if (this.context.attribute("CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED") === 1) return;
    throw new CudaUnavailableError(
      "not-supported",
      `Cannot page-lock an array: device ${this.context.ordinal} does not support it; ` +
        `copy it into a pinned buffer`,
    );
  }

  /**
   * Page-locks the memory and returns the device's address of its first byte. Blocks until the GPU is
   * done with a former registration that was disposed.
   *
   * @throws CudaError when a part of it is registered already.
   */
  allocate(byteLength: number): bigint {
    const { context } = this;
    let status = this.#register(byteLength);
    if (status === ALREADY_REGISTERED && this.#waitForFormer()) status = this.#register(byteLength);
    if (status === ALREADY_REGISTERED) {
      throw alreadyRegistered(byteLength, { isLeaving: this.#formerContexts.length > 0 });
    }
    if (status !== CUresult.CUDA_SUCCESS) {
      throw context.driver.error(status, "cuMemHostRegister_v2");
    }
    const start = this.#registeredAddress;
    try {
      const address = take64(context, "cuMemHostGetDevicePointer_v2", start, 0);
      return address + this.#hostAddress - start;
    } catch (error) {
      const unregister = () => context.giveBack("cuMemHostUnregister", start);
      tryRelease(context.driver, `${formatBytes(byteLength)} of registered memory`, unregister);
      throw error;
    }
  }

  /** Unlocks the pages at once; the caller has made sure that no queued work still needs them. */
  deallocate(): void {
    this.context.giveBack("cuMemHostUnregister", this.#registeredAddress);
  }

  /** The contexts of registrations of this memory that were disposed but are still in use. */
  get #formerContexts(): Context[] {
    const former = ownedParts(this.bytes).filter(({ allocation }) => allocation.released);
    return former.map(({ allocation }) => allocation.context);
  }

  /** Blocks until the GPU is done with disposed registrations; false when there are none. */
  #waitForFormer(): boolean {
    const contexts = new Set([this.context, ...this.#formerContexts]);
    const waiting = [...contexts].filter(({ deferred }) => deferred.works.size > 0);
    for (const context of waiting) context.waitForAll();
    return waiting.length > 0;
  }

  /** Registers the bytes themselves, or all of their pages: some systems register whole pages only. */
  #register(byteLength: number): number {
    const address = this.#hostAddress;
    const exact = { start: address, end: address + BigInt(byteLength) };
    const status = this.#registerRange(exact);
    if (status !== CUresult.CUDA_ERROR_INVALID_VALUE) return status;
    return this.#registerRange({
      start: pageFloor(exact.start),
      end: pageFloor(exact.end + BigInt(pageBytes()) - 1n),
    });
  }

  #registerRange({ start, end }: { start: bigint; end: bigint }): number {
    this.#registeredAddress = start;
    return this.context.status("cuMemHostRegister_v2", start, end - start, this.#flags);
  }

  get #flags(): number {
    const { PORTABLE, DEVICEMAP, READ_ONLY } = CU_MEMHOSTREGISTER;
    const tellsDriver = this.isReadOnly &&
      this.context.attribute("CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED") === 1;
    return DEVICEMAP | (this.#isPortable ? PORTABLE : 0) | (tellsDriver ? READ_ONLY : 0);
  }
}

function pageFloor(address: bigint): bigint {
  return address - address % BigInt(pageBytes());
}

function alreadyRegistered(byteLength: number, { isLeaving }: { isLeaving: boolean }): CudaError {
  const why = isLeaving
    ? "a transfer or a graph still uses a registration of it that was disposed; await the transfer, " +
      "or dispose the graph, first"
    : "a part of its memory is registered already; register the whole array once and use views of it";
  return new CudaError(`Cannot page-lock an array of ${formatBytes(byteLength)}: ${why}`, {
    code: ALREADY_REGISTERED,
    call: "cuMemHostRegister_v2",
  });
}
