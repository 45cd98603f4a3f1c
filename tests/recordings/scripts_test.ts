// The simulated driver does what each script says of a driver, step by step.

import { assertEquals } from "@std/assert";
import { CUDA } from "../../ffi/cuda.ts";
import { parseStep } from "../support/recording/notation.ts";
import { SCRIPTS } from "../support/recording/scripts/all.ts";
import { readScripts } from "../support/recording/scripts/script.ts";
import { simulate, TWO_DEVICES } from "../support/recording/simulation.ts";

/** Tells whether an outcome is what a step expects: a status stands for any outputs. */
function isExpected(outcome: string, expected = "0"): boolean {
  return expected === "?" || outcome === expected || outcome.split(" ")[0] === expected;
}

for (const script of SCRIPTS) {
  Deno.test(`The simulated driver follows the script: ${script.id}`, async () => {
    const player = simulate({ ...TWO_DEVICES, devices: script.deviceCount }, script);
    for (const line of script.lines) {
      const { outcome } = await player.play(line);
      assertEquals([line, isExpected(outcome, parseStep(line).expected), outcome], [
        line,
        true,
        outcome,
      ]);
    }
  });
}

Deno.test("scripts have names of their own", () => {
  const names = SCRIPTS.map(({ id }) => id);
  assertEquals(names.filter((name, index) => names.indexOf(name) !== index), []);
});

Deno.test("scripts call every function of the table", () => {
  const called = new Set(
    SCRIPTS.flatMap(({ lines }) => lines.map((line) => parseStep(line).call)),
  );
  assertEquals(Object.keys(CUDA).filter((name) => !called.has(name)), []);
});

Deno.test("readScripts() reads names, marks and steps", () => {
  const [first, second] = readScripts(`
# a name (fresh)
  cuInit 0

# another (two devices) (simulated)
  settle = ?
`);
  assertEquals(first, {
    id: "a name",
    isFresh: true,
    deviceCount: 1,
    isSimulatedOnly: false,
    lines: ["cuInit 0"],
  });
  assertEquals([second?.id, second?.deviceCount, second?.isSimulatedOnly], ["another", 2, true]);
});
