// The facts that the driver knows about an address: whose memory it is, and who can use it.

import { CUmemorytype, CUpointer_attribute, CUresult } from "../../ffi/constants.ts";
import type { Context } from "../driver/context.ts";
import { isRefusal } from "../words/errors.ts";
import { formatAddress } from "../words/format.ts";

/** The facts that the driver knows about an address. */
export interface PointerAttributes {
  /** The place of the memory; managed memory moves. */
  readonly memoryType: "device" | "host" | "managed";
  /** The number of the device it belongs to; for host memory, of the device it was made through. */
  readonly deviceOrdinal: number;
  /** The GPU can use it. */
  readonly isDeviceAccessible: boolean;
  /** The CPU can use it. */
  readonly isHostAccessible: boolean;
  /** The driver moves it between devices and the host by itself. */
  readonly isManaged: boolean;
  /** It is mapped for the GPU right now. */
  readonly isMapped: boolean;
  /** The driver's number of the allocation, never used again. */
  readonly bufferId: number;
  /** Bytes from the address to the end of its allocation, where the driver tells. */
  readonly remainingBytes: number | undefined;
}

/** Access to memory that the driver is not asked about: a handle's, or memory of no bytes. */
export const DEVICE_ONLY = { isDeviceAccessible: true, isHostAccessible: false } as const;

/**
 * Asks the driver about an address (cuPointerGetAttribute).
 *
 * @param neededBytes Memory mapped in parts is followed to the end of the last part, or until this
 *   many bytes are found.
 *
 * @throws TypeError when the driver does not know the address, such as that of ordinary host
 *   memory.
 * @throws CudaError when the driver fails to tell.
 */
export function pointerAttributes(
  context: Context,
  address: bigint,
  neededBytes = Infinity,
): PointerAttributes {
  const type = read(context, "CU_POINTER_ATTRIBUTE_MEMORY_TYPE", address);
  if (type === undefined) {
    throw new TypeError(
      `Cannot use address ${formatAddress(address)}: the driver does not know it; ordinary host ` +
        `memory must be registered first`,
    );
  }
  const isManaged = read(context, "CU_POINTER_ATTRIBUTE_IS_MANAGED", address) === 1n;
  const isHost = Number(type) === CUmemorytype.CU_MEMORYTYPE_HOST;
  const ordinal = read(context, "CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL", address);
  const isMapped = read(context, "CU_POINTER_ATTRIBUTE_MAPPED", address) !== 0n;
  return {
    memoryType: isManaged ? "managed" : isHost ? "host" : "device",
    deviceOrdinal: Number(ordinal ?? BigInt(context.ordinal)),
    isDeviceAccessible: isMapped,
    isHostAccessible: isHost || isManaged,
    isManaged,
    isMapped,
    bufferId: Number(read(context, "CU_POINTER_ATTRIBUTE_BUFFER_ID", address) ?? 0n),
    remainingBytes: remainingBytes(context, address, neededBytes),
  };
}

/** The GPU's address of memory, which can differ from the CPU's; undefined where it has none. */
export function deviceAddress(context: Context, address: bigint): bigint | undefined {
  return read(context, "CU_POINTER_ATTRIBUTE_DEVICE_POINTER", address);
}

/** The CPU's address of page-locked memory, which can differ from the GPU's. */
export function hostAddress(context: Context, address: bigint): bigint {
  return read(context, "CU_POINTER_ATTRIBUTE_HOST_POINTER", address) ?? address;
}

function remainingBytes(
  context: Context,
  address: bigint,
  neededBytes: number,
): number | undefined {
  const start = read(context, "CU_POINTER_ATTRIBUTE_RANGE_START_ADDR", address);
  const byteLength = read(context, "CU_POINTER_ATTRIBUTE_RANGE_SIZE", address);
  if (start === undefined || byteLength === undefined || byteLength === 0n) return undefined;
  const reservedBytes = Number(start + byteLength - address);
  let mappedBytes = mappedBytesAt(context, address) ?? Infinity;
  while (mappedBytes < Math.min(neededBytes, reservedBytes)) {
    const next = mappedBytesAt(context, address + BigInt(mappedBytes));
    if (next === undefined) break;
    mappedBytes += next;
  }
  return Math.min(reservedBytes, mappedBytes);
}

/**
 * Bytes to the end of the mapping of an address (cuMemGetAddressRange). A reservation of addresses can
 * reach further, with other mappings, as those of growing arrays, or with none: using addresses beyond
 * them breaks the context. Undefined where there is none, and where this context cannot be asked, as
 * for memory of another device.
 */
function mappedBytesAt(context: Context, address: bigint): number | undefined {
  const start = new BigUint64Array(1);
  const byteLength = new BigUint64Array(1);
  const status = context.status("cuMemGetAddressRange_v2", start, byteLength, address);
  if (isRefusal(status) || status === CUresult.CUDA_ERROR_NOT_FOUND) return undefined;
  context.driver.check(status, "cuMemGetAddressRange_v2");
  return Number((start[0] ?? 0n) + (byteLength[0] ?? 0n) - address);
}

/**
 * Reads one attribute; those of 32 bits leave the upper half of the cell zero. Undefined where the
 * driver does not know the address, or has no such attribute of it.
 */
function read(
  context: Context,
  name: keyof typeof CUpointer_attribute,
  address: bigint,
): bigint | undefined {
  const cell = new BigUint64Array(1);
  const status = context.status("cuPointerGetAttribute", cell, CUpointer_attribute[name], address);
  if (isRefusal(status)) return undefined;
  context.driver.check(status, "cuPointerGetAttribute");
  return cell[0];
}
