// Reads bytes of another library at an address that may be wrong: the system copies them, and reports
// an error where there is no memory.

import { ERRNO, findHost, IOVEC } from "../../ffi/host.ts";
import { lastErrno, openSystem } from "../disk/system_error.ts";
import { addressOf } from "../memory/host_memory.ts";
import { formatAddress } from "../words/format.ts";

/** The end of the address space. */
const END = 1n << 64n;

/**
 * Copies a struct or a table from an address.
 *
 * @param what What should be at the address, for errors.
 *
 * @throws TypeError when the address is null or has no memory behind it.
 * @throws RangeError when it is not a multiple of 8.
 */
export function readForeign(
  address: bigint,
  byteLength: number,
  what: string,
): Uint8Array<ArrayBuffer> {
  if (address === 0n) throw new TypeError(`Cannot read ${what}: its address is null`);
  if (address % 8n !== 0n) {
    throw new RangeError(
      `Cannot read ${what} at ${formatAddress(address)}: expected a multiple of 8`,
    );
  }
  const bytes = copyFrom(address, byteLength);
  if (bytes !== undefined) return bytes;
  throw new TypeError(`Cannot read ${what} at ${formatAddress(address)}: there is no memory`);
}

/** Returns whether an address can be read; true where the system cannot be asked. */
export function isReadable(address: bigint): boolean {
  return copyFrom(address, 1) !== undefined;
}

/** Copies bytes; undefined where there are none. */
function copyFrom(address: bigint, byteLength: number): Uint8Array<ArrayBuffer> | undefined {
  if (address < 0n || address + BigInt(byteLength) > END) return undefined;
  const bytes = new Uint8Array(byteLength);
  if (findHost() === undefined) {
    const pointer = Deno.UnsafePointer.create(address);
    if (pointer !== null) new Deno.UnsafePointerView(pointer).copyInto(bytes);
    return bytes;
  }
  const host = openSystem();
  const size = BigInt(byteLength);
  const to = IOVEC.encode({ iov_base: addressOf(bytes), iov_len: size });
  const from = IOVEC.encode({ iov_base: address, iov_len: size });
  const copied = host.process_vm_readv(Deno.pid, to, 1n, from, 1n, 0n);
  if (copied === size) return bytes;
  if (copied >= 0n || lastErrno() === ERRNO.EFAULT) return undefined;
  host.copyOut(bytes, address, size); // a sandbox forbids the question
  return bytes;
}
