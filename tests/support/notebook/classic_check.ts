// Opens notebooks in the front ends beside JupyterLab, Jupyter Notebook and the classic notebook, in a
// real browser, runs them and looks at what is drawn, as a program: `deno run -A classic_check.ts`.

import type { Page } from "npm:playwright-core@1.65.1";
import { setTimeout as delay } from "node:timers/promises";
import { type Check, checkInBrowser, faultless, watch } from "../browser_checks.ts";
import { type FrontEnd, JupyterServer } from "./jupyter_server.ts";
import { checksOf, placed, wantedOf } from "./notebook_checks.ts";
import { CLASSIC_VIEW, countIn, LAB_VIEW, type NotebookView, type Seen } from "./seen.ts";

/** The way to drive a front end: by what its own buttons call. */
interface Driving {
  readonly view: NotebookView;
  /** The path of a notebook's page, before its name. */
  readonly path: string;
  /** Whether its kernel is ready. */
  readonly isReady: string;
  /** Runs all cells. */
  readonly runAll: string;
}

const DRIVING: Readonly<Record<Exclude<FrontEnd, "jupyterlab" | "jupyter_server">, Driving>> = {
  notebook: {
    view: LAB_VIEW,
    path: "notebooks",
    isReady: 'jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === "idle"',
    runAll: 'jupyterapp.commands.execute("notebook:run-all-cells")',
  },
  nbclassic: {
    view: CLASSIC_VIEW,
    path: "nbclassic/notebooks",
    isReady: "Jupyter.notebook.kernel.is_connected()",
    runAll: "Jupyter.notebook.execute_all_cells()",
  },
};

/** One with results, plots and progress, and one with cards only made by their objects. */
const NAMES = ["03_bandwidth", "04_lifetimes"] as const;

const WAIT_MILLISECONDS = 60_000;
const POLL_MILLISECONDS = 100;
const SETTLE_MILLISECONDS = 500;

async function checkNotebook(
  page: Page,
  url: string,
  { name, driving }: { readonly name: string; readonly driving: Driving },
): Promise<Check[]> {
  const { view, isReady, runAll } = driving;
  await page.goto(url);
  await until(page, isReady);
  const { faults } = watch(page, (asked) => asked.startsWith(new URL(url).origin));
  const wanted = await wantedOf(name);
  await page.evaluate(`void ${runAll}`);
  const prompts = `[...document.querySelectorAll("${view.cell} ${view.prompt}")]`;
  await until(page, `${prompts}.every((prompt) => /\\[\\d+\\]/.test(prompt.textContent))`);
  const drawn = `document.querySelectorAll(".js-plotly-plot .main-svg .xy").length`;
  await until(page, `${drawn} >= ${wanted.plotCount}`);
  await page.waitForTimeout(SETTLE_MILLISECONDS);
  const checks = checksOf(await page.evaluate(countIn(view)) as Seen, wanted);
  return [...checks, faultless(faults)];
}

/** Asks until an expression holds; what it needs may not be there yet. */
async function until(page: Page, expression: string): Promise<void> {
  const end = Date.now() + WAIT_MILLISECONDS;
  while (!await page.evaluate(`Boolean(${expression})`).catch(() => false)) {
    if (Date.now() > end) throw new Error(`Cannot go on: no ${expression}`);
    await delay(POLL_MILLISECONDS);
  }
}

if (import.meta.main) {
  await checkInBrowser(async (browser, report) => {
    for (const [frontEnd, driving] of Object.entries(DRIVING)) {
      await using server = await JupyterServer.start(frontEnd as keyof typeof DRIVING);
      for (const name of NAMES) {
        const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
        const url = `${server.origin}/${driving.path}/${name}.ipynb`;
        const check = () => checkNotebook(page, url, { name, driving });
        await report(`${frontEnd}: ${name}`, () => placed(check));
        await page.close();
      }
    }
  });
}
