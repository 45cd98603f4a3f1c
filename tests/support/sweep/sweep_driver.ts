// A driver for the failure sweep: one call of one function fails, once or from there on, and all that
// is made and given back is noted.

import type { DriverApi, DriverFunction } from "../../../ffi/cuda.ts";
import { type Call, intercept } from "../faulty_driver.ts";
import { type CallArguments, givesBack, Held, nameOfGivenBack } from "./held.ts";

/** The call that fails, and its status. */
export interface SweepFault {
  readonly name: DriverFunction;
  /** The number of the call, counted from 1 on. */
  readonly nth: number;
  /** The status it returns without doing anything. */
  readonly status: number;
}

/** The status after which a context refuses all work. */
export const STICKY_STATUS = 700;

/** The calls that go on after a sticky error: questions about the machine, and the choice of contexts. */
const UNBROKEN =
  /^cu(Init|GetError|Driver|Device(?!GraphMem|GetGraphMem|SetGraphMem)|Ctx(Push|Pop|Set|Get)Current)/;

/** No step makes as many calls: one that does so goes round in circles. */
const MAX_CALLS = 500_000;

/** Functions that return a promise. */
const NONBLOCKING = /Nonblocking$/;

/** A driver whose calls are counted, noted, and made to fail. */
export class SweepDriver {
  readonly api: DriverApi;
  /** The things that the program holds. */
  readonly held: Held = new Held();
  /** Calls by function since the last {@link SweepDriver.arm}. */
  counts: Map<DriverFunction, number> = new Map();
  /** The things that failed releases named. */
  readonly excused: Set<string> = new Set();
  /** Whether a failed release named nothing, so that it may have left any memory. */
  isMemoryExcused = false;
  readonly #failed = new Set<DriverFunction>();
  #callCount = 0;
  #fault: SweepFault | undefined;
  #hasFired = false;
  #isBroken = false;

  constructor(api: DriverApi) {
    this.api = intercept(api, (name, call, args) => this.#call(name, call, args));
  }

  get hasFired(): boolean {
    return this.#hasFired;
  }

  /** Whether a release failed, and nothing gave the thing back later. */
  get hasLost(): boolean {
    const isNameless = this.isMemoryExcused && this.excused.size === 0;
    return isNameless || [...this.excused].some((name) => this.held.has(name));
  }

  /** Whether a call of a function was made to fail. */
  hasFailed(name: DriverFunction): boolean {
    return this.#failed.has(name);
  }

  /** Counts anew, and makes a call from here on fail; undefined mends the driver. */
  arm(fault?: SweepFault): void {
    this.counts = new Map();
    this.#fault = fault;
  }

  #call(name: DriverFunction, call: Call, args: unknown[]): unknown {
    if (++this.#callCount > MAX_CALLS) throw new Error("Cannot go on: the step makes no end");
    const count = (this.counts.get(name) ?? 0) + 1;
    this.counts.set(name, count);
    const failure = this.#failureOf(name, count);
    if (failure !== undefined) {
      this.#failed.add(name);
      this.#excuse(name, args);
      return NONBLOCKING.test(name) ? Promise.resolve(failure) : failure;
    }
    const status = call(...args);
    // A broken capture ends as well, with an error.
    if (status === 0 || name === "cuStreamEndCapture") this.held.note(name, args);
    return status;
  }

  #failureOf(name: DriverFunction, count: number): number | undefined {
    if (this.#isBroken && !UNBROKEN.test(name)) return STICKY_STATUS;
    const fault = this.#fault;
    if (fault?.name !== name || fault.nth !== count) return undefined;
    this.#hasFired = true;
    if (fault.status === STICKY_STATUS) this.#isBroken = true;
    return fault.status;
  }

  #excuse(name: DriverFunction, args: CallArguments): void {
    if (!givesBack(name)) return;
    const named = nameOfGivenBack(name, args);
    if (named !== undefined) this.excused.add(named);
    this.isMemoryExcused = true;
  }
}
