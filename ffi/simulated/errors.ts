// How the simulated driver says no: a status code where the real driver detects the mistake,
// and a thrown SimulationError where the real one would corrupt memory or race.

import { CUresult } from "../constants.ts";

/** Reports a mistake that the real driver would not notice: a race, a stray copy, a stale host array. */
export class SimulationError extends Error {
  override name = "SimulationError";
  /** Driver function whose work broke the rule. */
  readonly call: string;

  /** Names the call and the rule that it broke. */
  constructor(call: string, rule: string) {
    super(`Cannot run ${call}: ${rule}`);
    this.call = call;
  }
}

/** Remembers which driver call is being served, so that errors can name it from any depth. */
export class CallSite {
  /** Driver function being served. */
  name = "";

  /** Runs a function in the name of a call that was served before. */
  during<T>(name: string, run: () => T): T {
    const serving = this.name;
    this.name = name;
    try {
      return run();
    } finally {
      this.name = serving;
    }
  }

  /** Throws a {@linkcode SimulationError} for the call being served. */
  fail(rule: string): never {
    throw new SimulationError(this.name, rule);
  }
}

/** Carries a status code from any depth to the driver call that returns it; it never leaves the simulator. */
export class Refusal {
  /** Status code that the driver call returns. */
  readonly status: number;

  /** Holds a status code. */
  constructor(status: number) {
    this.status = status;
  }
}

/** Ends the driver call being served with a status code. */
export function refuse(status: keyof typeof CUresult): never {
  throw new Refusal(CUresult[status]);
}

/** Ends the driver call being served with CUDA_ERROR_INVALID_VALUE unless a condition holds. */
export function requireValue(condition: boolean): asserts condition {
  if (!condition) refuse("CUDA_ERROR_INVALID_VALUE");
}

/** Writes an address or a handle for an error message. */
export function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}
