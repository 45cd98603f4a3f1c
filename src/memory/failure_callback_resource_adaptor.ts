// Lets the program free something when memory runs out, and try again.

import type { CudaError } from "../errors.ts";
import type { CudaStream } from "../stream.ts";
import { allocateFrom, type MemoryResource } from "./memory_resource.ts";
import { takeAgain } from "./out_of_memory.ts";
import { requireFunction, ResourceAdaptor } from "./resource_adaptor.ts";

/**
 * Called with the size that could not be had and the error. Returns whether to try again; each try
 * that fails calls it again.
 */
export type FailureCallback = (byteLength: number, error: CudaError) => boolean;

/** Calls a function when the upstream has no memory; other errors pass unchanged. */
export class FailureCallbackResourceAdaptor extends ResourceAdaptor {
  readonly #onFailure: FailureCallback;

  /**
   * Watches a resource.
   *
   * @throws TypeError when the callback is not a function.
   */
  constructor(upstream: MemoryResource, onFailure: FailureCallback) {
    super(upstream);
    requireFunction(onFailure, "the failure callback");
    this.#onFailure = onFailure;
  }

  /** Allocates, as often as the callback asks for; an error that the callback throws passes on. */
  override allocate(byteLength: number, stream: CudaStream): bigint {
    const take = () => allocateFrom(this.upstream, byteLength, stream);
    return takeAgain(take, (error) => this.#onFailure(byteLength, error));
  }

  /** Gives memory back. */
  override deallocate(address: bigint, byteLength: number, stream: CudaStream): void {
    this.upstream.deallocate(address, byteLength, stream);
  }
}
