// When two outcomes of a step are the same, differ as they should, or differ.

import { assertEquals } from "@std/assert";
import { type ComparedStep, compareStep, CRASHED, HUNG } from "../support/recording/compare.ts";

function compare(
  call: string,
  real: string,
  simulated: Partial<ComparedStep["simulated"]>,
  { managedCount = 0, isFreeing = false, isDiscarded = false } = {},
) {
  return compareStep({
    ...{ call, real, managedCount, isFreeing, isDiscarded },
    simulated: { outcome: "0", ...simulated },
  });
}

Deno.test("compareStep() takes equal outcomes as the same", () => {
  assertEquals(compare("cuInit", "0 a", { outcome: "0 a" }), { kind: "same", isParted: false });
});

Deno.test("compareStep() takes other statuses and outputs as different", () => {
  const different = { kind: "different" as const };
  assertEquals(compare("cuInit", "1", {}), { ...different, isParted: true });
  assertEquals(compare("cuInit", "0", { outcome: "1" }), { ...different, isParted: true });
  assertEquals(compare("cuInit", "1", { outcome: "801" }), { ...different, isParted: false });
  assertEquals(compare("cuInit", "0 a", { outcome: "0 b" }), { ...different, isParted: false });
});

Deno.test("compareStep() takes what a rule of the simulated driver stops as wanted", () => {
  const race = { outcome: "throws race", rule: "race" } as const;
  assertEquals(compare("cuMemcpyAsync", "0", race), {
    kind: "wanted",
    rule: "race",
    isParted: true,
  });
  const packed = { outcome: "1", rule: "packed" } as const;
  assertEquals(compare("cuMemcpy2DAsync_v2", "0", packed), {
    kind: "wanted",
    rule: "packed",
    isParted: true,
  });
  assertEquals(compare("cuMemcpy2DAsync_v2", "801", packed).isParted, false);
  assertEquals(compare("cuMemFree_v2", "1", { ...race, isLate: true }).isParted, true);
});

Deno.test("compareStep() takes a refusal of what ends the real process as wanted, and nothing else", () => {
  for (const end of [CRASHED, HUNG]) {
    assertEquals(compare("cuInit", end, { outcome: "1" }).kind, "wanted");
    assertEquals(compare("cuInit", end, { outcome: "0" }), { kind: "different", isParted: true });
  }
});

Deno.test("compareStep() lets the speed of a GPU decide what a question is answered by", () => {
  assertEquals(compare("cuStreamQuery", "0", { outcome: "600" }), {
    kind: "wanted",
    rule: "progress",
    isParted: false,
  });
  assertEquals(compare("cuStreamQuery", "900", { outcome: "600" }).kind, "different");
  assertEquals(compare("cuStreamSynchronize", "0", { outcome: "600" }).kind, "different");
});

Deno.test("compareStep() lets hints differ where there is a neighbour", () => {
  const outcome = "0 1";
  assertEquals(
    compare("cuMemRangeGetAttribute", "0 0", { outcome }, { managedCount: 2 }).rule,
    "neighbours",
  );
  const [one, two] = [{ managedCount: 1 }, { managedCount: 2 }];
  assertEquals(compare("cuMemRangeGetAttribute", "0 0", { outcome }, one).kind, "different");
  assertEquals(compare("cuMemRangeGetAttribute", "1", { outcome }, two).kind, "different");
});

Deno.test("compareStep() lets the flag of a neighbour show on a page-locked block, and no other", () => {
  assertEquals(compare("cuMemHostGetFlags", "0 2", { outcome: "0 3" }).rule, "neighbours");
  assertEquals(compare("cuMemHostGetFlags", "0 7", { outcome: "0 6" }).rule, "neighbours");
  assertEquals(compare("cuMemHostGetFlags", "0 6", { outcome: "0 2" }).kind, "different");
  assertEquals(compare("cuMemHostGetFlags", "0 unset", { outcome: "0 2" }).kind, "different");
});

Deno.test("compareStep() lets a pool hold less while a free is queued", () => {
  const [outcome, isFreeing] = ["0 4096", true];
  const call = "cuMemPoolGetAttribute";
  assertEquals(compare(call, "0 0", { outcome }, { isFreeing }).rule, "progress");
  assertEquals(compare(call, "0 0", { outcome }).kind, "different");
  assertEquals(
    compare("cuStreamQuery", "0 a", { outcome: "0 b" }, { isFreeing }).kind,
    "different",
  );
});

Deno.test("compareStep() lets mistakes in PTX pass, as nothing compiles it", () => {
  const outcome = "0 new";
  assertEquals(compare("cuModuleLoadData", "218", { outcome }).rule, "uncompiled");
  assertEquals(compare("cuModuleLoadData", "200", { outcome }).kind, "different");
});
