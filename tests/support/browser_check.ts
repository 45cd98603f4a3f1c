// Opens an HTML file in headless Chromium and checks that its plot was really drawn, offline.
// Usage: deno run -A browser_check.ts FILE [TRACE_COUNT]; CHROMIUM names the browser's executable.

import type { Page } from "npm:playwright-core@1.65.1";
import { openBrowser } from "./chromium.ts";

/** The record of one page while it was open. */
interface Visit {
  readonly traceCount: number;
  /** Traces whose marks have no extent on the screen. */
  readonly emptyTraceCount: number;
  /** Traces that the figure's data holds; null where plotly drew nothing. */
  readonly expectedTraceCount: number | null;
  readonly consoleErrors: readonly string[];
  readonly foreignRequests: readonly string[];
}

/** A line of the report, and whether it holds. */
interface Check {
  readonly name: string;
  readonly passed: boolean;
  readonly found: string;
}

const TRACES = ".main-svg .scatterlayer .trace";
const DRAW_TIMEOUT_MILLISECONDS = 20_000;

async function visit(url: string): Promise<Visit> {
  const browser = await openBrowser();
  try {
    return await watch(await browser.newPage(), url);
  } finally {
    await browser.close();
  }
}

async function watch(page: Page, url: string): Promise<Visit> {
  const consoleErrors: string[] = [];
  const foreignRequests: string[] = [];
  page.on("pageerror", (error) => consoleErrors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") consoleErrors.push(message.text());
  });
  page.on("request", (request) => {
    const isInline = /^(data|blob):/.test(request.url());
    if (request.url() !== url && !isInline) foreignRequests.push(request.url());
  });
  await page.goto(url);
  await page.waitForSelector(TRACES, { state: "attached", timeout: DRAW_TIMEOUT_MILLISECONDS })
    .catch(() => {}); // no trace at all is a finding, reported below
  const drawn = await page.evaluate(COUNT_TRACES) as Pick<
    Visit,
    "traceCount" | "emptyTraceCount" | "expectedTraceCount"
  >;
  return { ...drawn, consoleErrors, foreignRequests };
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

function judge(seen: Visit, wantedTraceCount: number | null): Check[] {
  const wanted = wantedTraceCount ?? seen.expectedTraceCount;
  return [
    {
      name: "every trace was drawn",
      passed: wanted !== null && wanted > 0 && seen.traceCount === wanted,
      found: `${seen.traceCount} of ${wanted ?? "an unknown number"} traces`,
    },
    {
      name: "every trace has marks that can be seen",
      passed: seen.traceCount > 0 && seen.emptyTraceCount === 0,
      found: `${seen.emptyTraceCount} without`,
    },
    {
      name: "the console shows no error",
      passed: seen.consoleErrors.length === 0,
      found: seen.consoleErrors.join("; ") || "none",
    },
    {
      name: "nothing but the file was requested",
      passed: seen.foreignRequests.length === 0,
      found: seen.foreignRequests.join(" ") || "none",
    },
  ];
}

if (import.meta.main) {
  const [path, traceCount] = Deno.args;
  if (path === undefined) {
    console.error("Cannot check a page: no file named; usage: browser_check.ts FILE [TRACE_COUNT]");
    Deno.exit(2);
  }
  const url = new URL(`file://${await Deno.realPath(path)}`).href;
  const checks = judge(await visit(url), traceCount === undefined ? null : Number(traceCount));
  for (const { name, passed, found } of checks) {
    console.log(`${passed ? "ok" : "FAILED"}: ${name} (${found})`);
  }
  const failedCount = checks.filter(({ passed }) => !passed).length;
  console.log(`${checks.length - failedCount} passed, ${failedCount} failed`);
  if (failedCount > 0) Deno.exit(1);
}
