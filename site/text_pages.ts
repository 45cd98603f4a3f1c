// The texts of the project and its notebooks: which there are, and where their links lead.

import { existsInProject, filesIn } from "./project.ts";
import { relativeAddress } from "./html.ts";

/** Folders whose Markdown files are pages. */
const FOLDERS = ["", "docs/", "notebooks/", "bench/results/"];

/** Files that pages show, and that are copied beside them. */
const PICTURE = /\.(svg|png|jpe?g|gif|webp)$/;

/** Finds the pages of the project's texts, and follows the links between them. */
export class TextPages {
  /** Pictures that the pages show, as paths in the project. */
  readonly pictures = new Set<string>();
  /** Paths of texts and notebooks in the project. */
  readonly sources: readonly string[];
  readonly #places: ReadonlyMap<string, string>;

  constructor() {
    this.sources = [
      ...FOLDERS.filter(existsInProject).flatMap((folder) => filesIn(folder, ".md")),
      ...filesIn("notebooks/", ".ipynb"),
    ];
    this.#places = new Map(this.sources.map((source) => [source, placeOf(source)]));
  }

  place(source: string): string {
    return this.#places.get(source) ?? placeOf(source);
  }

  /**
   * The address in the site that a link of a text has; nothing for a file of the project that is not
   * a page. A path that does not exist is kept, for the check of links to find.
   */
  address(source: string, href: string): string | undefined {
    if (/^([a-z][a-z0-9+.-]*:|#)/i.test(href)) return href;
    const [path = "", anchor] = href.split("#");
    const target = decodeURI(new URL(path, `file:///${source}`).pathname).slice(1);
    const end = anchor === undefined ? "" : `#${anchor}`;
    const from = this.place(source);
    const folder = target.endsWith("/") || target === "" ? target : `${target}/`;
    const text = [target, `${folder}README.md`].find((each) => this.#places.has(each));
    if (text !== undefined) return relativeAddress(from, this.place(text) + end);
    if (!existsInProject(target)) return href;
    if (!PICTURE.test(target)) return undefined;
    this.pictures.add(target);
    return relativeAddress(from, target);
  }
}

/** Returns the place of a text's page: a README is the first page of its folder. */
function placeOf(source: string): string {
  return source.toLowerCase().replace(/readme\.md$/, "index.html").replace(
    /\.(md|ipynb)$/,
    ".html",
  );
}
