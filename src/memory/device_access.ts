// What one device may do with another's memory, as the driver wants to be told.

import { CUmemAccess_flags, CUmemLocationType } from "../../ffi/constants.ts";
import { CUmemAccessDesc } from "../../ffi/structs.ts";
import type { Context } from "../context.ts";

/** What a device may do with memory. */
export type DeviceAccess = "none" | "read" | "readwrite";

/** The driver's numbers for it. */
export const ACCESS_FLAGS = {
  none: CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE,
  read: CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READ,
  readwrite: CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
} as const satisfies Record<DeviceAccess, number>;

/** Names a device's memory as a place. */
export function deviceLocation({ ordinal }: Context): { type: number; id: number } {
  return { type: CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, id: ordinal };
}

/** Makes the entry that lets one device use memory. */
export function describeAccess(device: Context, access: DeviceAccess): Uint8Array<ArrayBuffer> {
  return CUmemAccessDesc.encode({ location: deviceLocation(device), flags: ACCESS_FLAGS[access] });
}
