// The driver's calls for memory behind reserved addresses: create and map it, give devices access, and
// unmap it (cuMemCreate, cuMemMap, cuMemSetAccess, cuMemUnmap).

import {
  CUmemAllocationGranularity_flags,
  CUmemAllocationHandleType,
  CUmemAllocationType,
} from "../../ffi/constants.ts";
import { F, FD_CLOEXEC, openHost } from "../../ffi/host.ts";
import { CUmemAccessDesc, CUmemAllocationProp } from "../../ffi/structs.ts";
import type { AddressRange } from "../accounting/ledger.ts";
import type { Context } from "../driver/context.ts";
import { take32, take64 } from "../driver/driver.ts";
import { tryRelease } from "../driver/release.ts";
import { formatAddress, formatBytes } from "../words/format.ts";
import { describeAccess, type DeviceAccess, deviceLocation } from "./device_access.ts";

const POSIX = CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

/** Returns whether a device has virtual memory. */
export function hasVirtualMemory(context: Context): boolean {
  return context.attribute("CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED") === 1;
}

/** Returns whether a device's virtual memory can go to other processes, by file descriptors. */
export function canBeShared(context: Context): boolean {
  const attribute = "CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED";
  return hasVirtualMemory(context) && context.attribute(attribute) === 1;
}

/** Returns the size in whose multiples a device maps (cuMemGetAllocationGranularity). */
export function granularityOf(device: Context): number {
  const { CU_MEM_ALLOC_GRANULARITY_RECOMMENDED: flag } = CUmemAllocationGranularity_flags;
  return Number(take64(device, "cuMemGetAllocationGranularity", memoryOn(device), flag));
}

/** Reserves addresses without memory behind them (cuMemAddressReserve). */
export function reserveAddresses(context: Context, byteLength: number): bigint {
  return take64(context, "cuMemAddressReserve", BigInt(byteLength), 0n, 0n, 0n);
}

/** A range of addresses, and the words for its memory in warnings: `"striped memory"`. */
export interface NamedRange extends AddressRange {
  readonly what: string;
}

/**
 * Maps memory at reserved addresses (cuMemCreate, cuMemMap), which keep it from then on. Memory that
 * is shareable can go to other processes; see {@link exportMemory}.
 */
export function mapMemory(device: Context, range: NamedRange, isShareable = false): void {
  const properties = memoryOn(device, isShareable ? POSIX : 0);
  mapHandle(device, range, take64(device, "cuMemCreate", BigInt(range.byteLength), properties, 0n));
}

/** Maps memory of another process at reserved addresses (cuMemImportFromShareableHandle, cuMemMap). */
export function importMemory(device: Context, range: NamedRange, descriptor: number): void {
  const call = "cuMemImportFromShareableHandle";
  mapHandle(device, range, take64(device, call, BigInt(descriptor), POSIX));
}

/**
 * Returns a descriptor that keeps the memory mapped at an address, for the caller to close
 * (cuMemRetainAllocationHandle, cuMemExportToShareableHandle).
 */
export function exportMemory(device: Context, { address, byteLength, what }: NamedRange): number {
  const handle = take64(device, "cuMemRetainAllocationHandle", address);
  try {
    return closeOnExec(take32(device, "cuMemExportToShareableHandle", handle, POSIX, 0n));
  } finally {
    releaseHandle(device, handle, { byteLength, what });
  }
}

function mapHandle(
  device: Context,
  { address, byteLength, what }: NamedRange,
  handle: bigint,
): void {
  try {
    device.call("cuMemMap", address, BigInt(byteLength), 0n, handle, 0n);
  } finally {
    releaseHandle(device, handle, { byteLength, what });
  }
}

function releaseHandle(
  device: Context,
  handle: bigint,
  { byteLength, what }: Pick<NamedRange, "byteLength" | "what">,
): void {
  const release = () => device.giveBack("cuMemRelease", handle);
  tryRelease(device.driver, `${formatBytes(byteLength)} of ${what}`, release);
}

/** Gives devices access to mapped memory (cuMemSetAccess). */
export function giveAccess(
  context: Context,
  { address, byteLength }: AddressRange,
  devices: Iterable<readonly [device: Context, access: DeviceAccess]>,
): void {
  const entries = Array.from(devices, ([device, access]) => describeAccess(device, access));
  const list = new Uint8Array(entries.length * CUmemAccessDesc.byteLength);
  for (const [at, entry] of entries.entries()) list.set(entry, at * CUmemAccessDesc.byteLength);
  context.call("cuMemSetAccess", address, BigInt(byteLength), list, BigInt(entries.length));
}

/** Unmaps the memory at addresses (cuMemUnmap); reports a failure and returns false. */
export function unmapMemory(context: Context, { address, byteLength, what }: NamedRange): boolean {
  const unmap = () => context.giveBack("cuMemUnmap", address, BigInt(byteLength));
  return tryRelease(context.driver, `${formatBytes(byteLength)} of ${what}`, unmap);
}

/** Frees addresses without memory behind them (cuMemAddressFree); reports a failure. */
export function freeAddresses(context: Context, { address, byteLength }: AddressRange): void {
  const free = () => context.giveBack("cuMemAddressFree", address, BigInt(byteLength));
  tryRelease(context.driver, `${formatBytes(byteLength)} of addresses`, free);
}

/**
 * Removes the range at an address from those that a resource has allocated, and returns it.
 *
 * @throws RangeError when there is none.
 */
export function takeRange<R>(ranges: Map<bigint, R>, address: bigint): R {
  const range = ranges.get(address);
  if (range === undefined) {
    throw new RangeError(
      `Cannot free ${formatAddress(address)}: this resource did not allocate it`,
    );
  }
  ranges.delete(address);
  return range;
}

function memoryOn(device: Context, requestedHandleTypes = 0): Uint8Array<ArrayBuffer> {
  return CUmemAllocationProp.encode({
    requestedHandleTypes,
    type: CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED,
    location: deviceLocation(device),
  });
}

/** Makes a descriptor that was just taken end with exec, and returns it. */
export function closeOnExec(descriptor: number): number {
  openHost().fcntl(descriptor, F.SETFD, FD_CLOEXEC);
  return descriptor;
}
