// Lets the program free something when memory runs out, and try again.

import type { MemoryResource } from "../memory/memory_resource.ts";
import { takeAgain } from "../memory/out_of_memory.ts";
import { PassingAdaptor, requireFunction } from "../memory/resource_adaptor.ts";
import type { CudaStream } from "../order/stream.ts";
import type { MemoryShortage } from "../words/errors.ts";
import { CALLBACK, OptionSet, refusePromise } from "../words/options.ts";

/**
 * Called with the size that could not be allocated, and the error. Returns whether to try again; it
 * is called again after each failure.
 */
export type FailureCallback = (byteLength: number, error: MemoryShortage) => boolean;

/** Options for {@link FailureCallbackResourceAdaptor}. */
export interface FailureCallbackOptions {
  /** Decides whether to try again. */
  readonly onFailure: FailureCallback;
}

const FAILURE_CALLBACK_OPTIONS = new OptionSet<FailureCallbackOptions>({ onFailure: CALLBACK });

/** Calls a function when the upstream has no memory; other errors pass unchanged. */
export class FailureCallbackResourceAdaptor extends PassingAdaptor {
  readonly #onFailure: FailureCallback;

  /**
   * Watches a resource.
   *
   * @throws TypeError when the callback is missing.
   */
  constructor(upstream: MemoryResource, options: FailureCallbackOptions) {
    super(upstream);
    options = FAILURE_CALLBACK_OPTIONS.read(options, "new FailureCallbackResourceAdaptor");
    requireFunction(options.onFailure, "{ onFailure }");
    this.#onFailure = options.onFailure;
  }

  /**
   * Allocates, and tries again as long as the callback says so; passes on an error that the
   * callback throws.
   *
   * @throws TypeError when the callback returns a promise, which nothing could wait for.
   */
  override allocate(byteLength: number, stream: CudaStream): bigint {
    return takeAgain(() => super.allocate(byteLength, stream), (error) => {
      const answer: unknown = this.#onFailure(byteLength, error);
      refusePromise(
        answer,
        `Cannot allocate ${byteLength} bytes: onFailure() returned a promise, for which nothing can ` +
          `wait; return true or false`,
        { cause: error },
      );
      return Boolean(answer);
    });
  }
}
