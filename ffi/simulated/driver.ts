// A driver without a GPU: real semantics and status codes, and errors for mistakes that the real
// driver lets pass. It replaces the library, so that all code above it runs unchanged.

import { CUresult } from "../constants.ts";
import { CUDA_SINCE, type DriverApi, type DriverFunction } from "../cuda.ts";
import { type HostCheck, OWN, type OwnParts } from "../own_parts.ts";
import type { SimulatedCalls } from "./calls/calls.ts";
import { fillCalls, linearCopyCalls, shapedCopyCalls } from "./calls/copy_calls.ts";
import { deviceCalls } from "./calls/device_calls.ts";
import { graphCalls, graphMemoryCalls } from "./calls/graph_calls.ts";
import { lockedCalls, managedCalls } from "./calls/host_memory_calls.ts";
import {
  functionCalls,
  launchCalls,
  libraryCalls,
  linkCalls,
  moduleCalls,
} from "./calls/kernel_calls.ts";
import { memoryCalls } from "./calls/memory_calls.ts";
import { poolCalls } from "./calls/pool_calls.ts";
import { sharingCalls } from "./calls/sharing_calls.ts";
import { eventCalls, streamCalls } from "./calls/stream_calls.ts";
import { virtualMemoryCalls } from "./calls/virtual_memory_calls.ts";
import { Refusal, SimulationError } from "./errors.ts";
import { HostStorage } from "./model/host_storage.ts";
import { Machine } from "./model/machine.ts";
import { DISTURBING } from "./model/capture.ts";
import { simulateNccl } from "./nccl.ts";
import { simulateNvml } from "./nvml.ts";
import { simulateNvrtc } from "./nvrtc.ts";
import { settingsOf, type SimulationOptions } from "./options.ts";

export { SimulationError } from "./errors.ts";
export type {
  Dimensions,
  RankFault,
  SimulatedKernel,
  SimulatedLaunch,
  SimulationOptions,
} from "./options.ts";

/** Functions that answer before `cuInit`. */
const ALWAYS_READY: ReadonlySet<string> = new Set(
  ["cuGetErrorString", "cuInit", "cuDriverGetVersion"] satisfies DriverFunction[],
);

/**
 * Makes a driver API over simulated devices.
 *
 * Each call makes a machine of its own. Its functions need no `this`, so a test breaks one of them
 * by spreading: `{ ...simulateDriver(), cuMemFree_v2: () => 700 }`.
 *
 * @throws {SimulationError} from its functions, for a race, a copy out of bounds, a read of bytes
 * that nobody wrote, and other mistakes that the real driver does not report.
 */
export function simulateDriver(options: SimulationOptions = {}): DriverApi {
  return driverOf(new Machine(settingsOf(options)));
}

/** Makes a driver API over a machine, for callers that also inspect the machine. */
export function driverOf(machine: Machine): DriverApi {
  const calls: SimulatedCalls = {
    ...deviceCalls(machine),
    ...memoryCalls(machine),
    ...lockedCalls(machine),
    ...managedCalls(machine),
    ...poolCalls(machine),
    ...virtualMemoryCalls(machine),
    ...linearCopyCalls(machine),
    ...shapedCopyCalls(machine),
    ...fillCalls(machine),
    ...streamCalls(machine),
    ...eventCalls(machine),
    ...graphCalls(machine),
    ...graphMemoryCalls(machine),
    ...moduleCalls(machine),
    ...linkCalls(machine),
    ...libraryCalls(machine),
    ...functionCalls(machine),
    ...launchCalls(machine),
    ...sharingCalls(machine),
  };
  const functions = Object.entries(calls).map(([name, call]) => {
    // Functions without a number came before the drivers that are simulated.
    const since = CUDA_SINCE[name as DriverFunction] ?? "0.0";
    const [major = 0, minor = 0] = since.split(".").map(Number);
    const isMissing = machine.settings.driverVersion < major * 1000 + minor * 10;
    return [name, isMissing ? null : driverFunction(machine, name, call)];
  });
  // SimulatedCalls has the names and parameters of DriverApi, which the compiler has checked above.
  const api = Object.fromEntries(functions) as DriverApi;
  const own: OwnParts = {
    machine: machine.id,
    watchHost: watchArray,
    availableBytes: (ordinal) => machine.devices[ordinal]?.freeBytes ?? 0,
    ...simulateNccl(machine),
    nvml: simulateNvml(machine),
    nvrtc: simulateNvrtc(),
  };
  return Object.assign(api, { [OWN]: own });
}

/** Watches an array that a transfer reads, and reports a change before the transfer is over. */
function watchArray(bytes: Uint8Array<ArrayBufferLike>): HostCheck {
  const { byteLength } = bytes;
  const extent = { start: 0, widthBytes: byteLength, pitchBytes: byteLength, rowCount: 1 };
  const watch = new HostStorage(bytes).watch(extent);
  return () => {
    if (bytes.byteLength === 0 || watch.isIntact()) return;
    throw new SimulationError(
      "an upload",
      "hostChanged",
      `the program changed its array of ${byteLength} bytes before it was over; await it first`,
    );
  };
}

/** Makes a driver function of a simulated call: with a status code for its result. */
function driverFunction(
  machine: Machine,
  name: string,
  call: (...parameters: never[]) => number | void | Promise<number>,
): (...parameters: never[]) => number | Promise<number> {
  const { site } = machine;
  return function served(...parameters) {
    site.name = name;
    site.refusedBy = undefined;
    if (!machine.isInitialized && !ALWAYS_READY.has(name)) {
      return CUresult.CUDA_ERROR_NOT_INITIALIZED;
    }
    try {
      if (DISTURBING.has(name)) machine.requireRelaxed();
      const result = call(...parameters) ?? CUresult.CUDA_SUCCESS;
      return result instanceof Promise ? result.catch(statusOf) : result;
    } catch (error) {
      // The driver's own frames would fill the stack trace, and hide the program's mistake.
      if (error instanceof SimulationError) Error.captureStackTrace(error, served);
      return statusOf(error);
    }
  };

  /** Returns the status of a refusal; throws anything else. */
  function statusOf(error: unknown): number {
    if (!(error instanceof Refusal)) throw error;
    site.refusedBy = error.rule;
    return error.status;
  }
}
