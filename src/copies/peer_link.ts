// The route between two devices: directly over the bus if both support it, else staged by the
// driver.

import { CUresult } from "../../ffi/constants.ts";
import type { Context } from "../driver/context.ts";
import { canReach } from "../memory/device_access.ts";
import { isRefusal } from "../words/errors.ts";

/** Route of copies between two devices: directly, or through the host's memory. */
export type PeerRoute = "peer" | "staged";

const routes = new WeakMap<Context, WeakMap<Context, PeerRoute>>();

/**
 * Finds the route between two devices and enables it, once for a pair (cuDeviceCanAccessPeer,
 * cuCtxEnablePeerAccess). A failure is thrown and not remembered: the next call tries again.
 */
export function peerRoute(from: Context, to: Context): PeerRoute {
  const known = routes.get(from)?.get(to);
  if (known !== undefined) return known;
  const route = opens(from, to) && opens(to, from) ? "peer" : "staged";
  for (const [one, other] of [[from, to], [to, from]] as const) {
    routes.getOrInsertComputed(one, () => new WeakMap()).set(other, route);
  }
  return route;
}

function opens(from: Context, to: Context): boolean {
  if (!canReach(from, to)) return false;
  const status = from.status("cuCtxEnablePeerAccess", to.handle, 0);
  if (status === CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) return true;
  if (isRefusal(status)) return false;
  from.driver.check(status, "cuCtxEnablePeerAccess");
  return true;
}
