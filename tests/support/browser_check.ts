// Opens an HTML file in headless Chromium and checks that its plot was really drawn, offline.
// Usage: deno run -A browser_check.ts FILE [TRACE_COUNT]; CHROMIUM names the browser's executable.

import type { Page } from "npm:playwright-core@1.65.1";
import { type Check, checkInBrowser, faultless, watch } from "./browser_checks.ts";

/** The traces of a plot. */
interface Traces {
  readonly traceCount: number;
  /** Traces whose marks have no extent on the screen. */
  readonly emptyTraceCount: number;
  /** Traces that the figure's data holds; null where plotly drew nothing. */
  readonly expectedTraceCount: number | null;
}

const TRACES = ".main-svg .scatterlayer .trace";
const DRAW_TIMEOUT_MILLISECONDS = 20_000;

async function checkPlot(
  page: Page,
  url: string,
  wantedTraceCount: number | undefined,
): Promise<Check[]> {
  const { faults } = watch(page, (asked) => asked === url);
  await page.goto(url);
  await page.waitForSelector(TRACES, { state: "attached", timeout: DRAW_TIMEOUT_MILLISECONDS })
    .catch(() => {}); // no trace at all is a finding, reported below
  const traces = await page.evaluate(COUNT_TRACES) as Traces;
  const wanted = wantedTraceCount ?? traces.expectedTraceCount;
  return [
    {
      name: "every trace was drawn",
      passed: wanted !== null && wanted > 0 && traces.traceCount === wanted,
      found: `${traces.traceCount} of ${wanted ?? "an unknown number"} traces`,
    },
    {
      name: "every trace has marks that can be seen",
      passed: traces.traceCount > 0 && traces.emptyTraceCount === 0,
      found: `${traces.emptyTraceCount} without`,
    },
    faultless(faults),
  ];
}

/** Runs in the page, so it is text: this program is not type-checked against a browser's globals. */
const COUNT_TRACES = `(() => {
  const traces = [...document.querySelectorAll("${TRACES}")];
  const isEmpty = (trace) => {
    const marks = [...trace.querySelectorAll("path")];
    return !marks.some((mark) => mark.getBoundingClientRect().width > 0);
  };
  const plot = document.querySelector(".js-plotly-plot");
  return {
    traceCount: traces.length,
    emptyTraceCount: traces.filter(isEmpty).length,
    expectedTraceCount: plot ? plot.data.length : null,
  };
})()`;

if (import.meta.main) {
  const [path, traceCount] = Deno.args;
  if (path === undefined) {
    console.error("Cannot check a page: no file named; usage: browser_check.ts FILE [TRACE_COUNT]");
    Deno.exit(2);
  }
  const url = new URL(`file://${await Deno.realPath(path)}`).href;
  const wanted = traceCount === undefined ? undefined : Number(traceCount);
  await checkInBrowser(async (browser, report) => {
    const page = await browser.newPage();
    await report(path, () => checkPlot(page, url, wanted));
  });
}
