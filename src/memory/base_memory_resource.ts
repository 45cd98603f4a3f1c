// The base class of the kit's memory resources: where their memory can be used, and their text on a
// console.

import type { Context } from "../driver/context.ts";
import type { CudaStream } from "../order/stream.ts";
import { checkSize } from "../words/format.ts";
import { describeResource, resourceData } from "./describe_resource.ts";
import { contextOf, type ContextOwner, type MemoryResource } from "./memory_resource.ts";

/**
 * The base class of the kit's memory resources. Only the GPU can use the memory, unless the
 * constructor is told otherwise. To write a resource of your own, extend {@link ResourceAdaptor},
 * or implement {@link MemoryResource}; only the type of this class is exported.
 */
export abstract class BaseMemoryResource implements MemoryResource {
  readonly context: Context;
  readonly isDeviceAccessible: boolean;
  readonly isHostAccessible: boolean;

  /**
   * Takes memory through the context of `owner`.
   *
   * @throws TypeError when the owner has none.
   * @ignore
   */
  constructor(
    owner: ContextOwner,
    { isDeviceAccessible = true, isHostAccessible = false }: {
      readonly isDeviceAccessible?: boolean;
      readonly isHostAccessible?: boolean;
    } = {},
  ) {
    this.context = contextOf(owner, `make a ${new.target.name} of`);
    this.isDeviceAccessible = isDeviceAccessible;
    this.isHostAccessible = isHostAccessible;
  }

  /**
   * Allocates memory, in the order of a stream.
   *
   * @throws RangeError for 0 bytes, and for parts of a byte.
   */
  abstract allocate(byteLength: number, stream: CudaStream): bigint;

  /** Takes memory back, in the order of a stream. */
  abstract deallocate(address: bigint, byteLength: number, stream: CudaStream): void;

  /** Returns its class, its device, its counters and its upstream as plain data. */
  toJSON(): Readonly<Record<string, unknown>> {
    return resourceData(this);
  }

  /** Shows the resource and its upstreams on a console, with their counters. */
  [Symbol.for("Deno.customInspect")](): string {
    return describeResource(this);
  }
}

/**
 * Checks the size of an allocation, before a resource counts anything.
 *
 * @throws RangeError when it is not a whole number of bytes, or 0.
 */
export function requireBytes(byteLength: number): void {
  if (checkSize(byteLength, "byteLength") > 0) return;
  throw new RangeError("Cannot allocate 0 bytes: an array without elements takes no memory");
}
