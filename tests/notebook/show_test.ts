// show(): several things in one cell, also those that are promised.

import { assertEquals } from "@std/assert";
import { outputShape, outputText } from "../../jupyter/output_shapes.ts";
import { runSources } from "../support/notebook/run_sources.ts";

const SHOW = new URL("../../src/notebook/show.ts", import.meta.url);

Deno.test("show() shows what promises resolve to, in the order of its arguments", async () => {
  const [cell] = await runSources(`
    const { show } = await import("${SHOW}");
    await show(new Promise((resolve) => setTimeout(() => resolve("slow"), 5)), "b");`);
  assertEquals(outputShape(cell), ["display_data text/plain", "display_data text/plain"]);
  assertEquals(outputText(cell), "slow\nb");
});

Deno.test("show() fails as a promise does, and shows nothing then", async () => {
  const [cell] = await runSources(`
    const { show } = await import("${SHOW}");
    await show("a", new Promise(() => {}), Promise.reject(new RangeError("too large")));`);
  assertEquals(outputShape(cell), ["error RangeError"]);
});
