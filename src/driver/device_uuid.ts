// The identity of a device, by which two processes know that they mean the same one.

import type { Context } from "./context.ts";

/** The device's identity, as `GPU-…` (cuDeviceGetUuid). */
export function deviceUuid({ driver, deviceHandle }: Context): string {
  const uuid = new Uint8Array(16);
  driver.call("cuDeviceGetUuid_v2", uuid, deviceHandle);
  return `GPU-${uuid.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")}`;
}
