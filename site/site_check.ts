// The rules that every built site follows: links lead somewhere, search finds what is there, and
// nothing comes from elsewhere.

import { walk } from "./files.ts";
import type { Site } from "./site.ts";

/** A rule, and what breaks it. */
export interface SiteCheck {
  readonly name: string;
  readonly problems: readonly string[];
}

/** A page: its path and its text. */
type HtmlPage = readonly [path: string, html: string];

/** Checks a site in its folder. */
export function problemsOf({ rows, warnings }: Site, folder: string): SiteCheck[] {
  const files = walk(folder);
  const pages = files.filter((path) => path.endsWith(".html"))
    .map((path): HtmlPage => [path, Deno.readTextFileSync(`${folder}/${path}`)]);
  const hasPlace = placesOf(pages, new Set(files));
  return [
    { name: "TypeDoc warns of nothing", problems: warnings },
    {
      name: "every link leads to a page and an anchor of the site",
      problems: brokenLinks(pages, hasPlace),
    },
    {
      name: "everything that search finds is there",
      problems: rows.map(({ address }) => address).filter((each) => !hasPlace(each)),
    },
    { name: "nothing is loaded from elsewhere", problems: foreignResources(pages) },
  ];
}

/** Links and pictures whose address has no file, or no anchor in it. */
export function brokenLinks(
  pages: readonly HtmlPage[],
  hasPlace: (place: string) => boolean,
): string[] {
  return pages.flatMap(([path, html]) =>
    [...html.matchAll(/<(?:a|img|link|script)\b[^>]*\s(?:href|src)="([^"]*)"/g)]
      .map(([, address = ""]) => address.replaceAll("&amp;", "&"))
      .filter((address) => !/^[a-z][a-z0-9+.-]*:/i.test(address))
      .filter((address) => !hasPlace(placeOf(path, address)))
      .map((address) => `${path}: ${address}`)
  );
}

/** The place in the site that an address on a page means, as `page.html#anchor`. */
function placeOf(path: string, address: string): string {
  const { pathname, hash } = new URL(address, `file:///${path}`);
  return decodeURI(pathname.slice(1)) + hash;
}

/** Tells whether the site has a file, and the anchor in it. */
function placesOf(
  pages: readonly HtmlPage[],
  files: ReadonlySet<string>,
): (place: string) => boolean {
  const anchors = new Map(
    pages.map(([path, html]) => [
      path,
      new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, anchor = ""]) => anchor)),
    ]),
  );
  return (place) => {
    const [path = "", anchor] = place.split("#");
    if (anchor === undefined || anchor === "") return files.has(path) || path === "";
    return anchors.get(path)?.has(decodeURIComponent(anchor)) ?? false;
  };
}

/** Links may lead elsewhere; what a page shows may not come from there. */
export function foreignResources(pages: readonly HtmlPage[]): string[] {
  const loaded =
    /<(?:img|script|iframe|source|link)\b[^>]*?(?:src|href)="((?:https?:)?\/\/[^"]*)"|url\(["']?((?:https?:)?\/\/[^)]*)/g;
  return pages.flatMap(([path, html]) =>
    [...html.matchAll(loaded)].map(([, one, other]) => `${path}: ${one ?? other}`)
  );
}
