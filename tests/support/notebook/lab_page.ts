// One JupyterLab page: opens notebooks, runs them, and counts what is on the screen.
// What runs in the page is text: this program is not type-checked against a browser's globals.

import type { Page } from "npm:playwright-core@1.65.1";
import { setTimeout as delay } from "node:timers/promises";
import { IS_AUTOMATIC } from "../browser_checks.ts";
import { countIn, LAB_VIEW, type Seen } from "./seen.ts";

/** Lightness and darkness of a page. */
export type Theme = "JupyterLab Light" | "JupyterLab Dark";

const HOVER_MILLISECONDS = 150;
const POLL_MILLISECONDS = 100;
const OPEN_MILLISECONDS = 30_000;
const RUN_MILLISECONDS = 120_000;
const DRAW_MILLISECONDS = 20_000;

const PANEL = LAB_VIEW.notebook;

const PROMPTS = `[...document.querySelectorAll("${PANEL} .jp-CodeCell .jp-InputPrompt")]`;

/** Stops an endless loop, and asks the same kernel for what it knew before. */
const INTERRUPT = `(async () => {
  const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
  await kernel.requestExecute({ code: "var kept = 41;" }).done;
  const endless = kernel.requestExecute({ code: "while (true);" }).done;
  await new Promise((resolve) => setTimeout(resolve, 500));
  jupyterapp.commands.execute("notebook:interrupt-kernel");
  await endless;
  const next = kernel.requestExecute({ code: "kept + 1" });
  let text = "";
  next.onIOPub = ({ content }) => text += content.data?.["text/plain"] ?? "";
  await next.done;
  return text;
})()`;

/** A JupyterLab in a browser's page. */
export class LabPage {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** Goes to a JupyterLab and waits until it is ready. */
  async enter(origin: string): Promise<void> {
    await this.#page.goto(`${origin}/lab`);
    await this.#until("window.jupyterapp?.restored", OPEN_MILLISECONDS);
    await this.#page.evaluate("jupyterapp.restored.then(() => true)");
    await this.#command("application:toggle-left-area"); // the list of files is not looked at
  }

  /** Opens a notebook and waits for its kernel. */
  async open(name: string): Promise<void> {
    await this.#command("docmanager:open", { path: `${name}.ipynb`, factory: "Notebook" });
    const kernel = "jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel";
    await this.#until(
      `document.querySelector("${PANEL} .jp-CodeCell") && ${kernel}?.status === "idle" &&
       jupyterapp.shell.currentWidget.context.path === "${name}.ipynb"`,
      OPEN_MILLISECONDS,
    );
  }

  /** Runs all cells in the running kernel, waits until the last has run and the plots have drawn. */
  async runAll(plotCount: number): Promise<void> {
    await this.#command("notebook:clear-all-cell-outputs");
    await this.#until(
      `!/\\d/.test(${PROMPTS}.map((prompt) => prompt.textContent).join(""))`,
      OPEN_MILLISECONDS,
    );
    await this.#command("notebook:run-all-cells");
    await this.#settled(plotCount);
  }

  /** Runs the cells above the one with this text, and waits until they have run. */
  async runAbove(text: string): Promise<void> {
    const content = "jupyterapp.shell.currentWidget.content";
    const index = await this.#page.evaluate(
      `${content}.activeCellIndex = ${content}.widgets.findIndex((cell) =>
         cell.model.sharedModel.getSource() === ${JSON.stringify(text)})`,
    ) as number;
    await this.#command("notebook:clear-all-cell-outputs");
    await this.#command("notebook:run-all-above");
    await this.#until(
      `${content}.widgets.slice(0, ${index}).every((cell) => cell.model.type !== "code" ||
         cell.model.executionState !== "running" && cell.model.executionCount > 0)`,
      RUN_MILLISECONDS,
    );
    await this.#page.waitForTimeout(500);
  }

  /** Restarts the kernel by the button of the toolbar, and says yes to the question that follows. */
  async restart(): Promise<void> {
    const kernel = "jupyterapp.shell.currentWidget.sessionContext.session.kernel";
    await this.#page.locator(`${PANEL} [data-command="notebook:restart-kernel"]`).first().click();
    await this.#page.locator(".jp-Dialog .jp-mod-accept").first().click();
    await this.#page.waitForTimeout(1000);
    await this.#until(`${kernel}?.status === "idle"`, OPEN_MILLISECONDS);
  }

  /** Returns the text of all outputs. */
  outputText(): Promise<string> {
    return this.#page.evaluate(
      `[...document.querySelectorAll("${PANEL} .jp-OutputArea-output")]
         .map((output) => output.innerText).join(" ")`,
    ) as Promise<string>;
  }

  /** Counts what is there. */
  look(): Promise<Seen> {
    return this.#page.evaluate(countIn(LAB_VIEW)) as Promise<Seen>;
  }

  /** Changes the colours of the whole page, and waits for the end of the picture over it: two are an error. */
  async show(theme: Theme): Promise<void> {
    await this.#command("apputils:change-theme", { theme });
    const isLight = theme === "JupyterLab Light";
    await this.#until(
      `document.body.dataset.jpThemeLight === "${isLight}" &&
       document.body.dataset.jpThemeName === "${theme}" &&
       document.getElementById("jupyterlab-splash") === null`,
      OPEN_MILLISECONDS,
    );
  }

  /** Moves the mouse over marks of the first plot until a box appears, and returns its texts. */
  async hover(): Promise<string[]> {
    const plot = this.#page.locator(`${PANEL} .js-plotly-plot`).first();
    await plot.scrollIntoViewIfNeeded();
    const marks = plot.locator(".points path, .barlayer .point path, .nsewdrag");
    for (let index = await marks.count() - 1; index >= 0; index--) {
      const box = await marks.nth(index).boundingBox();
      if (box === null) continue;
      await this.#page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 2 });
      await this.#page.waitForTimeout(HOVER_MILLISECONDS);
      const texts = await plot.locator(".hoverlayer .hovertext").allTextContents();
      if (texts.length > 0) return texts;
    }
    return [];
  }

  /** Interrupts an endless cell and returns what the kernel answers to `41 + 1` afterwards. */
  async interrupt(): Promise<string> {
    const answer = this.#page.evaluate(INTERRUPT) as Promise<string>;
    const late = this.#page.waitForTimeout(OPEN_MILLISECONDS).then(() => "no answer");
    late.catch(() => {}); // the page is closed before the time is over
    return await Promise.race([answer, late]);
  }

  /** Runs the first cell and returns what it shows. */
  async runFirst(): Promise<string> {
    await this.#command("notebook:run-cell-and-select-next");
    await this.#until(`/\\[1\\]/.test(${PROMPTS}[0].textContent)`, OPEN_MILLISECONDS);
    await delay(500);
    return await this.#outputs();
  }

  /** Runs a second cell that never ends, presses Stop, runs the rest, and returns what all show. */
  async stopSecond(): Promise<string> {
    await this.#command("notebook:run-cell-and-select-next");
    await delay(1000);
    await this.#page.locator(`${PANEL} [data-jp-item-name="interrupt"]`).click();
    await delay(2000);
    await this.#command("notebook:run-cell-and-select-next");
    await this.#until(`/\\[\\d+\\]/.test(${PROMPTS}[2].textContent)`, 10_000).catch(() => {});
    await delay(500);
    return await this.#outputs();
  }

  async #outputs(): Promise<string> {
    return await this.#page.locator(`${PANEL} .jp-OutputArea`).allInnerTexts().then((texts) =>
      texts.join("\n")
    );
  }

  /** Takes a picture of the whole notebook at a width; an automatic run goes without. */
  async picture(path: string, width: number): Promise<void> {
    if (IS_AUTOMATIC) return;
    await this.#page.setViewportSize({ width, height: 900 });
    await this.#page.mouse.move(0, 0);
    await this.#page.evaluate(
      `document.querySelectorAll("${PANEL} *").forEach((part) => part.scrollTop = 0)`,
    );
    const height = await this.#page.evaluate(
      `Math.max(...[...document.querySelectorAll("${PANEL} *")].map((part) => part.scrollHeight))`,
    ) as number;
    await this.#page.setViewportSize({ width, height: Math.min(height + 140, 12_000) });
    await this.#page.waitForTimeout(400); // plots follow the width
    await this.#page.screenshot({ path });
    await this.#page.setViewportSize({ width: 1280, height: 900 });
  }

  /** Starts JupyterLab's own command, as its menus do; what it leads to is waited for on the page. */
  async #command(name: string, values: object = {}): Promise<void> {
    const call = `jupyterapp.commands.execute(${JSON.stringify(name)}, ${JSON.stringify(values)})`;
    await this.#page.evaluate(`void ${call}`);
  }

  async #settled(plotCount: number): Promise<void> {
    await this.#until(
      `${PROMPTS}.every((prompt) => /\\[\\d+\\]/.test(prompt.textContent))`,
      RUN_MILLISECONDS,
    );
    const drawn = `document.querySelectorAll("${PANEL} .js-plotly-plot .main-svg .xy").length`;
    await this.#until(`${drawn} >= ${plotCount}`, DRAW_MILLISECONDS)
      .catch(() => {}); // a missing plot is a finding, reported by the checks
    await this.#page.waitForTimeout(500);
  }

  /** Asks until an expression holds; waitForFunction() of Playwright hangs on JupyterLab's page. */
  async #until(expression: string, milliseconds: number): Promise<void> {
    const end = Date.now() + milliseconds;
    while (!await this.#page.evaluate(`Boolean(${expression})`)) {
      if (Date.now() > end) throw new Error(`Cannot go on: no ${expression} in ${milliseconds} ms`);
      await delay(POLL_MILLISECONDS);
    }
  }
}
