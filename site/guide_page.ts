// A text of the project as a page.

import { renderMarkdown } from "./markdown.ts";
import type { Names } from "./names.ts";
import { headingsFound, type Page } from "./page.ts";
import { readProjectFile } from "./project.ts";
import type { TextPages } from "./text_pages.ts";

/** Writes the page of a Markdown file. */
export function guidePage(source: string, texts: TextPages, names: Names): Page {
  const path = texts.place(source);
  const { html, headings } = renderMarkdown(readProjectFile(source), {
    address: (href) => texts.address(source, href),
    name: (code) => names.address(path, names.ofCode(code)),
  });
  const title = titleOf(source);
  return {
    path,
    title,
    section: sectionOf(source),
    body: html,
    contents: headings.filter(({ depth }) => depth === 2 || depth === 3),
    found: headingsFound({ path, title, kind: "guide" }, headings),
  };
}

/** The largest heading of a Markdown file, as plain text. */
export function titleOf(source: string): string {
  const heading = /^# (.+)$/m.exec(readProjectFile(source))?.[1] ?? source;
  return heading.replaceAll(/[`*]/g, "");
}

/** Returns the part of the menu to which a text belongs. */
export function sectionOf(source: string): string {
  if (source.startsWith("notebooks/")) return "Notebooks";
  return source.startsWith("docs/") || source === "README.md" ? "Guides" : "Project";
}
