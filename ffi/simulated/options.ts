// Options of the simulated machine. The defaults describe two devices of 8 GiB under a current
// driver.

/** A kernel that simulated programs can launch by name. */
export interface SimulatedKernel {
  /** Size of each parameter; by default those in its code, where that is PTX. */
  readonly parameterBytes?: readonly number[] | undefined;
  /** Does the work of all threads of a launch. */
  run(launch: SimulatedLaunch): void;
}

/** A size in three dimensions. */
export type Dimensions = readonly [x: number, y: number, z: number];

/** A launch, as a kernel sees it. */
export interface SimulatedLaunch {
  /** Number of blocks. */
  readonly grid: Dimensions;
  /** Threads of one block. */
  readonly block: Dimensions;
  /** Bytes of shared memory for a block. */
  readonly sharedBytes: number;
  /** Values of the parameters, as they were when the launch was queued. */
  readonly parameters: readonly DataView[];
  /** Reads device memory into a new array. */
  readonly read: (address: bigint, byteLength: number) => Uint8Array<ArrayBuffer>;
  /** Writes an array of any type to device memory, byte for byte. */
  readonly write: (address: bigint, array: ArrayBufferView) => void;
}

/** The threads and the memory of a launch. */
export type LaunchShape = Pick<SimulatedLaunch, "grid" | "block" | "sharedBytes">;

export interface SimulationOptions {
  /** Number of devices; 2 unless given. */
  devices?: number;
  /** Memory of each device; 8 GiB unless given. */
  memoryBytes?: number;
  /** As `cuDriverGetVersion` tells it, 13000 unless given; later functions are null. */
  driverVersion?: number;
  /** Gives the devices stream-ordered memory pools; true unless given. */
  poolsSupported?: boolean;
  /** Lets host and device touch managed memory at the same time; true unless given. */
  concurrentManagedAccess?: boolean;
  /** Makes the devices take the host's memory instead of their own; false unless given. */
  integrated?: boolean;
  /** Lets devices reach each other's memory; true unless given. */
  peerAccess?: boolean;
  /**
   * Name of the machine. Drivers of one name, also in several processes, share the memory of their
   * devices: memory that is held by file descriptors counts for all. Without one nothing is shared.
   */
  machine?: string;
  /** Kernels by name, found in every module. */
  kernels?: Record<string, SimulatedKernel>;
  /** Version of NCCL, as in `ncclGetVersion`; functions that came later are null. 22809 unless given. */
  ncclVersion?: number;
  /** Decides about the fault of a rank at each call; no faults unless given. */
  ranks?: RankFaults;
}

/**
 * A fault of a rank of a group: it is late by some virtual seconds; it sleeps, and the others wait
 * for it as long as the answer stays the same; or it is dead, which the others learn.
 */
export type RankFault = { readonly lateSeconds: number } | "asleep" | "dead";

/** Decides about the fault of a rank at a call of NCCL, such as `"ncclAllReduce"`. */
export type RankFaults = (rank: number, call: string) => RankFault | undefined;

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
    integrated: false,
    peerAccess: true,
    machine: "",
    kernels: {},
    ncclVersion: 22809,
    ranks: () => undefined,
    ...options,
  };
}
