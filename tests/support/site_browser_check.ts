// Opens the built site in headless Chromium with no network, as files: in two widths, light and dark.
// As a program, after `deno task docs`: `deno run -A tests/support/site_browser_check.ts [FOLDER]`;
// with a folder, pictures of the pages go there.

import type { Browser, Page } from "npm:playwright-core@1.65.1";
import { type Check, checkInBrowser, watch } from "./browser_checks.ts";
import { PROJECT_ROOT } from "./project_files.ts";

const SITE = new URL("_site/", PROJECT_ROOT).href;
const WIDTHS = [1280, 800];
const SCHEMES = ["light", "dark"] as const;

/** Pages of every kind. */
const PAGES = [
  "index.html",
  "docs/index.html",
  "docs/order.html",
  "docs/from_zinc_kaio_oxicuda_morok.html",
  "notebooks/03_bandwidth.html",
  "reference/index.html",
  "reference/CudaDevice.html",
  "reference/DeviceBuffer.html",
  "changelog.html",
];

/** The words a reader types, each with the page to which the first line that is found must lead. */
const SEARCHES: Readonly<Record<string, string>> = {
  "copyfrom": "reference/DeviceBuffer.html#copyfrom",
  "DeviceBuffer": "reference/DeviceBuffer.html",
  "gpu.limit": "reference/CudaDevice.html#limit",
  "what blocks": "docs/order.html#what-blocks",
};

async function checkPage(browser: Browser, path: string, pictures?: string): Promise<Check[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    for (const colorScheme of SCHEMES) {
      const { page, faults } = await openPage(browser, { width, colorScheme });
      await page.goto(SITE + path);
      await page.locator(".vk-search input").waitFor();
      const { overflow, background } = await page.evaluate(MEASURE) as Measured;
      if (overflow > 0) faults.push(`${width} ${colorScheme}: ${overflow} pixels too wide`);
      if ((background > 0.5) !== (colorScheme === "light")) faults.push(`is not ${colorScheme}`);
      if (pictures !== undefined) {
        const name = path.replaceAll("/", "_").replace(".html", "");
        await page.screenshot({ path: `${pictures}/${name}_${width}_${colorScheme}.png` });
      }
      await page.close();
      found.push(...faults);
    }
  }
  return [{ name: "fits, in light and dark, and asks nobody", passed: found.length === 0, found }];
}

async function checkSearch(browser: Browser, words: string, place: string): Promise<Check[]> {
  const { page, faults } = await openPage(browser, { width: 1280, colorScheme: "light" });
  await page.goto(`${SITE}docs/order.html`);
  await page.locator(".vk-search input").waitFor(); // the page is hidden until its theme is known
  await page.keyboard.press("/");
  await page.keyboard.type(words);
  await page.keyboard.press("Enter");
  await page.waitForURL(SITE + place, { timeout: 3000 }).catch(() => {
    faults.push(`leads to ${page.url().replace(SITE, "")} instead of ${place}`);
  });
  await page.close();
  return [{ name: `leads to ${place}`, passed: faults.length === 0, found: faults }];
}

async function openPage(
  browser: Browser,
  { width, colorScheme }: { readonly width: number; readonly colorScheme: "light" | "dark" },
): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.newPage({
    viewport: { width, height: 900 },
    colorScheme,
    offline: true,
  });
  return { page, ...watch(page, (url) => url.startsWith("file:")) };
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
  await checkInBrowser(async (browser, report) => {
    for (const path of PAGES) await report(path, () => checkPage(browser, path, pictures));
    for (const [words, place] of Object.entries(SEARCHES)) {
      await report(`a search for "${words}"`, () => checkSearch(browser, words, place));
    }
  });
}
