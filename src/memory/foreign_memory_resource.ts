// Memory that somebody else allocated: this resource allocates none, and frees as its owner says.

import type { Context } from "../driver/context.ts";
import { tryRelease } from "../driver/release.ts";
import type { CudaStream } from "../order/stream.ts";
import { refusePromise } from "../words/options.ts";
import { BaseMemoryResource } from "./base_memory_resource.ts";
import type { PointerAttributes } from "./pointer_attributes.ts";
import { whenPassed } from "./when_passed.ts";

/** The end of foreign memory, once the GPU no longer uses it. */
interface ForeignRelease {
  /** Kept alive until then. */
  readonly owner?: unknown;
  /** Called then, with the address and the size in bytes. */
  readonly deallocate?: ((address: bigint, byteLength: number) => void) | undefined;
  /** The release itself waits for the GPU, as a buffer's owner record does. */
  readonly isOrdered?: boolean | undefined;
}

/** The stand-in for the resource of one foreign block. */
export class ForeignMemoryResource extends BaseMemoryResource {
  #release: ForeignRelease | undefined;

  constructor(
    context: Context,
    options: ForeignRelease & {
      attributes: Pick<PointerAttributes, "isDeviceAccessible" | "isHostAccessible">;
    },
  ) {
    const { attributes, owner, deallocate, isOrdered } = options;
    super({ context }, attributes);
    this.#release = { owner, deallocate, isOrdered };
  }

  /** Tells whether the block was adopted by the buffer made from it, so that it must be released. */
  get givesBack(): boolean {
    return this.#release?.deallocate !== undefined;
  }

  /** Always throws: foreign memory cannot be allocated here. */
  allocate(byteLength: number): never {
    throw new TypeError(
      `Cannot allocate ${byteLength} bytes like a buffer of foreign memory: its resource is not ` +
        `known; copy into gpu.alloc() instead`,
    );
  }

  /** Releases the block once the work queued on `stream` is done; does not wait. */
  deallocate(address: bigint, byteLength: number, stream: CudaStream): void {
    const letGo = () => {
      const deallocate = this.#release?.deallocate;
      this.#release = undefined;
      const words = "deallocate() returned a promise, for which nothing would wait";
      const giveBack = () => refusePromise(deallocate?.(address, byteLength), words);
      tryRelease(this.context.driver, "foreign memory", giveBack);
    };
    if (this.#release?.isOrdered === true) letGo();
    else whenPassed(stream, letGo);
  }
}
