// A page of the site before it has its frame, and what search finds on it.

import type { Heading } from "./markdown.ts";

/** One page. */
export interface Page {
  /** Its place in the site, such as `"reference/DeviceBuffer.html"`. */
  readonly path: string;
  /** Title in the browser's tab and in search. */
  readonly title: string;
  /** The part of the site to which it belongs: the menu opens that part. */
  readonly section: string;
  /** Content between the menu and the list of headings. */
  readonly body: string;
  /** Headings for the list beside the text. */
  readonly contents: readonly Heading[];
  /** Entries for search. */
  readonly found: readonly Found[];
}

/** The entries for search of a text: its headings, of which the largest is the page itself. */
export function headingsFound(
  { path, title, kind }: Pick<Page, "path" | "title"> & Pick<Found, "kind">,
  headings: readonly Heading[],
): Found[] {
  return headings.map(({ depth, text: name, anchor }) => {
    const isPage = depth === 1;
    const address = isPage ? path : `${path}#${anchor}`;
    return { name, where: isPage ? "" : title, kind, text: "", address };
  });
}

/** One thing that search finds. */
export interface Found {
  /** Text that is compared with the words of the reader: a name, a member, a heading. */
  readonly name: string;
  /** The class or the page it belongs to. */
  readonly where: string;
  /** Kind of entry: `"class"`, `"method"`, `"guide"`. */
  readonly kind: string;
  /** The sentence that is shown. */
  readonly text: string;
  /** The address to which it leads. */
  readonly address: string;
}
