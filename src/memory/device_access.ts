// A device's rights to another's memory, in the driver's terms.

import { CUmemAccess_flags, CUmemLocationType } from "../../ffi/constants.ts";
import { CUmemAccessDesc } from "../../ffi/structs.ts";
import type { Context } from "../driver/context.ts";
import { take32 } from "../driver/driver.ts";
import { describeValue } from "../words/format.ts";
import { oneOf } from "../words/options.ts";

/** A device's rights to memory. */
export type DeviceAccess = "none" | "read" | "readwrite";

/** The driver's numbers for it. */
export const ACCESS_FLAGS = {
  none: CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE,
  read: CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READ,
  readwrite: CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
} as const satisfies Record<DeviceAccess, number>;

const ACCESS = oneOf("none", "read", "readwrite");

/** Returns whether a device can be given access to the memory of another one (cuDeviceCanAccessPeer). */
export function canReach({ driver, deviceHandle }: Context, other: Context): boolean {
  if (driver !== other.driver) return false;
  return take32(driver, "cuDeviceCanAccessPeer", deviceHandle, other.deviceHandle) === 1;
}

/** Names a device's memory as a place. */
export function deviceLocation({ ordinal }: Context): { type: number; id: number } {
  return { type: CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, id: ordinal };
}

/**
 * Makes the driver's descriptor that lets one device use memory.
 *
 * @throws TypeError for an access that there is not.
 */
export function describeAccess(device: Context, access: DeviceAccess): Uint8Array<ArrayBuffer> {
  if (!ACCESS.accepts(access)) {
    throw new TypeError(
      `Cannot give device ${device.ordinal} access ${describeValue(access)}: expected ` +
        ACCESS.expected,
    );
  }
  return CUmemAccessDesc.encode({ location: deviceLocation(device), flags: ACCESS_FLAGS[access] });
}
