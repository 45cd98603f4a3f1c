// Checks what the demo wrote, as a program: `deno run -A tests/support/demo_check.ts [folder]`.
// It ends with a line that counts the checks, and fails when one of them does.

import { join } from "node:path";
import type { BandwidthResult } from "../../src/measure/bandwidth_result.ts";

/** One thing that must hold of the demo's files. */
interface Check {
  readonly name: string;
  readonly passed: boolean;
}

/** The sizes the demo promises to measure: the smallest and the largest size of each line. */
const MIN_BYTES = 4096;
const MAX_BYTES = 256 * 2 ** 20;
const LINES = [
  "host-to-device pageable",
  "host-to-device pinned",
  "device-to-host pageable",
  "device-to-host pinned",
  "device-to-device device",
] as const;

if (import.meta.main) {
  const folder = Deno.args[0] ?? ".";
  const result: BandwidthResult = JSON.parse(Deno.readTextFileSync(join(folder, "bandwidth.json")));
  const page = Deno.readTextFileSync(join(folder, "bandwidth.html"));
  const checks = [...checkResult(result), ...checkPage(page, result.provenance.device)];
  for (const { name, passed } of checks) console.log(`${passed ? "ok  " : "FAIL"} ${name}`);
  const failed = checks.filter(({ passed }) => !passed).length;
  console.log(`${checks.length - failed} passed, ${failed} failed`);
  if (failed > 0) Deno.exit(1);
}

function checkResult({ points, fits, provenance }: BandwidthResult): Check[] {
  const lines = LINES.map((line) => {
    const sizes = points
      .filter(({ direction, kind }) => `${direction} ${kind}` === line)
      .map(({ byteLength }) => byteLength);
    return {
      name: `${line} copies were measured from 4 KiB to 256 MiB`,
      passed: Math.min(...sizes) === MIN_BYTES && Math.max(...sizes) >= MAX_BYTES,
    };
  });
  return [
    ...lines,
    { name: "every point's bytes were verified", passed: points.every((each) => each.verified) },
    {
      name: "every point has a time and a speed that agree",
      passed: points.every(({ byteLength, secondsPerCopy, gigabytesPerSecond }) =>
        Math.abs(byteLength / secondsPerCopy / 1e9 / gigabytesPerSecond - 1) < 0.01
      ),
    },
    {
      // Pageable copies go different ways by their size.
      name: "every line of copies that go one way has a fit",
      passed: LINES.filter((line) => !line.endsWith("pageable")).every((line) =>
        fits.some(({ direction, kind }) => `${direction} ${kind}` === line)
      ),
    },
    {
      name: "the result says what it was measured with",
      passed: Object.values(provenance).every((value) => value !== "") &&
        !Number.isNaN(Date.parse(provenance.date)),
    },
  ];
}

function checkPage(page: string, device: string): Check[] {
  const title = /<title>([^<]*)<\/title>/.exec(page)?.[1] ?? "";
  return [
    { name: "the page's title names the device", passed: title.includes(device) },
    { name: "the page carries plotly.js itself", passed: page.includes("Plotly.newPlot") },
    {
      name: "the page loads nothing",
      passed: !/<(script|link|img|iframe)[^>]+(src|href)=/i.test(page),
    },
  ];
}
