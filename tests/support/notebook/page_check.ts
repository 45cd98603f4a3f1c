// Opens the pages that `deno task notebooks` wrote in a real browser with no network and looks at what
// is drawn, as a program: `deno run -A page_check.ts [NAME...]`. Pictures go to .jupyter/pictures/.

import type { Page } from "npm:playwright-core@1.65.1";
import { fileURLToPath } from "node:url";
import { notebookNames } from "../../../jupyter/notebook_file.ts";
import { WORK_FOLDER } from "../../../jupyter/python.ts";
import { type Check, checkInBrowser, faultless, takePicture, watch } from "../browser_checks.ts";
import { checksOf, wantedAfterRun } from "./notebook_checks.ts";
import { countIn, PAGE_VIEW, type Seen } from "./seen.ts";

const PICTURES = new URL("pictures/", WORK_FOLDER);
const SCHEMES = ["light", "dark"] as const;
const DRAW_MILLISECONDS = 20_000;

/** The class of an element after plotly.js has drawn into it. */
const DRAWN = ".js-plotly-plot .main-svg .xy";

async function checkPage(page: Page, name: string): Promise<Check[]> {
  const url = new URL(`executed/${name}.html`, WORK_FOLDER).href;
  const { faults } = watch(page, (asked) => asked === url);
  const wanted = wantedAfterRun(name);
  await page.goto(url);
  await page.waitForFunction(
    `document.querySelectorAll("${DRAWN}").length >= ${wanted.plotCount}`,
    null,
    { timeout: DRAW_MILLISECONDS },
  ).catch(() => {}); // a missing plot is a finding, reported by the checks
  const checks = checksOf(await look(page), wanted);
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    const { paleCards, background } = await look(page);
    const isLight = background > 0.5;
    const passed = paleCards.length === 0 && isLight === (colorScheme === "light");
    const found = { paleCards, background };
    checks.push({ name: `cards can be read on a ${colorScheme} page`, passed, found });
    const path = fileURLToPath(new URL(`page_${name}_${colorScheme}.png`, PICTURES));
    await takePicture(page, { path, fullPage: true });
  }
  return [...checks, faultless(faults)];
}

function look(page: Page): Promise<Seen> {
  return page.evaluate(countIn(PAGE_VIEW)) as Promise<Seen>;
}

if (import.meta.main) {
  const names = Deno.args.length > 0 ? Deno.args : notebookNames();
  Deno.mkdirSync(PICTURES, { recursive: true });
  await checkInBrowser(async (browser, report) => {
    const context = await browser.newContext({ offline: true });
    for (const name of names) {
      const page = await context.newPage();
      await report(`${name}.html`, () => checkPage(page, name));
      await page.close();
    }
  });
}
