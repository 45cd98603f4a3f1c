// Summaries of values at the ends of what a float64 holds.

import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import type { BufferSummary } from "../../../src/buffers/summary.ts";
import { withDevice } from "../../support/with_device.ts";

const MAX = Number.MAX_VALUE;

/** Summarises values as float64. */
async function summaryOf(values: readonly number[]): Promise<BufferSummary> {
  let found: BufferSummary | undefined;
  await withDevice(async (gpu) => {
    using x = await gpu.upload(Float64Array.from(values));
    found = await x.describe();
  });
  assert(found !== undefined);
  return found;
}

Deno.test("describe() of the largest numbers of both signs has finite figures", async () => {
  const found = await summaryOf([-MAX, -MAX, MAX, MAX]);
  assertEquals(found.mean, 0);
  assertEquals(found.deviation, MAX);
  assertEquals(found.quartiles, [-MAX, 0, MAX]);
  assertEquals([found.histogram[0], found.histogram.at(-1)], [2, 2]);
});

for (const count of [3, 7, 49, 1000]) {
  Deno.test(`describe() of ${count} times the largest number has that mean`, async () => {
    const found = await summaryOf(Array(count).fill(MAX));
    assertAlmostEquals((found.mean ?? 0) / MAX, 1, 1e-12);
    assertEquals(found.quartiles, [MAX, MAX, MAX]);
    assertAlmostEquals((found.deviation ?? NaN) / MAX, 0, 1e-12);
  });
}

for (const value of [2, 0.1, -1 / 3, 1e-300, Number.MIN_VALUE]) {
  Deno.test(`describe() of ${value} alone has that mean and no deviation`, async () => {
    const { mean, deviation } = await summaryOf(Array(600).fill(value));
    assertEquals([mean, deviation], [value, 0]);
  });
}

for (const unit of [1e200, 1e-200, Number.MIN_VALUE]) {
  Deno.test(`describe() of multiples of ${unit} has their deviation and histogram`, async () => {
    const found = await summaryOf([-unit, unit, -unit, unit]);
    assertEquals(found.deviation, unit);
    assertEquals([found.histogram[0], found.histogram.at(-1)], [2, 2]);
  });
}

Deno.test("describe() of a sample of large numbers has a finite error of the mean", async () => {
  const values = Array.from({ length: 200_000 }, (_, i) => i < 100_000 ? 1e200 : -1e200);
  const { meanError } = await summaryOf(values);
  assertAlmostEquals((meanError ?? NaN) / 1e200, 0.1, 0.05);
});
