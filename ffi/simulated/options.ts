// Options of the simulated machine. The defaults describe two devices of 8 GiB under a current
// driver.

import type { SimulatedKernel } from "./kernel.ts";

/** Options of `simulateDriver()`. */
export interface SimulationOptions {
  /** Number of devices; 2 unless given. */
  devices?: number;
  /** Memory of each device; 8 GiB unless given. */
  memoryBytes?: number;
  /** CUDA version of the driver, as in `cuDriverGetVersion`; functions that came later are null. 13000 unless given. */
  driverVersion?: number;
  /** Whether the devices have stream-ordered memory pools; true unless given. */
  poolsSupported?: boolean;
  /** Whether host and device may touch managed memory at the same time; true unless given. */
  concurrentManagedAccess?: boolean;
  /** Whether devices can reach each other's memory; true unless given. */
  peerAccess?: boolean;
  /** Kernels by name, found in every module. */
  kernels?: Record<string, SimulatedKernel>;
}

/** Options with every default filled in. */
export type SimulationSettings = Required<SimulationOptions>;

/** Fills in the defaults. */
export function settingsOf(options: SimulationOptions): SimulationSettings {
  return {
    devices: 2,
    memoryBytes: 8 * 2 ** 30,
    driverVersion: 13000,
    poolsSupported: true,
    concurrentManagedAccess: true,
    peerAccess: true,
    kernels: {},
    ...options,
  };
}
