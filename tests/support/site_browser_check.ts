// Opens the built site in headless Chromium with no network, as files: in two widths, light and dark.
// As a program, after `deno task docs`: `deno run -A tests/support/site_browser_check.ts [FOLDER]`;
// with a folder, pictures of the pages go there.

import type { Browser, Page } from "npm:playwright-core@1.65.1";
import { openBrowser } from "./chromium.ts";
import { PROJECT_ROOT } from "./project_files.ts";

/** A line of the report, and what is wrong. */
interface Check {
  readonly name: string;
  readonly faults: readonly string[];
}

const SITE = new URL("_site/", PROJECT_ROOT).href;
const WIDTHS = [1280, 800];
const SCHEMES = ["light", "dark"] as const;

/** Pages of every kind. */
const PAGES = [
  "index.html",
  "docs/index.html",
  "docs/order.html",
  "docs/from_oxicuda.html",
  "notebooks/03_bandwidth.html",
  "reference/index.html",
  "reference/CudaDevice.html",
  "reference/DeviceBuffer.html",
  "changelog.html",
];

/** The words a reader types, each with the page to which the first line that is found must lead. */
const SEARCHES: Readonly<Record<string, string>> = {
  "copyfrom": "reference/DeviceBuffer.html#copyFrom",
  "DeviceBuffer": "reference/DeviceBuffer.html",
  "gpu.limit": "reference/CudaDevice.html#limit",
  "what blocks": "docs/order.html#what-blocks",
};

async function checkPage(browser: Browser, path: string, pictures?: string): Promise<Check> {
  const faults: string[] = [];
  for (const width of WIDTHS) {
    for (const colorScheme of SCHEMES) {
      const page = await openPage(browser, { width, colorScheme }, faults);
      await page.goto(SITE + path);
      const { overflow, background } = await page.evaluate(MEASURE) as Measured;
      if (overflow > 0) faults.push(`${width} ${colorScheme}: ${overflow} pixels too wide`);
      if ((background > 0.5) !== (colorScheme === "light")) faults.push(`is not ${colorScheme}`);
      if (pictures !== undefined) {
        const name = path.replaceAll("/", "_").replace(".html", "");
        await page.screenshot({ path: `${pictures}/${name}_${width}_${colorScheme}.png` });
      }
      await page.close();
    }
  }
  return { name: `${path} fits, in light and dark, and asks nobody`, faults };
}

async function checkSearch(browser: Browser, words: string, place: string): Promise<Check> {
  const faults: string[] = [];
  const page = await openPage(browser, { width: 1280, colorScheme: "light" }, faults);
  await page.goto(`${SITE}docs/order.html`);
  await page.keyboard.press("/");
  await page.keyboard.type(words);
  await page.keyboard.press("Enter");
  await page.waitForURL(SITE + place, { timeout: 3000 }).catch(() => {
    faults.push(`leads to ${page.url().replace(SITE, "")} instead of ${place}`);
  });
  await page.close();
  return { name: `a search for "${words}" leads to ${place}`, faults };
}

async function openPage(
  browser: Browser,
  { width, colorScheme }: { readonly width: number; readonly colorScheme: "light" | "dark" },
  faults: string[],
): Promise<Page> {
  const page = await browser.newPage({
    viewport: { width, height: 900 },
    colorScheme,
    offline: true,
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) faults.push(`asks for ${request.url()}`);
  });
  return page;
}

interface Measured {
  readonly overflow: number;
  /** The brightness of the page, from 0 to 1. */
  readonly background: number;
}

/** Runs in the page, so it is text: this program is not type-checked against a browser's globals. */
const MEASURE = `(() => {
  const colour = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number);
  return {
    overflow: document.documentElement.scrollWidth - innerWidth,
    background: (colour[0] + colour[1] + colour[2]) / 765,
  };
})()`;

if (import.meta.main) {
  const [pictures] = Deno.args;
  const browser = await openBrowser();
  const checks: Check[] = [];
  try {
    for (const path of PAGES) checks.push(await checkPage(browser, path, pictures));
    for (const [words, place] of Object.entries(SEARCHES)) {
      checks.push(await checkSearch(browser, words, place));
    }
  } finally {
    await browser.close();
  }
  for (const { name, faults } of checks) {
    console.log(`${faults.length === 0 ? "ok" : "FAILED"}: ${name}`);
    for (const fault of faults) console.log(`  ${fault}`);
  }
  const failedCount = checks.filter(({ faults }) => faults.length > 0).length;
  console.log(`${checks.length - failedCount} passed, ${failedCount} failed`);
  if (failedCount > 0) Deno.exitCode = 1;
}
