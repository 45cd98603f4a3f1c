// Finds NCCL: the system's or a Python package's, opened on first use, or the one that a driver brings.

import type { DriverApi } from "./cuda.ts";
import { findLibrary, openInstalled } from "./installed_libraries.ts";
import { NCCL, type NcclApi } from "./nccl.ts";
import { ownParts } from "./own_parts.ts";

/**
 * The name under which a driver's own NCCL, which has no network, accepts a connection to the ranks
 * of other processes, before a communicator is started there.
 */
export const OWN_WIRE: unique symbol = Symbol("wire");

/** A connection to the ranks of other processes. */
export interface NcclWire {
  /** Sends bytes to a rank; they arrive in order. */
  send(rank: number, bytes: Uint8Array<ArrayBuffer>): void;
}

/** Receives bytes that a rank of another process has sent. */
export type NcclReceiver = (rank: number, bytes: Uint8Array<ArrayBuffer>) => void;

/** An NCCL that may need a connection to the ranks of other processes. */
export type NcclWithWire = NcclApi & {
  /** Sets the connection for the ranks that find each other under an id. */
  readonly [OWN_WIRE]?: (id: Uint8Array, wire: NcclWire) => NcclReceiver;
};

/** NCCL's functions, and their origin. */
export interface NcclSource {
  readonly api: NcclApi;
  /** The library's file, or the name that it was opened by; undefined for a driver's own. */
  readonly path: string | undefined;
}

const opened = new Map<string, NcclSource>();

/**
 * Opens the NCCL that belongs to a driver, once for a process. The environment variable VRAMKIT_NCCL
 * names another file, where it may be read without a prompt.
 *
 * @throws LibraryError when there is none, or it cannot be used.
 */
export function openNccl(driver: DriverApi): NcclSource {
  const own = ownParts(driver).nccl;
  if (own !== undefined) return { api: own, path: undefined };
  const found = findLibrary("nccl");
  return opened.getOrInsertComputed(found.path ?? "", () => openInstalled("nccl", found, NCCL));
}
