// The rules that every built site follows: links lead somewhere, names have pages, members have words.

import type { Site } from "./site.ts";

/** A rule, and what breaks it. */
export interface SiteCheck {
  readonly name: string;
  readonly problems: readonly string[];
}

/** A page: its path and its text. */
type HtmlPage = readonly [string, string];

/** Checks a site. */
export function problemsOf(site: Site): SiteCheck[] {
  const pages = htmlPages(site);
  const { symbolPages, reference } = site;
  const hasPlace = placesOf(site);
  return [
    {
      name: "every link leads to a page and an anchor of the site",
      problems: brokenLinks(pages, hasPlace),
    },
    {
      name: "everything that search finds is there",
      problems: site.found.map(({ address }) => address).filter((each) => !hasPlace(each)),
    },
    { name: "no anchor is there twice", problems: doubleAnchors(pages) },
    { name: "nothing is loaded from elsewhere", problems: foreignResources(pages) },
    {
      name: "every public name has a page",
      problems: reference.entries.flatMap(({ specifier, symbols }) =>
        symbols.filter(({ page }) => !site.files.has(page)).map(({ name }) =>
          `${specifier}: ${name}`
        )
      ),
    },
    { name: "no two pages differ by the case of a letter", problems: sameButForCase(site) },
    {
      name: "every name and every member has a summary",
      problems: symbolPages.flatMap(({ silent }) => silent),
    },
    {
      name: "every {@link} names something public",
      problems: symbolPages.flatMap(({ unknown }) =>
        unknown.map(({ page, target }) => `${page}: {@link ${target}}`)
      ),
    },
  ];
}

/** Links and pictures whose address has no file, or no anchor in it. */
function brokenLinks(pages: readonly HtmlPage[], hasPlace: (place: string) => boolean): string[] {
  return pages.flatMap(([path, html]) =>
    addressesIn(html).filter((address) => !/^[a-z][a-z0-9+.-]*:/i.test(address))
      .filter((address) => !hasPlace(placeOf(path, address)))
      .map((address) => `${path}: ${address}`)
  );
}

/** The place in the site that an address on a page means, as `page.html#anchor`. */
function placeOf(path: string, address: string): string {
  const { pathname, hash } = new URL(address, `file:///${path}`);
  return pathname.slice(1) + hash;
}

/** Tells whether the site has a file, and the anchor in it. */
function placesOf(site: Site): (place: string) => boolean {
  const anchors = new Map(htmlPages(site).map(([path, html]) => [path, new Set(anchorsIn(html))]));
  return (place) => {
    const [path = "", anchor] = place.split("#");
    if (anchor === undefined) return site.files.has(path);
    return anchors.get(path)?.has(decodeURIComponent(anchor)) ?? false;
  };
}

function doubleAnchors(pages: readonly HtmlPage[]): string[] {
  return pages.flatMap(([path, html]) => {
    const seen = new Set<string>();
    return anchorsIn(html).filter((anchor) => seen.size === seen.add(anchor).size)
      .map((anchor) => `${path}: ${anchor}`);
  });
}

/** Links may lead elsewhere; what a page shows may not come from there. */
function foreignResources(pages: readonly HtmlPage[]): string[] {
  const loaded =
    /<(?:img|script|iframe|source|link)\b[^>]*?(?:src|href)="((?:https?:)?\/\/[^"]*)"|url\(["']?((?:https?:)?\/\/[^)]*)/g;
  return pages.flatMap(([path, html]) =>
    [...html.matchAll(loaded)].map(([, one, other]) => `${path}: ${one ?? other}`)
  );
}

function sameButForCase({ files }: Site): string[] {
  const groups = Map.groupBy(files.keys(), (path) => path.toLowerCase());
  return [...groups.values()].filter((paths) => paths.length > 1).map((paths) => paths.join(", "));
}

function htmlPages({ files }: Site): HtmlPage[] {
  return [...files].flatMap(([path, contents]) =>
    typeof contents === "string" && path.endsWith(".html") ? [[path, contents] as const] : []
  );
}

function addressesIn(html: string): string[] {
  return [...html.matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, address = ""]) => address);
}

function anchorsIn(html: string): string[] {
  return [...html.matchAll(/\sid="([^"]*)"/g)].map(([, anchor = ""]) => anchor);
}
