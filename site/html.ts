// Text that becomes HTML, and addresses from one page to another.

import { escape, unescape } from "@std/html";
import { dirname, relative } from "node:path/posix";

export { escape as escapeHtml };

/** The text that a piece of HTML shows. */
export function textOf(html: string): string {
  return unescape(html.replaceAll(/<[^>]*>/g, ""));
}

/** The address of one page of the site as another one names it, with its anchor. */
export function relativeAddress(from: string, to: string): string {
  const [path = "", anchor] = to.split("#");
  const end = anchor === undefined ? "" : `#${anchor}`;
  if (path === from && anchor !== undefined) return end;
  return relative(dirname(from), path) + end;
}

/** The anchor of a heading, as GitHub makes it. */
export function headingAnchor(text: string): string {
  return text.trim().toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(/\s/g, "-");
}

/** The link of a heading to itself, which appears beside it. */
export function headingMark(anchor: string): string {
  return ` <a class="mark" href="#${anchor}" aria-label="Link to here">#</a>`;
}

/** Text in which a long name may break between its words. */
export function breakable(text: string): string {
  return escape(text).replaceAll(/(?<=[a-z])(?=[A-Z])/g, "<wbr>");
}
