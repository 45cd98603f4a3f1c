// A saved notebook on a page that keeps the rules of a viewer which cannot run here. What runs in the
// page is text: this program is not type-checked against a browser's globals.

import type { Page } from "npm:playwright-core@1.65.1";
import { joined, readNotebook } from "../../../jupyter/notebook_file.ts";
import type { NotebookView } from "./seen.ts";

/** The viewers, and what each does with an output. */
export const VIEWERS = {
  /** VS Code in a trusted folder: it shows HTML and runs its scripts, copied into new elements. */
  vscode: { isSanitised: false },
  /** GitHub: HTML without scripts, SVG elements and styles of any kind. */
  github: { isSanitised: true },
} as const;

/** A viewer's name. */
export type Viewer = keyof typeof VIEWERS;

/** The parts of these pages. */
export const IMITATED_VIEW: NotebookView = {
  notebook: "main",
  cell: ".cell",
  prompt: ".prompt",
  output: ".output",
  error: ".error",
};

const PAGE = `<!doctype html>
<meta charset="utf-8">
<style>
:root { color-scheme: light dark }
body { background: Canvas; color: CanvasText; font: 14px system-ui, sans-serif }
main { max-width: 900px; margin: auto }
pre, .output { overflow-x: auto }
</style>
<main></main>`;

const SHOW = `(cells, { isSanitised }) => {
  const element = (name, parent, text = "") => {
    const made = document.createElement(name === "pre" ? "pre" : "div");
    if (name !== "pre") made.className = name;
    made.textContent = text;
    parent.append(made);
    return made;
  };
  const sanitise = (area) => {
    for (const part of area.querySelectorAll("script, style, svg")) part.remove();
    for (const part of area.querySelectorAll("*")) {
      for (const { name } of [...part.attributes]) {
        if (name === "style" || name.startsWith("on")) part.removeAttribute(name);
      }
    }
  };
  const runScripts = (area) => {
    for (const { text } of [...area.querySelectorAll("script")]) {
      const script = document.createElement("script");
      script.text = text;
      area.append(script);
      script.remove();
    }
  };
  const main = document.querySelector("main");
  for (const { source, number, outputs } of cells) {
    const cell = element("cell", main);
    element("prompt", cell, "[" + number + "]");
    element("pre", cell, source);
    for (const output of outputs) {
      const area = element("output", cell);
      if (output.html === "") {
        element("pre", area, output.words);
      } else {
        const { body } = new DOMParser().parseFromString(output.html, "text/html");
        if (isSanitised) sanitise(body);
        area.innerHTML = body.innerHTML;
        if (!isSanitised) runScripts(area);
      }
    }
  }
}`;

/** Shows the code cells and outputs of a notebook as a viewer would. */
export async function imitate(page: Page, notebook: URL, viewer: Viewer): Promise<void> {
  const cells = readNotebook(notebook).cells.filter(({ cell_type }) => cell_type === "code");
  const shown = cells.map(({ source, execution_count, outputs = [] }) => ({
    source: joined(source),
    number: execution_count,
    outputs: outputs.map(({ text, data }) => ({
      html: joined(data?.["text/html"] as string),
      words: joined(text ?? data?.["text/plain"] as string),
    })),
  }));
  await page.setContent(PAGE);
  await page.evaluate(`(${SHOW})(${JSON.stringify(shown)}, ${JSON.stringify(VIEWERS[viewer])})`);
}
