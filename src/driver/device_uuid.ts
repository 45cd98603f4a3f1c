// The identity of a device, by which two processes know that they mean the same one.

import type { Context } from "./context.ts";

/** The device's identity, as `GPU-…` (cuDeviceGetUuid). */
export function deviceUuid({ driver, deviceHandle }: Context): string {
  const uuid = new Uint8Array(16);
  driver.call("cuDeviceGetUuid_v2", uuid, deviceHandle);
  const hex = uuid.toHex();
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return `GPU-${parts.join("-")}-${hex.slice(20)}`;
}
