// The warning of re-runs as cells see it: below the cell that ran again, each time.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { outputText } from "../../jupyter/output_shapes.ts";
import { runSources } from "../support/notebook/run_sources.ts";

const ROOT = new URL("../../", import.meta.url);
const OPEN = `const { CudaDevice } = await import("${new URL("mod.ts", ROOT)}");
const { warnOfReruns } = await import("${new URL("src/notebook/mod.ts", ROOT)}");
const gpu = CudaDevice.open(0, { driver: "simulated" });
warnOfReruns(gpu, { intervalSeconds: 0.01 });
const kept = []; // the garbage collector would give the blocks back in its own time`;
const LOOK = "await new Promise((resolve) => setTimeout(resolve, 60));";
const FIRST = `const first = gpu.alloc("uint8", 8); kept.push(first); ${LOOK}`;
const OTHER = `const other = gpu.alloc("uint8", 16); kept.push(other); ${LOOK}`;

Deno.test("warnOfReruns() warns at the second and the third run, and for the next cell", async () => {
  const cells = await runSources(OPEN, FIRST, LOOK, FIRST, LOOK, FIRST, OTHER, OTHER, LOOK);
  const shown = cells.map((outputs) =>
    outputs.filter(({ output_type }) => output_type === "display_data").length
  );
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  // The warning follows the run that left memory: three times, and each time a new output.
  assertEquals(shown.slice(0, 3), [0, 0, 0]);
  assertEquals([sum(shown.slice(3, 5)), sum(shown.slice(5, 7)), sum(shown.slice(7))], [1, 1, 1]);
  const texts = cells.map((outputs) => outputText(outputs));
  assertEquals(texts.slice(1, 7).join(""), ""); // former warnings were emptied
  assertStringIncludes(
    texts.slice(7).join("\n"),
    "32 B in 3 blocks, made at 2 places of a cell",
  );
});
