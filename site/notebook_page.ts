// A notebook as a page: its texts, its code, and what it showed when it was saved, without scripts.

import { type CellOutput, joined, type Notebook } from "../jupyter/notebook_file.ts";
import { escapeHtml } from "./html.ts";
import { type Heading, renderCode, renderMarkdown } from "./markdown.ts";
import type { Names } from "./names.ts";
import { headingsFound, type Page } from "./page.ts";
import { readProjectFile } from "./project.ts";
import type { TextPages } from "./text_pages.ts";

const PLOT = "application/vnd.plotly.v1+json";

// deno-lint-ignore no-control-regex -- colours of a terminal begin with the escape character
const TERMINAL_STYLE = /\x1b\[[0-9;]*m/g;

/** Writes the page of a notebook. */
export function notebookPage(source: string, texts: TextPages, names: Names): Page {
  const path = texts.place(source);
  const notebook: Notebook = JSON.parse(readProjectFile(source));
  const name = source.replace(/^.*\//, "").replace(/\.ipynb$/, "");
  const headings: Heading[] = [];
  let plotCount = 0;
  const cells = notebook.cells.map(({ cell_type, source: lines, outputs = [] }) => {
    const text = joined(lines);
    if (cell_type === "markdown") {
      const rendered = renderMarkdown(text, {
        address: (href) => texts.address(source, href),
        name: (code) => names.address(path, names.ofCode(code)),
      });
      headings.push(...rendered.headings);
      return rendered.html;
    }
    const shown = outputs.map((output) => show(output)).filter((html) => html !== "");
    const below = shown.length === 0 ? "" : `<div class="outputs">${shown.join("\n")}</div>`;
    return `<div class="cell">${renderCode(text, "ts")}${below}</div>`;
  });
  const title = headings.find(({ depth }) => depth === 1)?.text ?? name;
  const note = `<p class="kind">notebook <span>${escapeHtml(source)}, as it was saved</span></p>`;
  return {
    path,
    title,
    section: "Notebooks",
    body: note + cells.join("\n"),
    contents: headings.filter(({ depth }) => depth > 1),
    found: headingsFound({ path, title, kind: "notebook" }, headings),
  };

  function show({ output_type, text, data = {}, ename = "", evalue = "" }: CellOutput): string {
    if (output_type === "stream") return plain(joined(text));
    if (output_type === "error") return plain(`${ename}: ${evalue}`);
    if (PLOT in data) {
      plotCount++;
      const address = texts.address(source, `pictures/${name}_${plotCount}.svg`) ?? "";
      const words = textIn(data, "text/plain").split("\n")[0] ?? "";
      return `<img class="plot" src="${escapeHtml(address)}" alt="${
        escapeHtml(words)
      }" loading="lazy">`;
    }
    const html = staticHtml(textIn(data, "text/html"));
    if (html.trim() !== "") return `<div class="shown">${html}</div>`;
    // An output that was nothing but a script has nothing to show.
    if ("text/html" in data) return "";
    if ("image/svg+xml" in data) {
      return `<div class="shown">${staticHtml(textIn(data, "image/svg+xml"))}</div>`;
    }
    if ("image/png" in data) {
      return `<img src="data:image/png;base64,${textIn(data, "image/png").trim()}" alt="">`;
    }
    return plain(textIn(data, "text/plain"));
  }
}

/** HTML without what runs: scripts, handlers, addresses that are scripts. */
export function staticHtml(html: string): string {
  return html
    .replaceAll(/<script\b[^>]*>[\s\S]*?<\/script\s*>/gi, "")
    .replaceAll(/<(iframe|object|embed)\b[\s\S]*?(<\/\1\s*>|$)/gi, "")
    .replaceAll(/(<[^>]*?)\son\w+\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)/gi, "$1")
    .replaceAll(/(href|src)\s*=\s*(["']?)\s*javascript:[^"'>]*\2/gi, "");
}

function plain(text: string): string {
  const shown = text.replaceAll(TERMINAL_STYLE, "").replace(/\n$/, "");
  return shown === "" ? "" : `<pre class="plain">${escapeHtml(shown)}</pre>`;
}

function textIn(data: Readonly<Record<string, unknown>>, type: string): string {
  return joined(data[type] as string | readonly string[] | undefined);
}
