// An optional part of a driver: watches arrays that a program must not change while a transfer uses
// them. NVIDIA's driver has none; the simulated one reports such changes.

import type { DriverApi } from "./cuda.ts";

/** The name of the offer in a table of driver functions. */
export const WATCH_HOST: unique symbol = Symbol("watchHost");

/** Checks that bytes are unchanged; throws when they are not. */
export type HostCheck = () => void;

/** A driver that may watch arrays. */
export type WatchingDriver = DriverApi & {
  /** Looks at bytes now; the result compares them later. */
  readonly [WATCH_HOST]?: (bytes: Uint8Array<ArrayBufferLike>) => HostCheck;
};

/** Returns whether a driver watches arrays, which only the simulated one does. */
export function watchesHost(api: DriverApi): boolean {
  return WATCH_HOST in api;
}

/** Watches bytes where the driver does; undefined where it does not. */
export function watchHost(
  api: DriverApi,
  bytes: Uint8Array<ArrayBufferLike>,
): HostCheck | undefined {
  return (api as WatchingDriver)[WATCH_HOST]?.(bytes);
}
