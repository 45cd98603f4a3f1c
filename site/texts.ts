// The texts of the project as pages: guides, notebooks, and what is about the project. They are written
// into a folder of their own, where links between them lead to pages, and links to other files end.

import { dirname, join, relative } from "node:path/posix";
import type { Notebook } from "../jupyter/notebook_file.ts";
import { notebookText } from "./notebook_text.ts";

/** The project's root folder. */
export const PROJECT = new URL("../", import.meta.url);

/** A text of the site. */
export interface Text {
  /** Its path in the project. */
  readonly source: string;
  readonly title: string;
  readonly group: TextGroup;
}

/** The parts of the menu, in order. */
export const TEXT_GROUPS = ["Guides", "Coming from", "Notebooks", "Project"] as const;

/** A part of the menu. */
export type TextGroup = (typeof TEXT_GROUPS)[number];

const PICTURE = /\.(svg|png|jpe?g|gif|webp)$/;

/** A link or a picture of Markdown. */
const LINK = /(!?)\[((?:[^\][]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g;

/** Writes all texts into a folder and returns them in the order of the menu. */
export function writeTexts(folder: string): Text[] {
  const texts = TEXT_GROUPS.flatMap((group) =>
    sourcesOf(group).map((source) => ({ source, title: titleOf(source), group }))
  );
  for (const text of texts) {
    const path = join(folder, pathOf(text.source));
    Deno.mkdirSync(dirname(path), { recursive: true });
    const front = `---\ntitle: ${JSON.stringify(text.title)}\ngroup: ${text.group}\n---\n`;
    Deno.writeTextFileSync(path, front + linked(contentsOf(text.source), text.source, folder));
  }
  const front = contentsOf("README.md").replace(/^# .+\n/, "") // TypeDoc writes the name above it
    .replace(/<picture>[\s\S]*?<img alt="([^"]*)" src="([^"]*)"[^>]*>\s*<\/picture>/, "![$1]($2)");
  const readme = linked(front, "README.md", folder);
  Deno.writeTextFileSync(join(folder, "README.md"), readme);
  return texts;
}

/** The path of a text in the folder. */
export function pathOf(source: string): string {
  return source.replace(/\.ipynb$/, ".md");
}

function sourcesOf(group: TextGroup): string[] {
  if (group === "Notebooks") {
    return ["notebooks/README.md", ...filesIn("notebooks/", ".ipynb")];
  }
  if (group === "Project") {
    return [...filesIn("", ".md").filter((path) => path !== "README.md"), "bench/README.md"];
  }
  const isComing = group === "Coming from";
  const contents = Deno.readTextFileSync(new URL("docs/README.md", PROJECT));
  const rank = (source: string) => {
    const at = contents.indexOf(`(${source.slice("docs/".length)})`);
    return source.endsWith("README.md") ? -1 : at < 0 ? Infinity : at;
  };
  return filesIn("docs/", ".md").filter((source) => source.includes("/from_") === isComing)
    .sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
}

function filesIn(folder: string, ending: string): string[] {
  return [...Deno.readDirSync(new URL(`./${folder}`, PROJECT))]
    .filter(({ name, isFile }) => isFile && name.endsWith(ending))
    .map(({ name }) => folder + name).sort();
}

function contentsOf(source: string): string {
  const text = Deno.readTextFileSync(new URL(source, PROJECT));
  return source.endsWith(".ipynb") ? notebookText(source, JSON.parse(text) as Notebook) : text;
}

/** The largest heading of a text, without marks. */
function titleOf(source: string): string {
  const title = /^# (.+)$/m.exec(contentsOf(source))?.[1] ?? source;
  const number = /\/(\d+)_[^/]*\.ipynb$/.exec(source)?.[1]; // a guide may have the same title
  return `${number === undefined ? "" : `${Number(number)}. `}${title.replaceAll(/[`*]/g, "")}`;
}

/** Points the links of a text to pages, copies its pictures, and takes other links away. */
function linked(text: string, source: string, folder: string): string {
  return outsideCode(
    text,
    (part) =>
      part.replaceAll(LINK, (whole, mark: string, words: string, href: string) => {
        const inside = `${mark}[${outsideCode(words, (each) => linked(each, source, folder))}]`;
        if (/^([a-z][a-z0-9+.-]*:|#)/i.test(href)) return whole;
        const [path = "", anchor] = href.split("#");
        const target = decodeURI(new URL(path, `file:///${source}`).pathname).slice(1);
        const page = pageAt(target);
        if (page === undefined && PICTURE.test(target)) {
          copyPicture(target, folder);
          return `${inside}(${href})`;
        }
        if (page === undefined) return exists(target) ? words : whole; // a check finds what is gone
        const to = relative(dirname(pathOf(source)), pathOf(page)) || ".";
        return `${inside}(${to.startsWith(".") ? to : `./${to}`}${
          anchor === undefined ? "" : `#${anchor}`
        })`;
      }),
  );
}

/** The text that a path means: itself, or the first page of a folder. */
function pageAt(target: string): string | undefined {
  const folder = target.endsWith("/") || target === "" ? target : `${target}/`;
  const pages = [target, `${folder}README.md`].filter((path) =>
    /^(docs\/|notebooks\/)?[^/]+\.(md|ipynb)$|^bench\/README\.md$/.test(path)
  );
  return pages.find(exists);
}

function exists(path: string): boolean {
  try {
    Deno.statSync(new URL(`./${path}`, PROJECT));
    return true;
  } catch {
    return false;
  }
}

function copyPicture(path: string, folder: string): void {
  const to = join(folder, path);
  Deno.mkdirSync(dirname(to), { recursive: true });
  Deno.copyFileSync(new URL(`./${path}`, PROJECT), to);
}

/** Changes a Markdown text, and leaves its code alone. */
function outsideCode(text: string, change: (part: string) => string): string {
  return text.split(/(^ *```[\s\S]*?^ *```|`[^`\n]+`)/m)
    .map((part, index) => index % 2 === 0 ? change(part) : part).join("");
}
