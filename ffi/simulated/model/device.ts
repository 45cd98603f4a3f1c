// One simulated GPU: its free memory, its engines and their virtual time, and its attributes. Its numbers
// are round on purpose, so that they are not mistaken for measurements, and no wall clock is read.

import { CU_DEVICE_CPU, CUdevice_attribute as A } from "../../constants.ts";
import { refuse } from "../errors.ts";
import type { SimulationSettings } from "../options.ts";

/** Smallest unit of physical memory that pools and virtual memory take. */
export const GRANULARITY_BYTES = 2 << 20;

export const MULTIPROCESSORS = 100;

/** The largest launch: threads of a block, its sides, the grid's, and shared memory. */
export const LAUNCH_LIMITS = {
  blockThreads: 1024,
  block: [1024, 1024, 64],
  grid: [2 ** 31 - 1, 65535, 65535],
  sharedBytes: 48 << 10,
  mostSharedBytes: 200 << 10,
} as const;

/** One unit of a device that does one operation at a time. */
export class Engine {
  /** Virtual time at which the engine is idle again. */
  freeAtSeconds = 0;
}

/** Cost of queueing one operation, for the host. */
export const SUBMIT_SECONDS = 1e-6;
/** Cost of starting a kernel. */
export const LAUNCH_SECONDS = 4e-6;

const COPY_LATENCY_SECONDS = 5e-6;
const BYTES_PER_SECOND = {
  uploadPinned: 25e9,
  uploadPageable: 6e9,
  downloadPinned: 24e9,
  downloadPageable: 6e9,
  local: 800e9,
  peer: 20e9,
  host: 10e9,
  fill: 1600e9,
};

export type Route = keyof typeof BYTES_PER_SECOND;

/** Returns the cost of moving bytes on a route. */
export function costOf(route: Route, byteLength: number): number {
  return COPY_LATENCY_SECONDS + byteLength / BYTES_PER_SECOND[route];
}

/** The bytes of a device that others hold, and this machine does not. */
export interface OutsideBytes {
  /** Asks the system for them. */
  now(): number;
  /** Returns the last answer unless it is old: an allocation need not know what just happened elsewhere. */
  lately(): number;
}

const NOTHING_OUTSIDE: OutsideBytes = { now: () => 0, lately: () => 0 };

/** Holds the state of one device that no context owns. */
export class Device {
  readonly ordinal: number;
  readonly memoryBytes: number;
  /** Engine that copies from the host. */
  readonly uploads: Engine = new Engine();
  /** Engine that copies to the host. */
  readonly downloads: Engine = new Engine();
  /** Engine that runs kernels, fills and copies inside the device. */
  readonly compute: Engine = new Engine();
  readonly #outside: OutsideBytes;
  /** Bytes that this machine itself uses. */
  usedBytes = 0;

  constructor(ordinal: number, memoryBytes: number, outside: OutsideBytes = NOTHING_OUTSIDE) {
    this.ordinal = ordinal;
    this.memoryBytes = memoryBytes;
    this.#outside = outside;
  }

  /** Returns whether it stands for the host's memory instead of a GPU. */
  get isHost(): boolean {
    return this.ordinal === CU_DEVICE_CPU;
  }

  get freeBytes(): number {
    return Math.max(0, this.memoryBytes - this.usedBytes - this.#outside.now());
  }

  /** Returns whether so much is free; an old answer about others does, as nobody tells when they change. */
  hasRoom(byteLength: number): boolean {
    return byteLength <= Math.max(0, this.memoryBytes - this.usedBytes - this.#outside.lately());
  }

  /** Takes physical memory; throws when there is too little. */
  charge(byteLength: number): void {
    if (!this.hasRoom(byteLength)) refuse("CUDA_ERROR_OUT_OF_MEMORY");
    this.usedBytes += byteLength;
  }

  discharge(byteLength: number): void {
    this.usedBytes -= byteLength;
  }
}

/** Returns the 16 bytes that tell a device from others. */
export function uuidOf(ordinal: number): Uint8Array {
  const bytes = new TextEncoder().encode("simulated gpu 00");
  bytes[15] = ordinal;
  return bytes;
}

/** Returns a device's address on the PCI bus. */
export function pciBusIdOf(ordinal: number): string {
  return `0000:${(ordinal + 1).toString(16).toUpperCase().padStart(2, "0")}:00.0`;
}

export function attributesOf(ordinal: number, settings: SimulationSettings): Map<number, number> {
  const { blockThreads, block, grid, sharedBytes, mostSharedBytes } = LAUNCH_LIMITS;
  return new Map<number, number>([
    [A.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, blockThreads],
    [A.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, block[0]],
    [A.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, block[1]],
    [A.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, block[2]],
    [A.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, grid[0]],
    [A.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, grid[1]],
    [A.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, grid[2]],
    [A.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, sharedBytes],
    [A.CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32],
    [A.CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1_000_000],
    [A.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, MULTIPROCESSORS],
    [A.CU_DEVICE_ATTRIBUTE_INTEGRATED, Number(settings.integrated)],
    [A.CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1],
    [A.CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1],
    [A.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, ordinal + 1],
    [A.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0],
    [A.CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1_000_000],
    [A.CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 4096],
    [A.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 32 << 20],
    [A.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048],
    [A.CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2],
    [A.CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1],
    [A.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0],
    [A.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9],
    [A.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0],
    [A.CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1],
    [A.CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1],
    [A.CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, Number(settings.integrated)],
    [A.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, Number(settings.concurrentManagedAccess)],
    [A.CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1],
    [A.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1],
    [A.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, mostSharedBytes],
    [A.CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1],
    [A.CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1],
    [A.CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1],
    [A.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, 0],
    [A.CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, 0],
    [A.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, Number(settings.poolsSupported)],
    [A.CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, Number(settings.poolsSupported)],
    [A.CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1],
    [A.CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 1],
    [A.CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 1],
    [A.CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 0],
  ]);
}
