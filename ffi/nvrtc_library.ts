// Finds NVRTC: the one of the system or of a Python package, opened on first use, or the one that a
// driver brings.

import type { DriverApi } from "./cuda.ts";
import { findLibrary, type FoundLibrary, openInstalled } from "./installed_libraries.ts";
import { NVRTC, type NvrtcApi } from "./nvrtc.ts";
import { ownParts } from "./own_parts.ts";

/** A compiler that can be opened: its place, and its functions, bound on first use. */
export interface NvrtcSource {
  /** Path, size and time, which identify this compiler; undefined when unknown. */
  readonly identity: string | undefined;
  /** Folders with CUDA's headers beside it. */
  readonly includeFolders: readonly string[];
  /**
   * The functions; opens the library on first use, once for a process.
   *
   * @throws LibraryError when it cannot be opened.
   */
  readonly api: NvrtcApi;
}

const opened = new Map<string, NvrtcApi>();

/**
 * Finds the compiler that belongs to a driver, without opening it. The environment variable
 * VRAMKIT_NVRTC names another file, where it may be read without a prompt.
 */
export function findNvrtc(driver: DriverApi): NvrtcSource {
  const own = ownParts(driver).nvrtc;
  if (own !== undefined) return { identity: "own", includeFolders: [], api: own };
  return sourceOf(findLibrary("nvrtc"));
}

export function sourceOf(found: FoundLibrary): NvrtcSource {
  const { path, identity } = found;
  return {
    identity,
    includeFolders: path === undefined ? [] : includeFoldersFor(path),
    get api(): NvrtcApi {
      return opened.getOrInsertComputed(path ?? "", () => openInstalled("nvrtc", found, NVRTC).api);
    },
  };
}

/** Headers are beside the library's folder; pip has CUDA's headers in a package of their own. */
function includeFoldersFor(path: string): string[] {
  const folder = path.slice(0, path.lastIndexOf("/"));
  const root = folder.slice(0, folder.lastIndexOf("/"));
  const folders = [`${root}/include`, `${root}/include/cccl`];
  if (root.endsWith("/nvidia/cuda_nvrtc")) {
    const packages = root.slice(0, root.lastIndexOf("/"));
    folders.push(`${packages}/cuda_runtime/include`, `${packages}/cuda_cccl/include`);
  }
  return folders;
}
