// Checks of what a browser shows: they start it, note what goes wrong in a page, and report on the
// console.

import {
  type Browser,
  chromium,
  type Page,
  type PageScreenshotOptions,
} from "npm:playwright-core@1.65.1";

/** CI sets this variable. */
export const IS_AUTOMATIC = Deno.env.get("CI") === "true";

/** One thing that must hold. */
export interface Check {
  readonly name: string;
  readonly passed: boolean;
  readonly found: unknown;
}

/** Makes checks and reports them; an error is a check that failed. */
export type Report = (subject: string, makeChecks: () => Promise<Check[]>) => Promise<void>;

/**
 * Starts Debian's Chromium, or the browser that CHROMIUM names, headless. Ends it after the checks and
 * prints how many of them passed; the program's exit code is 1 when one failed.
 */
export async function checkInBrowser(
  body: (browser: Browser, report: Report) => Promise<void>,
  switches: readonly string[] = ["--disable-gpu"],
): Promise<void> {
  const browser = await chromium.launch({
    executablePath: Deno.env.get("CHROMIUM") ?? "/usr/bin/chromium",
    args: ["--no-sandbox", ...switches],
  });
  let [passedCount, failedCount] = [0, 0];
  try {
    await body(browser, async (subject, makeChecks) => {
      const checks = await makeChecks().catch((error): Check[] => [
        { name: "can be checked", passed: false, found: String(error) },
      ]);
      for (const { name, passed, found } of checks) {
        const detail = passed ? "" : ` (found ${JSON.stringify(found)})`;
        console.log(`${passed ? "ok" : "FAILED"}: ${subject}: ${name}${detail}`);
        if (passed) passedCount++;
        else failedCount++;
      }
    });
  } finally {
    await browser.close();
  }
  console.log(`${passedCount} passed, ${failedCount} failed`);
  Deno.exitCode = failedCount > 0 ? 1 : 0;
}

/** Takes a picture for people to look at; an automatic run, where nobody does, goes without. */
export async function takePicture(page: Page, options: PageScreenshotOptions): Promise<void> {
  if (!IS_AUTOMATIC) await page.screenshot(options);
}

/** In pages that are files the browser refuses this, and TypeDoc's script draws the icons itself. */
const ICONS = /^Unsafe attempt to load URL file:.*\/icons\.svg#/;

/** Notes the errors of a page, and its requests to others than `isOwn` tells. */
export function watch(page: Page, isOwn: (url: string) => boolean): { faults: string[] } {
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.stack ?? String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !ICONS.test(message.text())) faults.push(message.text());
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!isOwn(url) && !/^(data|blob):/.test(url)) faults.push(`asked for ${url}`);
  });
  return { faults };
}

/** Checks that {@link watch} noted nothing. */
export function faultless(faults: readonly string[]): Check {
  const passed = faults.length === 0;
  return { name: "nothing failed or was asked of others", passed, found: faults };
}
