// The form in which the groups of driver calls are written: tables without status codes for success,
// and with thrown errors for refusals; `simulateDriver()` makes driver functions of them.

import type { DriverApi, DriverFunction } from "../../cuda.ts";
import type { Machine } from "../model/machine.ts";

type DriverCall<Name extends DriverFunction> = NonNullable<DriverApi[Name]>;

/** Functions that return a promise because they wait off the JavaScript thread. */
export type WaitingFunction = Extract<DriverFunction, `${string}Nonblocking`>;

/** Every driver function, as the simulator writes it: nothing returned means success. */
export type SimulatedCalls =
  & {
    [Name in Exclude<DriverFunction, WaitingFunction>]: (
      ...parameters: Parameters<DriverCall<Name>>
    ) => number | void;
  }
  & { [Name in WaitingFunction]: (...parameters: Parameters<DriverCall<Name>>) => Promise<number> };

/** Types a function that makes the table of a group's calls for a machine. */
export function callGroup<Calls extends Partial<SimulatedCalls>>(
  make: (machine: Machine) => Calls,
): (machine: Machine) => Calls {
  return make;
}
