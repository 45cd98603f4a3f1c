// The frame of every page: head, menu, search, the list of headings.

import { breakable, escapeHtml, relativeAddress } from "./html.ts";
import type { Page } from "./page.ts";

/** Writes a whole HTML page. */
export function frame(page: Page, menu: string): string {
  const { path, title, body, contents } = page;
  const address = (place: string) => relativeAddress(path, place);
  const root = "../".repeat(path.split("/").length - 1);
  const shown = title === "vramkit" && path === "index.html" ? "vramkit" : `${title} · vramkit`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(shown)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${address("assets/style.css")}">
</head>
<body data-root="${root}">
<a class="skip" href="#content">Skip to the text</a>
<input id="menu-open" type="checkbox" aria-label="Show the menu">
<header>
<label for="menu-open">Menu</label>
<a class="name" href="${address("index.html")}">vramkit</a>
<nav class="top"><a href="${address("docs/index.html")}">Guides</a> <a href="${
    address("notebooks/index.html")
  }">Notebooks</a> <a href="${address("reference/index.html")}">Reference</a></nav>
<div class="search" role="search">
<input id="search" type="search" placeholder="Search names and headings" aria-label="Search" autocomplete="off" spellcheck="false">
<kbd>/</kbd>
<div id="found" hidden></div>
</div>
</header>
<div class="columns">
<nav class="menu" aria-label="Pages">${menu}</nav>
<main id="content">
${body}
</main>
${contentsHtml(contents)}
</div>
<script src="${address("assets/minisearch.js")}" defer></script>
<script src="${address("assets/index.js")}" defer></script>
<script src="${address("assets/search.js")}" defer></script>
</body>
</html>
`;
}

function contentsHtml(contents: Page["contents"]): string {
  if (contents.length < 2) return '<aside class="contents"></aside>';
  const items = contents.map(({ depth, text, anchor }) =>
    `<li class="depth-${depth}"><a href="#${anchor}">${breakable(text)}</a></li>`
  );
  return `<aside class="contents"><p>On this page</p><ul>${items.join("")}</ul></aside>`;
}
