// The whole site, made in memory: its pages, and the files that they need.

import { entryPage } from "./entry_page.ts";
import { frame } from "./frame.ts";
import { guidePage } from "./guide_page.ts";
import { Menu } from "./menu.ts";
import { Names } from "./names.ts";
import { notebookPage } from "./notebook_page.ts";
import type { Found, Page } from "./page.ts";
import { PROJECT } from "./project.ts";
import { readReference, type Reference } from "./reference.ts";
import { searchLibrary, searchList } from "./search_files.ts";
import { type SymbolPage, symbolPage } from "./symbol_page.ts";
import { TextPages } from "./text_pages.ts";
import { findUsage } from "./usage.ts";

/** A built site. */
export interface Site {
  readonly reference: Reference;
  readonly symbolPages: readonly SymbolPage[];
  readonly found: readonly Found[];
  /** Every file by its path in the site. */
  readonly files: ReadonlyMap<string, string | Uint8Array>;
}

/** Builds the site from the project's files. */
export async function buildSite(): Promise<Site> {
  const reference = await readReference();
  const names = new Names(reference);
  const usage = findUsage(names);
  const texts = new TextPages();
  const symbolPages = reference.symbols.map((symbol) =>
    symbolPage(symbol, names, usage.get(symbol))
  );
  const pages: Page[] = [
    ...texts.sources.map((source) =>
      source.endsWith(".md") ? guidePage(source, texts, names) : notebookPage(source, texts, names)
    ),
    ...reference.entries.map((entry) => entryPage(entry, names)),
    ...symbolPages,
  ];
  const menu = new Menu(reference, texts, pages);
  const found = pages.flatMap((page) => page.found);
  const asset = (name: string) => Deno.readTextFileSync(new URL(`assets/${name}`, import.meta.url));
  const files = new Map<string, string | Uint8Array>([
    ...pages.map((page) => [page.path, frame(page, menu.html(page))] as const),
    ...[...texts.pictures].map((path) =>
      [path, Deno.readFileSync(new URL(path, PROJECT))] as const
    ),
    ["assets/style.css", asset("style.css")],
    ["assets/search.js", asset("search.js")],
    ["assets/minisearch.js", searchLibrary()],
    ["assets/index.js", searchList(found)],
  ]);
  return { reference, symbolPages, found, files };
}
