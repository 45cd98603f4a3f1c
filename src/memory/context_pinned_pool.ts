// The pool of page-locked memory that every context has for the kit's own use: for staging streams
// and for downloads into page-locked arrays. It ends with the context.

import type { Context } from "../context.ts";
import type { CudaStream } from "../stream.ts";
import { ExactBlocks } from "./exact_blocks.ts";
import { PinnedHostMemoryResource } from "./pinned_host_memory_resource.ts";
import { ResourceAdaptor } from "./resource_adaptor.ts";

/** Page-locked memory is taken from all other programs, so not everything that was used is kept. */
const KEEP_BYTES = 2 * 2 ** 30;

const pools = new WeakMap<Context, ContextPinnedPool>();

/** Page-locked host memory, kept for reuse while its context is open. */
export class ContextPinnedPool extends ResourceAdaptor {
  readonly #blocks: ExactBlocks;

  private constructor(context: Context) {
    super(new PinnedHostMemoryResource({ context }));
    const keepBytes = KEEP_BYTES;
    this.#blocks = new ExactBlocks(this.upstream, { keepBytes, isContextOwned: true });
    context.atRelease(() => this.#blocks.release());
  }

  /** The pool of a context; it is empty until it is first used. */
  static of(context: Context): ContextPinnedPool {
    const pool = pools.get(context) ?? new ContextPinnedPool(context);
    pools.set(context, pool);
    return pool;
  }

  /** Hands out a kept block, or pins a new one. */
  override allocate(byteLength: number, stream: CudaStream): bigint {
    return this.#blocks.allocate(byteLength, stream);
  }

  /** Keeps a block for when the work queued on `stream` so far is done. */
  override deallocate(address: bigint, _byteLength: number, stream: CudaStream): void {
    this.#blocks.deallocate(address, stream);
  }
}
