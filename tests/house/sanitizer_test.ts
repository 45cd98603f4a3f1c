// Reading what compute-sanitizer and the test runner print: a run counts as clean only when both
// came to their ends. The run itself needs a GPU: `deno run -A tests/support/sanitizer/run.ts`.

import { assertEquals } from "@std/assert";
import { readMemcheckLog, readTestCounts } from "../support/sanitizer/memcheck_log.ts";

const REFUSED =
  `Program hit CUDA_ERROR_INVALID_VALUE (error 1) due to "invalid argument" on CUDA API call to cuMemFree_v2.`;

Deno.test("readMemcheckLog() finds nothing in the log of a clean run", () => {
  const log = readMemcheckLog("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n");
  assertEquals(log, { isComplete: true, reports: [], refusedCalls: [] });
});

Deno.test("readMemcheckLog() counts reports, and calls that were refused apart", () => {
  const invalid = "Invalid __global__ write of size 4 bytes";
  const log = readMemcheckLog([
    "========= COMPUTE-SANITIZER",
    ...Array.from({ length: 2 }, () => [
      `========= ${REFUSED}`,
      "=========     Saved host backtrace up to driver entry point at error",
      "=========",
    ]).flat(),
    `========= ${invalid}`,
    "=========     at 0x70 in fill",
    "========= ERROR SUMMARY: 3 errors",
  ].join("\n"));
  assertEquals(log, {
    isComplete: true,
    reports: [{ text: invalid, count: 1 }],
    refusedCalls: [{ text: REFUSED, count: 2 }],
  });
});

Deno.test("readMemcheckLog() takes a line that it does not know for a report", () => {
  const { reports } = readMemcheckLog("========= Target application returned an error\n");
  assertEquals(reports, [{ text: "Target application returned an error", count: 1 }]);
});

Deno.test("readMemcheckLog() tells a log that breaks off", () => {
  assertEquals(readMemcheckLog("========= COMPUTE-SANITIZER\n").isComplete, false);
  assertEquals(readMemcheckLog("").isComplete, false);
});

Deno.test("readTestCounts() reads the runner's last line", () => {
  assertEquals(readTestCounts("a ... ok\n\nok | 12 passed | 0 failed (2s)\n"), {
    passed: 12,
    failed: 0,
    ignored: 0,
  });
  assertEquals(
    readTestCounts("FAILED | 38 passed (4 steps) | 1 failed (1 step) | 41 ignored (3s)"),
    {
      passed: 38,
      failed: 1,
      ignored: 41,
    },
  );
  assertEquals(readTestCounts("running 3 tests"), undefined);
});
