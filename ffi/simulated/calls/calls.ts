// The form in which the groups of driver calls are written: without status codes for success, and
// with thrown errors for refusals; `simulateDriver()` makes driver functions of them.

import type { DriverApi, DriverFunction } from "../../cuda.ts";

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

/** The calls that one file makes: those with the given names. */
export type CallGroup<Name extends string> = Pick<
  SimulatedCalls,
  Extract<DriverFunction, Name>
>;
