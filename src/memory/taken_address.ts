// The address that a resource hands out, checked: programs write resources of their own, and what is no
// address would be copied from and to, or never be given back.

import { describeValue, formatAddress, messageOf } from "../format.ts";
import type { CudaStream } from "../stream.ts";
import type { MemoryResource } from "./memory_resource.ts";

/** Every resource aligns to 256 bytes: these bits of an address are zero. */
const ALIGNMENT_BITS = 8;

/**
 * Allocates from a resource that somebody else may have written.
 *
 * @throws TypeError when it returns no address, or one that is not a multiple of 256.
 */
export function allocateFrom(
  resource: MemoryResource,
  byteLength: number,
  stream: CudaStream,
): bigint {
  const address: unknown = resource.allocate(byteLength, stream);
  const isAddress = typeof address === "bigint" && address > 0n;
  if (isAddress && BigInt.asUintN(ALIGNMENT_BITS, address) === 0n) {
    return address;
  }
  throw refusal({ resource, byteLength, stream }, address);
}

/** Refuses what is no address; one that is only misaligned goes back where it came from. */
function refusal(
  { resource, byteLength, stream }: {
    readonly resource: MemoryResource;
    readonly byteLength: number;
    readonly stream: CudaStream;
  },
  address: unknown,
): TypeError {
  const { name } = resource.constructor;
  if (address instanceof Promise) address.catch(() => {}); // the reason to tell is another one
  if (typeof address !== "bigint" || address <= 0n) {
    return new TypeError(
      `Cannot allocate from ${name}: its allocate() returned ${describeValue(address)}, expected ` +
        `an address as a bigint`,
    );
  }
  try {
    resource.deallocate(address, byteLength, stream);
  } catch (error) {
    console.warn(
      `vramkit: ${formatAddress(address)} of ${name} could not be given back: ${messageOf(error)}`,
    );
  }
  return new TypeError(
    `Cannot allocate from ${name}: its allocate() returned ${formatAddress(address)}, expected a ` +
      `multiple of ${2 ** ALIGNMENT_BITS}`,
  );
}
