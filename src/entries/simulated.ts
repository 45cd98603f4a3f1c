/**
 * A driver with no GPU under it, for tests: as many devices as you like, small or large, old or new,
 * and calls that fail when you say so. It throws a {@linkcode SimulationError} for mistakes that a
 * real driver lets pass, such as a race between two streams.
 *
 * ```ts
 * import { CudaDevice, OutOfMemoryError } from "vramkit";
 * import { simulateDriver } from "vramkit/simulated";
 *
 * const driver = simulateDriver({ deviceCount: 1, memorySize: "64 MiB" });
 * using gpu = CudaDevice.open(0, { driver });
 * try {
 *   gpu.alloc("uint8", 2 ** 30);
 * } catch (error) {
 *   console.log(error instanceof OutOfMemoryError); // true
 * }
 * ```
 *
 * @module
 */

import "../words/runtime.ts";
import { CUresult } from "../../ffi/constants.ts";
import type { DriverApi, DriverFunction } from "../../ffi/cuda.ts";
import {
  type RankFault,
  type SimulatedKernel as DriverKernel,
  simulateDriver as simulate,
} from "../../ffi/simulated/driver.ts";
import { MAX_DEVICES } from "../../ffi/simulated/model/address_space.ts";
import { requirePointers } from "../driver/driver.ts";
import { type ByteSize, describeValue, parseBytes } from "../words/format.ts";
import {
  CALLBACK,
  FLAG,
  isRecord,
  NUMBER,
  type OptionKind,
  OptionSet,
  refusePromise,
  SIZE,
  TEXT,
} from "../words/options.ts";

import { Parts } from "../words/parts.ts";
import { type SimulatedKernel, SimulatedLaunch } from "./simulated_launch.ts";

export type { DriverApi, DriverFunction } from "../../ffi/cuda.ts";
export type { RankFault } from "../../ffi/simulated/driver.ts";
export { type Dimensions, type SimulatedKernel, SimulatedLaunch } from "./simulated_launch.ts";
export { SimulationError } from "../../ffi/simulated/errors.ts";
export type { Rule as SimulationRule } from "../../ffi/simulated/stricter.ts";

/** The name of an error that a driver call returns, as CUDA's header spells it. */
export type DriverStatus = `CUDA_ERROR_${string}`;

/** A simulated machine. */
export interface SimulatedDriverOptions {
  /** Number of devices, 1 to 31; 2 by default. */
  readonly deviceCount?: number | undefined;
  /** Memory of each device; 8 GiB by default. */
  readonly memorySize?: ByteSize | undefined;
  /** Lets its devices access each other's memory; true by default. */
  readonly peers?: boolean | undefined;
  /** Gives its devices stream-ordered memory pools; true by default. */
  readonly pools?: boolean | undefined;
  /** Makes its devices take the host's memory, as integrated GPUs do; false by default. */
  readonly integrated?: boolean | undefined;
  /** Lets host and device use managed memory at the same time; true by default. */
  readonly concurrentManagedAccess?: boolean | undefined;
  /** The CUDA version of its driver, which lacks all later functions; `"13.0"` by default. */
  readonly cudaVersion?: string | undefined;
  /**
   * Kernels by name, as functions in JavaScript: launches of a kernel of that name run them, whatever
   * its code says.
   */
  readonly kernels?: Readonly<Record<string, SimulatedKernel>> | undefined;
  /** Version of its NCCL, which lacks all later functions; `"2.28.9"` by default. */
  readonly ncclVersion?: string | undefined;
  /**
   * Decides about the fault of a rank at each call of NCCL, such as `"ncclAllReduce"`: the rank is late
   * by some seconds, `"asleep"` as long as this function says so, or `"dead"`.
   */
  readonly ranks?: (rank: number, call: string) => RankFault | undefined;
  /**
   * Decides before each call whether it fails: the name of a status makes the call return it and do
   * nothing else, undefined lets the call run.
   */
  readonly fault?: (call: DriverFunction) => DriverStatus | undefined;
}

const KERNELS: OptionKind = {
  expected:
    "functions by name, each as { run(launch) {} } or { parameterBytes: [8, 4], run(launch) {} }",
  accepts: (value) => isRecord(value) && Object.values(value).every(isKernel),
};

const SIMULATED_DRIVER_OPTIONS = new OptionSet<SimulatedDriverOptions>({
  deviceCount: NUMBER,
  memorySize: SIZE,
  peers: FLAG,
  pools: FLAG,
  integrated: FLAG,
  concurrentManagedAccess: FLAG,
  cudaVersion: TEXT,
  kernels: KERNELS,
  ncclVersion: TEXT,
  ranks: CALLBACK,
  fault: CALLBACK,
});

/**
 * Makes a simulated driver, to pass to `CudaDevice.open(0, { driver })`. Each call makes a new
 * machine, which shares nothing with the others. Needs `--allow-ffi`.
 *
 * @throws RangeError when the number of devices is not from 1 to 31, or a size or a version cannot be
 *   read.
 * @throws CudaUnavailableError when the permission is missing.
 *
 * @example
 * ```ts
 * import { CudaDevice, CudaError } from "vramkit";
 * import { simulateDriver } from "vramkit/simulated";
 *
 * let isBroken = false;
 * const driver = simulateDriver({
 *   fault: (call) => isBroken && call === "cuStreamCreateWithPriority"
 *     ? "CUDA_ERROR_OPERATING_SYSTEM"
 *     : undefined,
 * });
 * using gpu = CudaDevice.open(0, { driver });
 * isBroken = true;
 * try {
 *   gpu.createStream();
 * } catch (error) {
 *   if (error instanceof CudaError) console.log(error.codeName); // CUDA_ERROR_OPERATING_SYSTEM
 * }
 * ```
 */
export function simulateDriver(options: SimulatedDriverOptions = {}): DriverApi {
  options = SIMULATED_DRIVER_OPTIONS.read(options, "simulateDriver");
  const { deviceCount = 2, memorySize = "8 GiB", cudaVersion = "13.0", fault } = options;
  const { ncclVersion = "2.28.9", kernels = {}, ranks = () => undefined } = options;
  if (!Number.isSafeInteger(deviceCount) || deviceCount < 1 || deviceCount > MAX_DEVICES) {
    throw new RangeError(`Cannot simulate ${deviceCount} devices: expected 1 to ${MAX_DEVICES}`);
  }
  const settings = {
    devices: deviceCount,
    memoryBytes: parseBytes(memorySize, "memorySize"),
    driverVersion: parseVersion("CUDA", cudaVersion),
    peerAccess: options.peers ?? true,
    poolsSupported: options.pools ?? true,
    integrated: options.integrated ?? false,
    concurrentManagedAccess: options.concurrentManagedAccess ?? true,
    kernels: Object.fromEntries(Object.entries(kernels).map(guardedKernel)),
    ncclVersion: parseVersion("NCCL", ncclVersion),
    ranks: (rank: number, call: string) => checkFault(ranks(rank, call), rank),
  };
  requirePointers();
  const driver = simulate(settings);
  return fault === undefined ? driver : withFaults(driver, fault);
}

function isKernel(value: unknown): value is SimulatedKernel {
  if (!isRecord(value) || typeof value["run"] !== "function") return false;
  const sizes: unknown = value["parameterBytes"];
  return sizes === undefined ||
    (Array.isArray(sizes) && sizes.every((size) => Number.isInteger(size) && size > 0));
}

/** Refuses a kernel that returns a promise: the launch would be over before its bytes are written. */
function guardedKernel([name, kernel]: [string, SimulatedKernel]): [string, DriverKernel] {
  const { parameterBytes } = kernel;
  const words = `Cannot run kernel "${name}": its function returned a promise, and a launch is ` +
    "over when it returns";
  return [name, {
    parameterBytes,
    run: (launch) => refusePromise(kernel.run(new SimulatedLaunch(new Parts(launch))), words),
  }];
}

function checkFault(fault: RankFault | undefined, rank: number): RankFault | undefined {
  if (fault === undefined || fault === "asleep" || fault === "dead") return fault;
  if (isRecord(fault) && Number(fault.lateSeconds) >= 0) return fault;
  const words = `Cannot fail rank ${rank} by ${describeValue(fault)}: expected "asleep", "dead", ` +
    "{ lateSeconds: 2 } or undefined";
  refusePromise(fault, words);
  throw new TypeError(words);
}

/** The forms of versions, and the weights of their parts in the numbers that the libraries return. */
const VERSIONS = {
  CUDA: { pattern: /^(\d{1,3})\.(\d)$/, weights: [1000, 10], example: "12.8" },
  NCCL: { pattern: /^(\d)\.(\d{1,2})\.(\d{1,2})$/, weights: [10000, 100, 1], example: "2.28.9" },
} as const;

/** Converts `"12.8"` to the number that cuDriverGetVersion returns, and NCCL's versions likewise. */
function parseVersion(library: keyof typeof VERSIONS, version: string): number {
  const { pattern, weights, example } = VERSIONS[library];
  const [, ...parts] = pattern.exec(version) ?? [];
  if (parts.length > 0) {
    return weights.reduce((sum, weight, at) => sum + weight * Number(parts[at]), 0);
  }
  throw new RangeError(
    `Cannot simulate ${library} ${describeValue(version)}: expected a version such as "${example}"`,
  );
}

/** Copies a driver so that `fault` is asked before each call. */
function withFaults(
  driver: DriverApi,
  fault: (call: DriverFunction) => DriverStatus | undefined,
): DriverApi {
  type Call = (...args: unknown[]) => unknown;
  const calls = Object.entries(driver).map(([name, call]) => {
    if (call === null) return [name, null];
    const guarded = (...args: unknown[]) => {
      const status = fault(name as DriverFunction);
      return status === undefined ? (call as Call)(...args) : statusOf(status);
    };
    return [name, guarded];
  });
  // The copy has every function of the driver, and its additions to the vendor's functions.
  return { ...driver, ...Object.fromEntries(calls) } as DriverApi;
}

function statusOf(status: DriverStatus): number {
  const isKnown = typeof status === "string" && Object.hasOwn(CUresult, status);
  const code = isKnown ? CUresult[status as keyof typeof CUresult] : 0;
  if (code !== 0) return code;
  const words =
    `Cannot fail a call with ${describeValue(status)}: expected the name of a status, ` +
    `such as "CUDA_ERROR_OUT_OF_MEMORY"`;
  refusePromise(status, words);
  throw new TypeError(words);
}
