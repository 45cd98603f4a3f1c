// Checks which run of a cell an object or a moment is said to belong to.

import { assertEquals } from "@std/assert";
import { CellRuns, nameOfRun, originOf } from "../../../src/accounting/cell_runs.ts";

Deno.test("CellRuns.ofObject() gives an object to the cell that ends after it", () => {
  const runs = runsOf([2, 10], [3, 10], [4, 25]);
  const found = [1, 10, 11, 25].map((id) => runs.ofObject(id)?.last);
  assertEquals(found, [2, 2, 4, 4]);
});

Deno.test("CellRuns.ofObject() gives what is newer than all ends to the next cell", () => {
  assertEquals(runsOf([2, 10]).ofObject(11), { first: 3, last: 3 });
});

Deno.test("CellRuns.ofObject() knows nothing before the first cell is over", () => {
  assertEquals(new CellRuns().ofObject(1), undefined);
});

Deno.test("CellRuns.ofObject() leaves open which of several cells it was when some failed", () => {
  const run = runsOf([2, 10], [5, 20]).ofObject(11);
  assertEquals(run, { first: 3, last: 5 });
  assertEquals(run && nameOfRun(run), "cell 3-5");
});

Deno.test("CellRuns.ofObject() takes a number that comes twice, as of code without a history", () => {
  assertEquals(runsOf([2, 10], [2, 20]).ofObject(15), { first: 2, last: 2 });
});

Deno.test("CellRuns.at() gives a moment to the cell that ends after it", () => {
  const runs = runsOf([2, 10], [3, 10]);
  assertEquals([50, 100, 101, 201].map((time) => runs.at(time)?.last), [2, 2, 3, 4]);
});

Deno.test("originOf() leaves places in files as they are", () => {
  assertEquals(originOf({ id: 1, stack: ["main.ts:3:7", "other.ts:1:1"] }), "main.ts:3:7");
  assertEquals(originOf({ id: 1, stack: undefined }), undefined);
});

/** Runs that ended one after another, each with its number and the last object made until then. */
function runsOf(...ends: readonly (readonly [number: number, lastId: number])[]): CellRuns {
  const runs = new CellRuns();
  for (const [index, [number, lastId]] of ends.entries()) {
    runs.end({ number, lastId, time: 100 * (index + 1) });
  }
  return runs;
}
