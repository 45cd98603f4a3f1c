// The page of one entry: what it is for, and its names with a sentence each.

import { CommentWriter } from "./doc_comment.ts";
import { escapeHtml, headingMark, relativeAddress } from "./html.ts";
import type { Names } from "./names.ts";
import type { Page } from "./page.ts";
import { type Entry, GROUPS } from "./reference.ts";
import { kindOf } from "./symbol_page.ts";

/** The place of an entry's page. */
export function entryPath({ folder }: Entry): string {
  return `${folder}index.html`;
}

/** Writes the page of an entry. */
export function entryPage(entry: Entry, names: Names): Page {
  const { specifier, comment, symbols } = entry;
  const path = entryPath(entry);
  const comments = new CommentWriter(names, path);
  const groups = GROUPS.filter((group) => symbols.some((symbol) => symbol.group === group));
  const anchorOf = (group: string) => group.toLowerCase();
  const tables = groups.map((group) => {
    const rows = symbols.filter((symbol) => symbol.group === group)
      .sort((one, other) => one.name.localeCompare(other.name, "en"))
      .map(({ name, page, declarations }) => {
        const words = declarations.find(({ jsDoc }) => jsDoc?.doc)?.jsDoc ?? {};
        const address = relativeAddress(path, page);
        const kind = kindOf(declarations[0]);
        return `<tr><td><a href="${address}" title="${kind}"><code>${
          escapeHtml(name)
        }</code></a></td><td>${comments.summary(words)}</td></tr>`;
      });
    const anchor = anchorOf(group);
    return `<h2 id="${anchor}">${group}${headingMark(anchor)}</h2>
<div class="scroll"><table class="names">${rows.join("")}</table></div>`;
  });
  const modules = names.reference.entries.map((each) => {
    const link = `<a href="${
      relativeAddress(path, entryPath(each))
    }"><code>${each.specifier}</code></a>`;
    return each === entry ? `<b>${link}</b>` : link;
  });
  return {
    path,
    title: specifier,
    section: specifier,
    body: `<p class="kind">module</p><h1 class="code">${specifier}</h1>
<p class="modules">${modules.join(" ")}</p>
${comments.whole(comment)}${tables.join("\n")}`,
    contents: groups.map((group) => ({ depth: 2, text: group, anchor: anchorOf(group) })),
    found: [{ name: specifier, where: "Reference", kind: "module", text: "", address: path }],
  };
}
