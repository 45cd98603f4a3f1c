// The output of `deno bench --json` as speeds: rows by name and size, and the benches that got
// slower.

import { messageOf, visibleText } from "../words/format.ts";
import { type BenchFacts, parseBenchName } from "./bench_name.ts";

/** Speeds of one bench at one size. */
export interface BenchSpeed extends BenchFacts {
  /** Average speed in GB/s: 1 GB = 10^9 bytes. */
  readonly gigabytesPerSecond: number;
  readonly fastest: number;
  /** Speed that three quarters of the measurements reach. */
  readonly usual: number;
  /** Share of the largest speed of page-locked memory in this direction; undefined without one. */
  readonly ceilingShare: number | undefined;
}

export interface BenchRun {
  /** Version of Deno and the machine's kind. */
  readonly runtime: string;
  readonly cpu: string;
  readonly speeds: readonly BenchSpeed[];
  /** Benches that failed, with their errors. */
  readonly failures: readonly { readonly name: string; readonly error: string }[];
  /** Number of benches that move nothing, or do not say how much. */
  readonly otherCount: number;
}

/** Start of the name of benches that move page-locked memory: the ceiling of a direction. */
const CEILING_NAME = "pinned";

/**
 * Reads what `deno bench --json` printed.
 *
 * @throws TypeError for a text that is something else; the message is the reason alone.
 */
export function parseBenchRun(text: string): BenchRun {
  const { runtime, cpu, benches } = record(parseJson(text), "the output of deno bench");
  if (!Array.isArray(benches)) throw unreadable("benches are missing");
  const found: Omit<BenchSpeed, "ceilingShare">[] = [];
  const failures: { name: string; error: string }[] = [];
  let otherCount = 0;
  for (const entry of benches) {
    const { name, results } = record(entry, "a bench");
    if (typeof name !== "string" || !Array.isArray(results)) {
      throw unreadable("a bench has no name");
    }
    const facts = parseBenchName(name);
    if (facts === undefined) otherCount += results.length;
    else {
      for (const result of results) {
        const { ok, failed } = record(result, "a result");
        if (failed !== undefined) failures.push({ name, error: errorText(failed) });
        else found.push({ ...facts, ...speedsOf(ok, facts.byteLength * facts.callCount) });
      }
    }
  }
  const ceilings = ceilingsOf(found);
  const speeds = found.map((speed): BenchSpeed => {
    const ceiling = ceilings.get(ceilingKey(speed));
    return {
      ...speed,
      ceilingShare: ceiling === undefined ? undefined : speed.gigabytesPerSecond / ceiling,
    };
  });
  return { runtime: String(runtime), cpu: String(cpu), speeds, failures, otherCount };
}

/** A bench of two runs, on the same device. */
export type ComparedBench = Readonly<Record<"before" | "now", BenchSpeed>>;

/** Finds the benches that both runs have. */
export function compareRuns(before: BenchRun, now: BenchRun): ComparedBench[] {
  const earlier = new Map(before.speeds.map((speed) => [speedKey(speed), speed]));
  return now.speeds.flatMap((speed) => {
    const old = earlier.get(speedKey(speed));
    return old === undefined ? [] : [{ before: old, now: speed }];
  });
}

/** Tells whether the fastest measurement is below the speed that three quarters of the earlier ones reached. */
export function isSlower({ before, now }: ComparedBench): boolean {
  return now.fastest < before.usual;
}

function speedKey({ name, byteLength, direction, device }: BenchSpeed): string {
  return JSON.stringify([name, byteLength, direction ?? "", device]);
}

function ceilingKey({ direction, device }: Omit<BenchSpeed, "ceilingShare">): string {
  return JSON.stringify([direction ?? "", device]);
}

function ceilingsOf(speeds: readonly Omit<BenchSpeed, "ceilingShare">[]): Map<string, number> {
  const ceilings = new Map<string, number>();
  for (const speed of speeds) {
    if (!speed.name.startsWith(CEILING_NAME) || speed.direction === undefined) continue;
    const key = ceilingKey(speed);
    ceilings.set(key, Math.max(ceilings.get(key) ?? 0, speed.gigabytesPerSecond));
  }
  return ceilings;
}

/** Turns nanoseconds of one measurement into speeds. */
function speedsOf(found: unknown, byteLength: number) {
  const { avg, min, p75 } = record(found, "a result");
  const speed = (nanoseconds: unknown) => {
    if (typeof nanoseconds !== "number" || !(nanoseconds > 0)) {
      throw unreadable("a time is missing");
    }
    return byteLength / nanoseconds;
  };
  return { gigabytesPerSecond: speed(avg), fastest: speed(min), usual: speed(p75) };
}

function errorText(failed: unknown): string {
  const { message = failed } = typeof failed === "object" && failed !== null
    ? failed as { message?: unknown }
    : {};
  return typeof message === "string" ? message : JSON.stringify(message);
}

function parseJson(text: string): unknown {
  // Programs may print before the benches run.
  const start = text.search(/^\{$/m);
  try {
    return JSON.parse(start < 0 ? text : text.slice(start));
  } catch (error) {
    throw unreadable(visibleText(messageOf(error)));
  }
}

function record(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw unreadable(`${name} is not an object`);
  return value as Record<string, unknown>;
}

function unreadable(reason: string): TypeError {
  return new TypeError(`it is no output of deno bench --json: ${reason}`);
}
