// Finds NVML: the system's, opened on first use, or the one that a driver brings. It is optional,
// so nothing here asks for a permission.

import type { DriverApi } from "./cuda.ts";
import { openLibrary, readVariable } from "./library.ts";
import { NVML, type NvmlApi } from "./nvml.ts";
import { ownParts } from "./own_parts.ts";

/** NVML's functions, and their origin. */
export interface NvmlSource {
  readonly api: NvmlApi;
  /** They come with the driver instead of measuring hardware. */
  readonly isModelled: boolean;
}

/** Names of the library; the paths serve `--allow-ffi=<path>`, WSL and containers. */
const NVML_NAMES: Partial<Record<typeof Deno.build.os, readonly string[]>> = {
  linux: [
    "libnvidia-ml.so.1",
    "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
    "/usr/lib64/libnvidia-ml.so.1",
    "/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
  ],
  windows: [
    "nvml.dll",
    "C:\\Windows\\System32\\nvml.dll",
    "C:\\Program Files\\NVIDIA Corporation\\NVSMI\\nvml.dll",
  ],
};

const NVML_VARIABLE = "VRAMKIT_NVML";

const opened = new Map<string, NvmlApi>();

/**
 * Finds the NVML that belongs to a driver. That of the system is opened once for a process; the
 * environment variable VRAMKIT_NVML names another file, where it may be read without a prompt.
 *
 * @throws LibraryError when there is no permission, no library, or a file that is not NVML.
 */
export function findNvml(driver: DriverApi): NvmlSource {
  const own = ownParts(driver).nvml;
  return own === undefined
    ? { api: openNvml(), isModelled: false }
    : { api: own, isModelled: true };
}

function openNvml(): NvmlApi {
  const chosen = readVariable(NVML_VARIABLE);
  const search = {
    title: "NVML",
    candidates: chosen === undefined ? NVML_NAMES[Deno.build.os] ?? [] : [chosen],
    remedy: `it comes with NVIDIA's driver; ${NVML_VARIABLE} names its file`,
    prompts: false,
  };
  return opened.getOrInsertComputed(chosen ?? "", () => openLibrary(search, [NVML]).api);
}
