// Reading what the peers' programs print: their results, their failures, and what is neither.
// The programs themselves need a GPU and run with `deno task bench peers`.

import { assertEquals, assertThrows } from "@std/assert";
import { findPeerResult, parsePeerDocument, type PeerReport } from "../../../bench/peers/report.ts";

const measured = { method: "copy", value: 2, unit: "s", samples: [1, 2, 3], sampleCount: 3 };

function documentText(results: readonly unknown[]): string {
  return JSON.stringify({ peer: "CuPy", device: "H200", versions: { cupy: "14" }, results });
}

function reportOf(results: readonly unknown[]): PeerReport {
  const document = parsePeerDocument(documentText(results));
  return { date: "2026-01-01T00:00:00Z", device: "H200", coreCount: 2, documents: [document] };
}

Deno.test("parsePeerDocument() takes results and failures", () => {
  const failure = { name: "trace", error: "out of memory" };
  const { results } = parsePeerDocument(documentText([{ name: "fill", ...measured }, failure]));
  assertEquals(results.map(({ name }) => name), ["fill", "trace"]);
});

Deno.test("parsePeerDocument() refuses a result without a value", () => {
  const text = documentText([{ name: "fill", ...measured, value: null }]);
  assertThrows(() => parsePeerDocument(text), TypeError, "Cannot read a peer's document");
});

Deno.test("parsePeerDocument() refuses a unit that it does not know", () => {
  const text = documentText([{ name: "fill", ...measured, unit: "ms" }]);
  assertThrows(() => parsePeerDocument(text), TypeError, "Cannot read a peer's document");
});

Deno.test("findPeerResult() tells sizes and methods apart", () => {
  const report = reportOf([
    { name: "fill", ...measured, byteLength: 4, value: 1 },
    { name: "fill", ...measured, byteLength: 8, value: 2 },
    { name: "fill", ...measured, byteLength: 8, value: 3, method: "kernel" },
  ]);
  const query = { peer: "CuPy", name: "fill", byteLength: 8 };
  assertEquals(findPeerResult(report, query)?.value, 2);
  assertEquals(findPeerResult(report, { ...query, method: "kernel" })?.value, 3);
});

Deno.test("findPeerResult() gives nothing for a case that failed", () => {
  const report = reportOf([{ name: "fill", error: "no device" }]);
  assertEquals(findPeerResult(report, { peer: "CuPy", name: "fill" }), undefined);
});
