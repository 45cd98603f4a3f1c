// The browser of the checks: Debian's Chromium, headless, driven by Playwright; CHROMIUM names another.

import { type Browser, chromium } from "npm:playwright-core@1.65.1";

/** Starts a browser; the caller closes it. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: Deno.env.get("CHROMIUM") ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });
}
