// A text of the project as a page.

import { textOf } from "./html.ts";
import { renderMarkdown } from "./markdown.ts";
import type { Names } from "./names.ts";
import { type Found, headingsFound, type Page } from "./page.ts";
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
  const { body, found } = source.startsWith("docs/from_")
    ? withRows(html, { path, title })
    : { body: html, found: [] };
  return {
    path,
    title,
    section: sectionOf(source),
    body,
    contents: headings.filter(({ depth }) => depth === 2 || depth === 3),
    found: [...headingsFound({ path, title, kind: "guide" }, headings), ...found],
  };
}

/** Gives the rows of a translation's tables anchors, for search; names of the other system are no links. */
function withRows(
  html: string,
  { path, title }: Pick<Page, "path" | "title">,
): { body: string; found: Found[] } {
  const found: Found[] = [];
  const row = /<tr>\s*<td>(.*?)<\/td>\s*<td>(.*?)<\/td>/gs;
  const body = html.replaceAll(row, (_row, theirs: string, ours: string) => {
    const anchor = `row-${found.length + 1}`;
    const [name, text] = [textOf(theirs), textOf(ours)];
    found.push({ name, where: title, kind: "line", text, address: `${path}#${anchor}` });
    const plain = theirs.replaceAll(/<\/?a\b[^>]*>/g, "");
    return `<tr id="${anchor}"><td>${plain}</td><td>${ours}</td>`;
  });
  return { body, found };
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
