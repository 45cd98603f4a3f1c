// Opens notebooks as `deno task notebooks` saved them, which nobody trusts and nobody runs, in a real
// browser: in JupyterLab, in the classic notebook, as pages without scripts, and by the rules of VS Code
// and GitHub. `deno run -A saved_check.ts [NAME...]`; pictures go to .jupyter/pictures/.

import type { Browser } from "npm:playwright-core@1.65.1";
import { fileURLToPath } from "node:url";
import { notebookNames } from "../../../jupyter/notebook_file.ts";
import { WORK_FOLDER } from "../../../jupyter/python.ts";
import { type Check, checkInBrowser, faultless, takePicture, watch } from "../browser_checks.ts";
import { imitate, IMITATED_VIEW, type Viewer, VIEWERS } from "./imitated_page.ts";
import { JupyterServer } from "./jupyter_server.ts";
import { LabPage } from "./lab_page.ts";
import { stillChecksOf, type Wanted, wantedAfterRun } from "./notebook_checks.ts";
import { CLASSIC_VIEW, countIn, type NotebookView, PAGE_VIEW, type Seen } from "./seen.ts";

const EXECUTED = new URL("executed/", WORK_FOLDER);
const PICTURES = new URL("pictures/", WORK_FOLDER);
const PICTURE_WIDTHS = [1280, 800] as const;
const THEMES = { light: "JupyterLab Light", dark: "JupyterLab Dark" } as const;
/** Imitated pages: the width decides where texts are, the scheme whether they can be read. */
const LOOKS = [["light", 1280], ["light", 800], ["dark", 1280]] as const;
const VIEWPORT = { width: 1280, height: 900 } as const;

/** JupyterLab: both themes and widths, in each of which the cards must be readable. */
async function checkInLab(browser: Browser, names: readonly string[]): Promise<Check[]> {
  await using server = await JupyterServer.start("jupyterlab", { outputs: EXECUTED });
  const page = await browser.newPage({ viewport: VIEWPORT });
  const lab = new LabPage(page);
  await lab.enter(server.origin);
  const checks: Check[] = [];
  for (const name of names) {
    const wanted = wantedAfterRun(name);
    await lab.open(name);
    for (const [theme, fullName] of Object.entries(THEMES)) {
      await lab.show(fullName);
      for (const width of PICTURE_WIDTHS) {
        const at = `${name}_saved_${theme}_${width}`;
        await lab.picture(fileURLToPath(new URL(`${at}.png`, PICTURES)), width);
        await page.setViewportSize({ ...VIEWPORT, width });
        checks.push(...named(at, stillChecksOf(await lab.look(), wanted)));
      }
      const { paleCards } = await lab.look();
      const passed = paleCards.length === 0;
      checks.push({ name: `${name}: cards can be read, ${theme}`, passed, found: paleCards });
    }
  }
  await page.close();
  return checks;
}

/** The classic notebook, which shows HTML that it does not trust sanitised in its own way. */
async function checkInClassic(browser: Browser, names: readonly string[]): Promise<Check[]> {
  await using server = await JupyterServer.start("nbclassic", { outputs: EXECUTED });
  const page = await browser.newPage({ viewport: VIEWPORT });
  const checks: Check[] = [];
  for (const name of names) {
    await page.goto(`${server.origin}/nbclassic/notebooks/${name}.ipynb`);
    await page.waitForSelector(CLASSIC_VIEW.output);
    await page.waitForTimeout(1000);
    const path = fileURLToPath(new URL(`classic_${name}_saved.png`, PICTURES));
    await takePicture(page, { path });
    const seen = await page.evaluate(countIn(CLASSIC_VIEW)) as Seen;
    checks.push(...named(name, stillChecksOf(seen, wantedAfterRun(name))));
  }
  await page.close();
  return checks;
}

const WITHOUT_STYLE_ELEMENTS =
  `document.querySelectorAll("${PAGE_VIEW.output} style").forEach((style) => style.remove())`;

/** Pages whose scripts and style elements were taken out of the outputs. */
async function checkStripped(browser: Browser, names: readonly string[]): Promise<Check[]> {
  const context = await browser.newContext({ offline: true, javaScriptEnabled: false });
  const checks: Check[] = [];
  for (const name of names) {
    const page = await context.newPage();
    await page.goto(new URL(`${name}.html`, EXECUTED).href);
    await page.evaluate(WITHOUT_STYLE_ELEMENTS);
    const path = fileURLToPath(new URL(`page_${name}_still.png`, PICTURES));
    await takePicture(page, { path, fullPage: true });
    checks.push(...named(name, stillChecksOf(await lookAt(page, PAGE_VIEW), wantedAfterRun(name))));
    await page.close();
  }
  await context.close();
  return checks;
}

/** Pages by the rules of viewers that cannot run here. */
async function checkImitated(browser: Browser, names: readonly string[]): Promise<Check[]> {
  const context = await browser.newContext({ offline: true });
  const checks: Check[] = [];
  for (const name of names) {
    const wanted = wantedAfterRun(name);
    for (const viewer of Object.keys(VIEWERS) as Viewer[]) {
      for (const [colorScheme, width] of LOOKS) {
        const page = await context.newPage();
        const { faults } = watch(page, (url) => url === "about:blank");
        await page.setViewportSize({ ...VIEWPORT, width });
        await page.emulateMedia({ colorScheme });
        await imitate(page, new URL(`${name}.ipynb`, EXECUTED), viewer);
        const at = `${viewer}_${name}_${colorScheme}_${width}`;
        const path = fileURLToPath(new URL(`${at}.png`, PICTURES));
        await takePicture(page, { path, fullPage: true });
        const seen = await lookAt(page, IMITATED_VIEW);
        const seenChecks = viewerChecksOf(viewer, seen, wanted);
        checks.push(...named(at, [...seenChecks, faultless(faults)]));
        await page.close();
      }
    }
  }
  await context.close();
  return checks;
}

function viewerChecksOf(viewer: Viewer, seen: Seen, wanted: Wanted): Check[] {
  const { outputCounts, paleCards } = seen;
  const isAll = outputCounts.join() === wanted.outputCounts.join();
  const shared = [
    { name: "every output shows something", passed: isAll, found: outputCounts },
    { name: "cards can be read", passed: paleCards.length === 0, found: paleCards },
  ];
  const withoutStyle = viewer === "github" ? ["cards keep their style"] : [];
  const still = stillChecksOf(seen, wanted).filter(({ name }) => !withoutStyle.includes(name));
  return [...shared, ...still];
}

function lookAt(page: { evaluate(code: string): Promise<unknown> }, view: NotebookView) {
  return page.evaluate(countIn(view)) as Promise<Seen>;
}

function named(where: string, checks: readonly Check[]): Check[] {
  return checks.map((check) => ({ ...check, name: `${where}: ${check.name}` }));
}

if (import.meta.main) {
  const names = Deno.args.length > 0 ? Deno.args : notebookNames();
  Deno.mkdirSync(PICTURES, { recursive: true });
  await checkInBrowser(async (browser, report) => {
    const places = { checkInLab, checkInClassic, checkStripped, checkImitated };
    for (const [place, check] of Object.entries(places)) {
      await report(place, () => check(browser, names));
    }
  });
}
