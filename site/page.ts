// A page of the site before it has its frame, and what search finds on it.

import type { Heading } from "./markdown.ts";

/** One page. */
export interface Page {
  /** Its place in the site, such as `"reference/DeviceBuffer.html"`. */
  readonly path: string;
  /** What the browser's tab and search show. */
  readonly title: string;
  /** Which part of the site it belongs to: the menu opens that part. */
  readonly section: string;
  /** What stands between the menu and the list of headings. */
  readonly body: string;
  /** What the list beside the text shows. */
  readonly contents: readonly Heading[];
  /** What search finds. */
  readonly found: readonly Found[];
}

/** One thing that search finds. */
export interface Found {
  /** What is compared with what the reader types: a name, a member, a heading. */
  readonly name: string;
  /** The class or the page it belongs to. */
  readonly where: string;
  /** What it is: `"class"`, `"method"`, `"guide"`. */
  readonly kind: string;
  /** The sentence that is shown. */
  readonly text: string;
  /** Where it leads. */
  readonly address: string;
}
