// The menu beside every page: guides, notebooks, the names of the entry at hand, and the project.

import { entryPath } from "./entry_page.ts";
import { sectionOf, titleOf } from "./guide_page.ts";
import { breakable, escapeHtml, relativeAddress } from "./html.ts";
import type { Page } from "./page.ts";
import { readProjectFile } from "./project.ts";
import { type Entry, GROUPS, type Reference } from "./reference.ts";
import type { TextPages } from "./text_pages.ts";

interface Line {
  readonly text: string;
  readonly place: string;
}

/** Writes the menu for one page after another. */
export class Menu {
  readonly #reference: Reference;
  readonly #guides: readonly Line[];
  readonly #coming: readonly Line[];
  readonly #notebooks: readonly Line[];
  readonly #project: readonly Line[];

  constructor(reference: Reference, texts: TextPages, pages: readonly Page[]) {
    this.#reference = reference;
    const line = (source: string): Line => ({
      text: source === "README.md" ? "Start here" : titleOf(source),
      place: texts.place(source),
    });
    const inSection = (section: string) =>
      texts.sources.filter((each) => each.endsWith(".md") && sectionOf(each) === section);
    const guides = inReadingOrder(inSection("Guides"), readProjectFile("docs/README.md"));
    this.#guides = guides.filter((each) => !/\/from_/.test(each)).map(line);
    this.#coming = guides.filter((each) => /\/from_/.test(each)).map(line);
    this.#project = inSection("Project").map(line);
    this.#notebooks = [
      ...inSection("Notebooks").map(line),
      ...texts.sources.filter((each) => each.endsWith(".ipynb")).map((source) => {
        const place = texts.place(source);
        return { text: pages.find(({ path }) => path === place)?.title ?? source, place };
      }),
    ];
  }

  html({ path, section }: Page): string {
    const isComing = this.#coming.some(({ place }) => place === path);
    return [
      this.#part("Guides", this.#guides, path, section === "Guides" && !isComing),
      this.#part("Coming from", this.#coming, path, isComing),
      this.#part("Notebooks", this.#notebooks, path, section === "Notebooks"),
      '<p class="part">Reference</p>',
      ...this.#reference.entries.map((entry) => this.#entry(entry, path, section)),
      '<p class="part">More</p>',
      this.#part("Project", this.#project, path, section === "Project"),
    ].join("");
  }

  #part(title: string, lines: readonly Line[], path: string, isOpen: boolean): string {
    return `<details${isOpen ? " open" : ""}><summary>${escapeHtml(title)}</summary>${
      list(lines, path)
    }</details>`;
  }

  #entry(entry: Entry, path: string, section: string): string {
    const { specifier, symbols } = entry;
    const isHere = section === specifier;
    const title = `<code>${specifier}</code>`;
    const all: Line = { text: "All names", place: entryPath(entry) };
    // The names of the other entries stay on their own pages: a page would be mostly menu.
    const groups = isHere
      ? GROUPS.map((group) => {
        const lines = symbols.filter((symbol) => symbol.group === group)
          .map(({ name, page }) => ({ text: name, place: page }))
          .sort((one, other) => one.text.localeCompare(other.text, "en"));
        if (lines.length === 0) return "";
        const isOpen = group !== "Types" || lines.some(({ place }) => place === path);
        return `<details${isOpen ? " open" : ""}><summary>${group}</summary>${
          list(lines, path)
        }</details>`;
      })
      : [];
    return `<details${isHere ? " open" : ""}><summary>${title}</summary>${list([all], path)}${
      groups.join("")
    }</details>`;
  }
}

/** Puts texts into the order in which a page links to them; others come last. */
function inReadingOrder(sources: readonly string[], page: string): string[] {
  const rank = (source: string) => {
    const at = page.indexOf(`(${source.replace(/^.*\//, "")})`);
    if (source === "README.md") return -2;
    return source.endsWith("README.md") ? -1 : at < 0 ? Infinity : at;
  };
  return sources.toSorted((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
}

function list(lines: readonly Line[], path: string): string {
  const items = lines.map(({ text, place }) => {
    const here = place === path ? ' aria-current="page"' : "";
    return `<li><a href="${relativeAddress(path, place)}"${here}>${breakable(text)}</a></li>`;
  });
  return `<ul>${items.join("")}</ul>`;
}
