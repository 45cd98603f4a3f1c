// A notebook as Markdown: its texts, its code, and what it showed when it was saved, without scripts.
// TypeDoc has no pages for notebooks.

import { type CellOutput, joined, type Notebook } from "../jupyter/notebook_file.ts";

const PLOT = "application/vnd.plotly.v1+json";

// deno-lint-ignore no-control-regex -- colours of a terminal begin with the escape character
const TERMINAL_STYLE = /\x1b\[[0-9;]*m/g;

/** Writes a notebook as a text with HTML. */
export function notebookText(source: string, notebook: Notebook): string {
  const name = source.replace(/^.*\//, "").replace(/\.ipynb$/, "");
  let plotCount = 0;
  const show = ({ output_type, text, data = {}, ename = "", evalue = "" }: CellOutput): string => {
    if (output_type === "stream") return plain(joined(text));
    if (output_type === "error") return plain(`${ename}: ${evalue}`);
    if (PLOT in data) {
      plotCount++;
      const words = textIn(data, "text/plain").split("\n")[0] ?? "";
      return `![${words.replaceAll(/[[\]]/g, "")}](pictures/${name}_${plotCount}.svg)`;
    }
    const html = staticHtml(textIn(data, "text/html")).trim();
    if (html !== "") return `<div class="shown">${html.replaceAll(/\n\s*/g, " ")}</div>`;
    if ("text/html" in data) return ""; // an output that was nothing but a script
    if ("image/png" in data) {
      return `<img src="data:image/png;base64,${textIn(data, "image/png").trim()}" alt="">`;
    }
    return plain(textIn(data, "text/plain"));
  };
  return notebook.cells.map(({ cell_type, source, outputs = [] }) => {
    if (cell_type === "markdown") return joined(source);
    const shown = outputs.map(show).filter((text) => text !== "");
    return [`\`\`\`ts\n${joined(source)}\n\`\`\``, ...shown].join("\n\n");
  }).join("\n\n");
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
  return shown === "" ? "" : `\`\`\`text\n${shown.replaceAll("```", "'''")}\n\`\`\``;
}

function textIn(data: Readonly<Record<string, unknown>>, type: string): string {
  return joined(data[type] as string | readonly string[] | undefined);
}
