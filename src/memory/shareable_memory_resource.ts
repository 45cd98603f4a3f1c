// Device memory that other processes can open, by whichever handle the device supports.

import { roundUp } from "../../ffi/alignment.ts";
import { CUmemAllocationHandleType } from "../../ffi/constants.ts";
import type { Context } from "../driver/context.ts";
import type { CudaStream } from "../order/stream.ts";
import { CudaUnavailableError } from "../words/errors.ts";
import { requireBytes } from "./base_memory_resource.ts";
import { CudaAsyncMemoryResource } from "./cuda_async_memory_resource.ts";
import { CudaMemoryResource } from "./cuda_memory_resource.ts";
import { contextOf, type ContextOwner, type MemoryResource } from "./memory_resource.ts";
import { ResourceAdaptor } from "./resource_adaptor.ts";

/** The driver puts small blocks into one of this size, all of which whoever opens one maps. */
const WHOLE_BYTES = 2 * 2 ** 20;

/**
 * Device memory for `buffer.share()`: a CudaMemoryResource, or a pool with file descriptors where
 * the device shares only pools. Sizes are rounded up to 2 MiB, so that a process which opens one
 * buffer cannot reach another.
 */
export class ShareableMemoryResource extends ResourceAdaptor implements Disposable {
  /**
   * Finds the kind of handle that the device supports.
   *
   * @throws CudaUnavailableError when it supports none.
   */
  constructor(owner: ContextOwner) {
    super(upstreamFor(contextOf(owner, "make a ShareableMemoryResource of")));
  }

  /**
   * @ignore Makes the resource that a device keeps for itself; its pool is not listed among the
   * live objects.
   */
  static unlisted(owner: ContextOwner): ShareableMemoryResource {
    const resource = new ShareableMemoryResource(owner);
    if (resource.upstream instanceof CudaAsyncMemoryResource) resource.upstream.unlist();
    return resource;
  }

  /** Allocates whole steps of 2 MiB. */
  allocate(byteLength: number, stream: CudaStream): bigint {
    requireBytes(byteLength);
    return this.upstream.allocate(roundUp(byteLength, WHOLE_BYTES), stream);
  }

  /** Frees the memory. */
  deallocate(address: bigint, byteLength: number, stream: CudaStream): void {
    this.upstream.deallocate(address, roundUp(byteLength, WHOLE_BYTES), stream);
  }

  /** Tells whether it was disposed; never true without a pool. */
  get disposed(): boolean {
    const { upstream } = this;
    return upstream instanceof CudaAsyncMemoryResource && upstream.disposed;
  }

  /** Ends the pool, if there is one; its buffers stay valid. */
  dispose(): void {
    const { upstream } = this;
    if (upstream instanceof CudaAsyncMemoryResource) upstream.dispose();
  }

  /** Same as {@link ShareableMemoryResource.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}

function upstreamFor(context: Context): MemoryResource {
  if (context.attribute("CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED") === 1) {
    return new CudaMemoryResource({ context });
  }
  const { CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR } = CUmemAllocationHandleType;
  const types = context.attribute("CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES");
  if ((types & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) !== 0) {
    return new CudaAsyncMemoryResource({ context }, { handleType: "fileDescriptor" });
  }
  throw new CudaUnavailableError(
    "not-supported",
    `Cannot allocate memory for other processes on device ${context.ordinal}: its driver has no ` +
      `handles for them`,
  );
}
