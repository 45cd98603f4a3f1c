// What search finds: every public name and member with its words, and every section of every page with
// its whole text. TypeDoc's own search knows no synonyms, and ranks names alone.

import library from "npm:minisearch@7.2.0" with { type: "text" };
import { join } from "node:path/posix";
import {
  Comment,
  type DeclarationReflection,
  type ProjectReflection,
  ReflectionKind,
  type Router,
} from "npm:typedoc@0.28.20";
import type { Text } from "./texts.ts";

/** One thing that search finds. */
export interface SearchRow {
  /** A name, a member or a heading. */
  readonly name: string;
  /** The class or the page that it belongs to; empty for these. */
  readonly where: string;
  /** `"class"`, `"method"`, `"guide"` and so on. */
  readonly kind: string;
  /** The words about it. */
  readonly text: string;
  /** Its address in the site. */
  readonly address: string;
}

/** The title of the first page. */
const PROJECT_NAME = "vramkit";

/** Kinds of names, in words. */
const KINDS = new Map<ReflectionKind, string>([
  [ReflectionKind.Module, "module"],
  [ReflectionKind.Class, "class"],
  [ReflectionKind.Interface, "interface"],
  [ReflectionKind.TypeAlias, "type"],
  [ReflectionKind.Function, "function"],
  [ReflectionKind.Variable, "constant"],
  [ReflectionKind.Method, "method"],
  [ReflectionKind.Property, "property"],
  [ReflectionKind.Accessor, "property"],
  [ReflectionKind.Constructor, "constructor"],
]);

const TEXT_KINDS = {
  Guides: "guide",
  "Coming from": "table",
  Notebooks: "notebook",
  Project: "page",
};

/** Collects the rows of a site that was written. */
export function searchRows(
  router: Router,
  { project, texts, out }: {
    readonly project: ProjectReflection;
    readonly texts: readonly Text[];
    readonly out: string;
  },
): SearchRow[] {
  const names = project.getReflectionsByKind(ReflectionKind.All).flatMap(
    (reflection): SearchRow[] => {
      const kind = KINDS.get(reflection.kind);
      if (kind === undefined || !reflection.isDeclaration() || !router.hasUrl(reflection)) {
        return [];
      }
      if (reflection.name.startsWith("[")) return [];
      const isMember = reflection.parent?.kindOf(ReflectionKind.ClassOrInterface) === true;
      return [{
        name: reflection.name,
        where: isMember ? reflection.parent?.name ?? "" : "",
        kind,
        text: wordsOf(reflection),
        address: router.getFullUrl(reflection),
      }];
    },
  );
  const kinds = new Map(texts.map(({ title, group }) => [title, TEXT_KINDS[group]]));
  const documents = [
    { title: PROJECT_NAME, address: "index.html", kind: "guide" },
    ...project.getReflectionsByKind(ReflectionKind.Document).map((document) => ({
      title: document.name,
      address: router.getFullUrl(document),
      kind: kinds.get(document.name) ?? "page",
    })),
  ];
  const sections = documents.flatMap((page) =>
    sectionRows(page, Deno.readTextFileSync(join(out, page.address)))
  );
  return [...names, ...sections];
}

function wordsOf(reflection: DeclarationReflection): string {
  const comments = [
    reflection.comment,
    ...reflection.getNonIndexSignatures().map(({ comment }) => comment),
  ];
  return comments.map((comment) => Comment.combineDisplayParts(comment?.summary)).join(" ")
    .replaceAll(/\{@link(?:code)? ([^}|]+)[^}]*\}/g, "$1").replaceAll(/[`*\s]+/g, " ").trim();
}

/** The sections of a page: each heading with the text up to the next one. */
function sectionRows(
  { title, address, kind }: {
    readonly title: string;
    readonly address: string;
    readonly kind: string;
  },
  html: string,
): SearchRow[] {
  const body =
    /<div class="tsd-panel tsd-typography">([\s\S]*?)<\/div>\s*<\/div>\s*<div class="col-sidebar"/
      .exec(html)?.[1] ?? html;
  const parts = body.split(/(?=<h[123] id="[^"]+")/);
  return parts.flatMap((part): SearchRow[] => {
    const [, level, anchor = "", heading = ""] =
      /^<h([123]) id="([^"]+)"[^>]*>(.*?)<\/h\1>/s.exec(part) ?? [];
    if (level === undefined) {
      // The first page has its title above what it is made from.
      return title === PROJECT_NAME
        ? [{ name: title, where: "", kind, text: textOf(part), address }]
        : [];
    }
    const isPage = level === "1";
    const row = {
      name: textOf(heading),
      where: isPage ? "" : title,
      kind,
      text: textOf(part.slice(part.indexOf(`</h${level}>`))).slice(0, 6000),
      address: isPage ? address : `${address}#${anchor}`,
    };
    return [row, ...(kind === "table" ? tableRows(part, row.address, title) : [])];
  });
}

/** Lines that translate a call of another system. */
function tableRows(html: string, address: string, where: string): SearchRow[] {
  return [...html.matchAll(/<tr>\s*<td>(.*?)<\/td>\s*<td>(.*?)<\/td>/gs)].map(
    ([, theirs = "", ours = ""]) => ({
      name: textOf(theirs),
      where,
      kind: "line",
      text: textOf(ours),
      address,
    }),
  );
}

/** The text that a piece of HTML shows. */
export function textOf(html: string): string {
  return html.replaceAll(/<svg[\s\S]*?<\/svg>|<[^>]*>/g, " ").replaceAll("&lt;", "<").replaceAll(
    "&gt;",
    ">",
  )
    .replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&").replaceAll(
      /\s+/g,
      " ",
    ).trim();
}

/** The scripts that search needs: plain ones, because a page that is a file may load no module. */
export function searchFiles(rows: readonly SearchRow[]): Map<string, string> {
  const exported = "export { MiniSearch as default };";
  if (!library.includes(exported)) {
    throw new Error("Cannot use minisearch: its export has another form");
  }
  const script = library.replace(exported, "globalThis.MiniSearch = MiniSearch;")
    .replace(/\/\/# sourceMappingURL.*$/m, "");
  const list = rows.map((
    { name, where, kind, text, address },
  ) => [name, where, kind, text, address]);
  return new Map([
    ["minisearch.js", `(() => {\n${script}\n})();\n`],
    ["found.js", `globalThis.VRAMKIT_FOUND = ${JSON.stringify(list)};\n`],
    ["finding.js", Deno.readTextFileSync(new URL("assets/finding.js", import.meta.url))],
  ]);
}
