// The page of a run of first calls: which peer counts, what is marked, and what is missing.

import { assertAlmostEquals, assertEquals, assertStringIncludes } from "@std/assert";
import { cellOf, pageOf } from "../../../bench/peers/first_calls/page.ts";
import type { CallRun, CallSummary } from "../../../bench/peers/first_calls/plan.ts";

const QUERY = { call: "upload", phase: "warm", form: "awaited", byteLength: 4096 } as const;

function documentOf(peer: string, form: CallSummary["form"], seconds: number) {
  const { call, phase, byteLength } = QUERY;
  const summary = { call, phase, form, byteLength, seconds, samples: [seconds], sampleCount: 1 };
  return { peer, device: "H200 <test>", versions: { version: "1" }, results: [summary] };
}

function runOf(...documents: ReturnType<typeof documentOf>[]): CallRun {
  return {
    ...{ date: "2026-01-01T00:00:00Z", device: "H200 <test>", coreCount: 2, sizes: [4096] },
    documents,
  };
}

Deno.test("cellOf() takes the fastest peer and the median of rounds", () => {
  const run = runOf(
    documentOf("vramkit", "awaited", 10e-6),
    documentOf("vramkit", "blocking", 1e-6),
    documentOf("PyTorch", "blocking", 20e-6),
    documentOf("CuPy", "blocking", 12e-6),
    documentOf("vramkit", "awaited", 10e-6),
    documentOf("CuPy", "blocking", 15e-6),
  );
  const cell = cellOf(run, QUERY);
  assertEquals(cell?.best.peer, "CuPy");
  assertAlmostEquals(cell?.seconds ?? 0, 10e-6);
  assertAlmostEquals(cell?.spread ?? 0, 15 / 12 - 1);
});

Deno.test("cellOf() has nothing to say where one side is missing", () => {
  assertEquals(cellOf(runOf(documentOf("vramkit", "awaited", 1e-6)), QUERY), undefined);
  assertEquals(cellOf(runOf(documentOf("CuPy", "blocking", 1e-6)), QUERY), undefined);
});

Deno.test("pageOf() colours cells by their ratio, and counts those that fall short", () => {
  const [ours, peer] = [
    documentOf("vramkit", "awaited", 10e-6),
    documentOf("CuPy", "blocking", 5e-6),
  ];
  const page = pageOf(runOf(ours, peer));
  assertStringIncludes(page, "0 of 1 cells are as fast or faster");
  assertStringIncludes(page, '<td class="low"><b>0.410</b> <i>0.50</i><small>0.819 CuPy</small>');
  assertStringIncludes(page, "H200 &lt;test>");
  const faster = pageOf(runOf(documentOf("vramkit", "awaited", 4e-6), peer));
  assertStringIncludes(faster, '<td class="over"><b>1.02</b> <i>1.25</i>');
  assertStringIncludes(faster, "1 of 1 cells");
});
