// The shape of outputs: what may differ between two runs of a notebook, and what may not.

import { assertEquals } from "@std/assert";
import type { CellOutput } from "../../jupyter/notebook_file.ts";
import { outputShape, outputText } from "../../jupyter/output_shapes.ts";

const TABLE: CellOutput = {
  output_type: "execute_result",
  data: { "text/plain": "1 live", "text/html": "<table>" },
};

Deno.test("outputShape() names types and not contents", () => {
  const other = { ...TABLE, data: { "text/html": "", "text/plain": "0 live" } };
  assertEquals(outputShape([TABLE]), ["execute_result text/html, text/plain"]);
  assertEquals(outputShape([other]), outputShape([TABLE]));
});

Deno.test("outputShape() tells a result from the same as a display, and from none", () => {
  assertEquals(outputShape([{ ...TABLE, output_type: "display_data" }]), [
    "display_data text/html, text/plain",
  ]);
  assertEquals(outputShape([]), []);
});

Deno.test("outputShape() takes pieces of one stream as one output", () => {
  const line = (name: string): CellOutput => ({ output_type: "stream", name, text: "a\n" });
  const pieces = [line("stdout"), line("stdout"), line("stderr"), line("stdout")];
  assertEquals(outputShape(pieces), ["stream stdout", "stream stderr", "stream stdout"]);
});

Deno.test("outputShape() keeps two equal displays apart", () => {
  assertEquals(outputShape([TABLE, TABLE]).length, 2);
});

Deno.test("outputText() joins streams, plain texts and errors", () => {
  const error: CellOutput = { output_type: "error", ename: "RangeError", evalue: "too large" };
  const stream: CellOutput = { output_type: "stream", name: "stdout", text: ["a\n", "b"] };
  assertEquals(outputText([stream, TABLE, error]), "a\nb\n1 live\nRangeError: too large");
});

Deno.test("outputShape() leaves out what was emptied, in a file and in memory", () => {
  const emptied = { "text/html": "", "text/plain": "" };
  const inFile = { "text/html": [], "text/plain": [] };
  const outputs = [emptied, inFile, { "text/plain": "", "text/html": "x" }].map((data) => ({
    output_type: "display_data",
    data,
  } as const));
  assertEquals(outputShape(outputs), ["display_data text/html, text/plain"]);
});
