// Errors of the simulated driver: a status code when the real driver detects the mistake, and a
// thrown SimulationError when the real one would corrupt memory or race.

import { CUresult } from "../constants.ts";
import type { Rule } from "./stricter.ts";

/** Reports a mistake that the real driver would not notice: a race, a stray copy, a stale host array. */
export class SimulationError extends Error {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "SimulationError";
  /** Driver function whose work broke the rule. */
  readonly call: string;
  /** The rule, which only the simulated driver has. */
  readonly rule: Rule;

  /** Creates an error for a call that broke a rule. */
  constructor(call: string, rule: Rule, words: string) {
    if (typeof call !== "string" || typeof words !== "string") {
      throw new TypeError("Cannot call new SimulationError(): expected a call, a rule and words");
    }
    super(`Cannot run ${call}: ${words}`);
    this.call = call;
    this.rule = rule;
  }
}

/** Remembers which driver call is being served, so that errors can name it from any depth. */
export class CallSite {
  /** Driver function being served. */
  name = "";
  /** The rule that rejected the last call, when only the simulated driver has that rule. */
  refusedBy: Rule | undefined;

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
  fail(rule: Rule, words: string): never {
    throw new SimulationError(this.name, rule, words);
  }
}

/** Carries a status code from any depth to the driver call that returns it; it never leaves the simulator. */
export class Refusal {
  readonly status: number;
  /** The rule behind it, when only the simulated driver has it. */
  readonly rule: Rule | undefined;

  constructor(status: number, rule?: Rule) {
    this.status = status;
    this.rule = rule;
  }
}

/** Ends the driver call being served with a status code. */
export function refuse(status: keyof typeof CUresult, rule?: Rule): never {
  throw new Refusal(CUresult[status], rule);
}

/** Ends the driver call being served with CUDA_ERROR_INVALID_VALUE unless a condition holds. */
export function requireValue(condition: boolean, rule?: Rule): asserts condition {
  if (!condition) refuse("CUDA_ERROR_INVALID_VALUE", rule);
}

/** Writes an address or a handle for an error message. */
export function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}
