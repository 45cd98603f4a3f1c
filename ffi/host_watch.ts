// Optional parts of a driver that NVIDIA's lacks: the simulated one has a machine of its own, and
// watches arrays that a program must not change while a transfer uses them.

import type { DriverApi } from "./cuda.ts";

/** The names of these parts in a table of driver functions. */
export const WATCH_HOST: unique symbol = Symbol("watchHost");
export const MACHINE: unique symbol = Symbol("machine");

/** Checks that bytes are unchanged; throws when they are not. */
export type HostCheck = () => void;

/** A driver that may have these parts. */
export type WatchingDriver = DriverApi & {
  /** The identity of its machine: 16 bytes in hexadecimal digits. */
  readonly [MACHINE]?: string;
  /** Records bytes now; the result checks later that they are unchanged. */
  readonly [WATCH_HOST]?: (bytes: Uint8Array<ArrayBufferLike>) => HostCheck;
};

/** Returns the identity of a simulated driver's machine; undefined for NVIDIA's driver. */
export function machineOf(api: DriverApi): string | undefined {
  return (api as WatchingDriver)[MACHINE];
}

/** Watches bytes if the driver can; otherwise returns undefined. */
export function watchHost(
  api: DriverApi,
  bytes: Uint8Array<ArrayBufferLike>,
): HostCheck | undefined {
  return (api as WatchingDriver)[WATCH_HOST]?.(bytes);
}
