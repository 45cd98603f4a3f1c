// Every driver call fails in a broad scenario: at the first three calls of each function in each step.
// `deno task test:long` runs the full product.

import { assertEquals, assertLessOrEqual, assertStringIncludes } from "@std/assert";
import { share, shareOf, testRandom } from "../support/random.ts";
import { type Outcome, type Point, runPoint } from "../support/sweep/point.ts";
import type { Step } from "../support/sweep/scene.ts";
import { nameOfPoint, pointsOf, run, takeCensus, unreached } from "../support/sweep/sweep.ts";
import { UNREACHED } from "../support/sweep/unreached.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

/** A failure that may pass, by a status that says nothing. */
const UNKNOWN_STATUS = 999;

/** Out of memory; an error that breaks the context, from there on; a status that nobody knows. */
const OTHER_STATUSES = [2, 700, 12345];

/** A point takes some 20 milliseconds, and there are thousands. */
const PART = { parts: 100 };

/** Points of the other statuses that a run takes; the full product has some ten thousand. */
const SAMPLE_COUNT = share(1500, PART);

/** Runs of one point until its call is made. */
const MAX_TRIES = 5;

/** The share of points whose calls need not be made: the census saw them once. */
const MAX_UNMADE = 0.01;

using censusFolder = new TemporaryFolder();
const census = await takeCensus(censusFolder.path);

Deno.test("Steps of the failure sweep are right and leave nothing when no call fails", () => {
  assertEquals(census.findings.map(({ point, defects }) => [nameOfPoint(point), defects]), []);
});

Deno.test("Steps of the failure sweep reach every driver function but those with a reason", () => {
  const missing = unreached(census.reaches);
  console.log(`no step reaches ${missing.join(", ")}`);
  assertEquals(missing.toSorted(), Object.keys(UNREACHED).toSorted());
});

Deno.test("A driver call that fails once costs at most what it names", () =>
  checkPoints(shareOf(pointsOf(census.reaches, [UNKNOWN_STATUS]), PART)));

Deno.test("Driver calls that fail with other statuses cost at most what they name", () => {
  const points = pointsOf(census.reaches, OTHER_STATUSES);
  const random = testRandom();
  return checkPoints(
    Array.from({ length: SAMPLE_COUNT }, () => random.pick(points)).filter((point) => !!point),
  );
});

Deno.test("The failure sweep finds planted defects", async () => {
  using folder = new TemporaryFolder();
  const next = { name: "nothing", run: () => {} };
  const event = new BigUint64Array(1);
  const plants: Record<string, Step["run"]> = {
    "held after all: event": ({ gpu }) => gpu.context.call("cuEventCreate", event, 0),
    "device memory is missing": ({ gpu }) => gpu.context.call("cuMemAlloc_v2", event, 4096n),
    "held after all: context": ({ gpu }) => gpu.context.retain(),
    "left live: lost": ({ gpu }) => gpu.alloc("uint8", 64, { label: "lost" }),
    "threw TypeError: mine": () => {
      throw new TypeError("mine");
    },
    "nobody caught Error: mine": () => void Promise.reject(new Error("mine")),
    "makes no end": ({ gpu }) => {
      while (gpu.stream.isIdle);
    },
    "a failed release was not reported": ({ gpu }) => {
      gpu.context.call("cuEventCreate", event, 0);
      gpu.context.status("cuEventDestroy_v2", event[0] ?? 0n);
    },
  };
  const fault = { name: "cuEventDestroy_v2", nth: 1, status: UNKNOWN_STATUS } as const;
  for (const [defect, run] of Object.entries(plants)) {
    const point = { step: { name: "planted", run }, phase: "run", fault } as const;
    const { defects } = await runPoint(point, { folder: folder.path, next });
    assertStringIncludes(defects.join("; "), defect);
  }
});

async function checkPoints(points: readonly Point[]): Promise<void> {
  using folder = new TemporaryFolder();
  const findings: string[] = [];
  const unmade: string[] = [];
  for (const point of points) {
    const { defects, hasFired } = await runUntilFired(point, folder.path);
    if (!hasFired) unmade.push(nameOfPoint(point));
    if (defects.length > 0) findings.push(`${nameOfPoint(point)}: ${defects.join("; ")}`);
  }
  console.log(`${points.length} points`);
  if (unmade.length > 0) console.log("calls that only other timing makes:", unmade);
  assertEquals(findings, []);
  assertLessOrEqual(unmade.length, Math.ceil(points.length * MAX_UNMADE));
}

/** Runs a point until its call is made: how often streams are made, say, depends on what is under way. */
async function runUntilFired(point: Point, folder: string): Promise<Outcome> {
  let outcome = await run(point, folder);
  for (let tries = 1; tries < MAX_TRIES; tries++) {
    if (outcome.hasFired || outcome.defects.length > 0) break;
    outcome = await run(point, folder);
  }
  return outcome;
}
