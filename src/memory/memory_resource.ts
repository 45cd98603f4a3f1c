// The contract of memory resources, against which programs write their own.

import { Context } from "../driver/context.ts";
import type { CudaStream } from "../order/stream.ts";
import { classNameOf, describeValue, formatAddress, messageOf } from "../words/format.ts";
import { type OptionKind, refusePromise } from "../words/options.ts";
import { warn } from "../words/warning.ts";

/** Every resource aligns to 256 bytes: these bits of an address are zero. */
const ALIGNMENT_BITS = 8;

/**
 * A source of memory.
 *
 * `allocate` returns the address of at least `byteLength` bytes, aligned to 256, that work queued
 * on `stream` afterwards may use. `deallocate` takes it back once the work queued on `stream` so
 * far is done. For memory that the CPU can use, buffers call it only after that work, because the
 * driver then frees at once. The kit calls neither with 0 bytes, which
 * its own resources refuse. A resource that fails throws and
 * changes nothing.
 */
export interface MemoryResource {
  /** The context in which its memory can be used. */
  readonly context: Context;
  /** The GPU can use its memory. */
  readonly isDeviceAccessible: boolean;
  /** The CPU can use its memory. */
  readonly isHostAccessible: boolean;
  /** Allocates memory, in the order of a stream. */
  allocate(byteLength: number, stream: CudaStream): bigint;
  /** Takes memory back, in the order of a stream. */
  deallocate(address: bigint, byteLength: number, stream: CudaStream): void;
}

/** Anything that belongs to a context: a device, a buffer, a stream. */
export interface ContextOwner {
  /** The context it belongs to. */
  readonly context: Context;
}

/** A memory resource; its device is checked when it is used. */
export const RESOURCE: OptionKind = {
  expected: "a memory resource, with allocate(), deallocate() and a context, such as " +
    "gpu.memoryResource",
  accepts: (value) => {
    const given: Partial<MemoryResource> = Object(value);
    return typeof given.allocate === "function" && typeof given.deallocate === "function" &&
      given.context instanceof Context;
  },
};

/**
 * Checks the resource of a call: without type checks it would fail only at the first allocation or
 * free.
 *
 * @throws TypeError when it is not a memory resource.
 */
export function requireResource(value: MemoryResource, action: string): void {
  if (RESOURCE.accepts(value)) return;
  const words = `Cannot ${action} ${describeValue(value)}: expected ${RESOURCE.expected}`;
  refusePromise(value, words);
  throw new TypeError(words);
}

/**
 * The context of a device, a buffer or a stream.
 *
 * @throws TypeError when the owner has none.
 */
export function contextOf(owner: ContextOwner, action: string): Context {
  const context: unknown = owner?.context;
  if (context instanceof Context) return context;
  throw new TypeError(
    `Cannot ${action} ${describeValue(owner)}: expected a device, such as CudaDevice.open()`,
  );
}

/**
 * Allocates from a resource that a program may have written.
 *
 * @throws TypeError when it returns no address, or one that is not a multiple of 256.
 */
export function allocateFrom(
  resource: MemoryResource,
  byteLength: number,
  stream: CudaStream,
): bigint {
  const address: unknown = resource.allocate(byteLength, stream);
  if (isAddress(address) && BigInt.asUintN(ALIGNMENT_BITS, address) === 0n) return address;
  throw refusal({ resource, byteLength, stream }, address);
}

/**
 * Gives memory back to a resource that a program may have written.
 *
 * @throws TypeError when it returns a promise, which nothing would wait for.
 */
export function deallocateTo(
  resource: MemoryResource,
  { address, byteLength, stream }: {
    readonly address: bigint;
    readonly byteLength: number;
    readonly stream: CudaStream;
  },
): void {
  const returned: unknown = resource.deallocate(address, byteLength, stream);
  if (returned === undefined) return;
  refusePromise(
    returned,
    `${classNameOf(resource)}.deallocate() returned a promise, for which nothing would wait`,
  );
}

function isAddress(value: unknown): value is bigint {
  return typeof value === "bigint" && value > 0n && BigInt.asUintN(64, value) === value;
}

/** Makes the error for a bad address; a misaligned one is given back first. */
function refusal(
  { resource, byteLength, stream }: {
    readonly resource: MemoryResource;
    readonly byteLength: number;
    readonly stream: CudaStream;
  },
  address: unknown,
): TypeError {
  const name = classNameOf(resource);
  if (address instanceof Promise) address.catch(() => {}); // the reason to tell is another one
  if (!isAddress(address)) {
    return new TypeError(
      `Cannot allocate from ${name}: its allocate() returned ${describeValue(address)}, expected ` +
        `an address as a bigint`,
    );
  }
  try {
    deallocateTo(resource, { address, byteLength, stream });
  } catch (error) {
    warn(`${formatAddress(address)} of ${name} could not be given back: ${messageOf(error)}`, {
      owner: resource.context,
      about: resource,
    });
  }
  return new TypeError(
    `Cannot allocate from ${name}: its allocate() returned ${formatAddress(address)}, expected a ` +
      `multiple of ${2 ** ALIGNMENT_BITS}`,
  );
}
