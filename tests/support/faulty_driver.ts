// The suite's driver with something wrong or watched: one call that fails, or all calls counted.
// Works on both drivers, because a driver is a record of functions that can be copied.

import { setTimeout as delay } from "node:timers/promises";
import { CUresult } from "../../ffi/constants.ts";
import type { DriverApi, DriverFunction } from "../../ffi/cuda.ts";
import { testDriver } from "./driver.ts";

/** The call that fails, or the calls that do the same, and its status. */
export interface Fault {
  readonly name: DriverFunction | readonly DriverFunction[];
  /** The status it returns instead of doing anything; CUDA_ERROR_UNKNOWN by default. */
  readonly status?: number;
  /** The number of calls that succeed first; 0 by default. */
  readonly after?: number;
  /** The number of calls that fail then; all by default. */
  readonly times?: number;
}

/** A driver and the switch that makes one of its functions fail. */
export interface FaultyDriver {
  readonly driver: DriverApi;
  /** Makes calls from the next one on follow `fault`; undefined mends the driver. */
  setFault(fault: Fault | undefined): void;
}

/** Copies a driver so that one function at a time can be made to fail. */
export function faultyDriver(api: DriverApi = testDriver()): FaultyDriver {
  let fault: Fault | undefined;
  let succeeding = 0;
  let failing = 0;
  const driver = intercept(api, (name, call, args) => {
    const isMeant = fault !== undefined && [fault.name].flat().includes(name);
    if (!isMeant || succeeding-- > 0 || failing-- <= 0) return call(...args);
    return fault?.status ?? CUresult.CUDA_ERROR_UNKNOWN;
  });
  return {
    driver,
    setFault(next) {
      fault = next;
      succeeding = next?.after ?? 0;
      failing = next?.times ?? Infinity;
    },
  };
}

/** A driver whose calls are noted. */
export interface WatchedDriver {
  readonly driver: DriverApi;
  readonly calls: DriverFunction[];
  /** Resolves once a function was called. */
  untilCalled(name: DriverFunction): Promise<void>;
}

/** Copies a driver so that the names of its calls are noted. */
export function watchedDriver(api: DriverApi = testDriver()): WatchedDriver {
  const calls: DriverFunction[] = [];
  const driver = intercept(api, (name, call, args) => {
    calls.push(name);
    return call(...args);
  });
  const untilCalled = async (name: DriverFunction) => {
    while (!calls.includes(name)) await delay(1);
  };
  return { driver, calls, untilCalled };
}

/** A function of a driver, whichever it is. */
export type Call = (...args: unknown[]) => unknown;

/** Copies a driver so that `instead` is called in the place of each function, which it may call. */
export function intercept(
  api: DriverApi,
  instead: (name: DriverFunction, call: Call, args: unknown[]) => unknown,
): DriverApi {
  const copy: Record<string, unknown> = { ...api };
  for (const [name, call] of Object.entries(copy)) {
    if (typeof call !== "function") continue;
    copy[name] = (...args: unknown[]) => instead(name as DriverFunction, call as Call, args);
  }
  return copy as unknown as DriverApi;
}
