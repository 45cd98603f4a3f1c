// Finds NCCL: the system's or a Python package's, opened on first use, or the one that a driver brings.

import type { DriverApi } from "./cuda.ts";
import { findLibrary, openInstalled } from "./installed_libraries.ts";
import { NCCL, type NcclApi } from "./nccl.ts";
import { ownParts } from "./own_parts.ts";

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
