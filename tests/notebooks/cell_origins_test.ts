// A notebook's knowledge of its own cells: where objects were made, and when cells began.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { outputText } from "../../jupyter/output_shapes.ts";
import { runSources } from "../support/notebook/run_sources.ts";
import { inTurn } from "../support/test_unless.ts";

const OPEN = `import { CudaDevice } from "vramkit";
import { plotMemoryTimeline } from "vramkit/notebook";
const gpu = CudaDevice.open(0, { driver: "simulated" });
const first = gpu.alloc("uint8", 8, { label: "first" });`;

const ORIGINS =
  'gpu.live().sort("name").objects.map(({ name, origin }) => `${name} ${origin}`).join();';

Deno.test("origins in a notebook name the cell that made the object", async () => {
  const cells = await runSources(
    OPEN,
    'const second = gpu.alloc("uint8", 8, { label: "second" });',
    `const third = gpu.alloc("uint8", 8, { label: "third" }); ${ORIGINS}`,
    ORIGINS,
  );
  const expected = "first cell 1:4:19,second cell 2:1:20,third cell 3:1:19";
  assertEquals(cells.slice(2).map(outputText), [expected, expected]);
});

Deno.test("a table that a cell ends with names that cell, also the first one", async () => {
  const [cell] = await runSources(`${OPEN}\ngpu.live();`);
  assertStringIncludes(outputText(cell), "cell 1:4:19");
});

Deno.test("origins in a notebook leave open which cell it was after one that failed", async () => {
  const cells = await runSources(
    OPEN,
    'const second = gpu.alloc("uint8", 8, { label: "second" }); throw new Error("stop");',
    "first.dispose();",
    ORIGINS,
  );
  assertEquals(outputText(cells[3]), "second cell 2-3:1:20");
});

Deno.test(inTurn("plotMemoryTimeline() in a notebook marks where cells begin"), async () => {
  const cells = await runSources(
    OPEN,
    "const x = 1;",
    'gpu.alloc("uint8", 8).dispose();',
    'const second = gpu.alloc("uint8", 8);',
    "plotMemoryTimeline(gpu);",
  );
  const figure = cells[4]?.at(-1)?.data?.["application/vnd.plotly.v1+json"] as {
    data: { text?: string[] }[];
    layout: { shapes: object[] };
  };
  assertEquals(figure.layout.shapes.length, 3);
  const hovers = figure.data.at(-1)?.text ?? [];
  assertEquals(hovers.map((text) => /in (cell \d+)$/.exec(text)?.[1]), [
    "cell 1",
    "cell 3",
    "cell 3",
    "cell 4",
  ]);
  assertStringIncludes(JSON.stringify(figure.layout), '"cell 1"');
});
