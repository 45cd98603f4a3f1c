// Text that becomes HTML, and addresses from one page to another.

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** Writes text so that HTML shows it as it is. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (mark) => ESCAPES[mark] ?? mark);
}

/** The text that a piece of HTML shows. */
export function textOf(html: string): string {
  const text = html.replaceAll(/<[^>]*>/g, "").replaceAll("&#39;", "'");
  return Object.entries(ESCAPES).toReversed()
    .reduce((left, [mark, escaped]) => left.replaceAll(escaped, mark), text);
}

/** The address of one page of the site as another one names it, with its anchor. */
export function relativeAddress(from: string, to: string): string {
  const [path = "", anchor] = to.split("#");
  const end = anchor === undefined ? "" : `#${anchor}`;
  if (path === from && anchor !== undefined) return end;
  const above = from.split("/").slice(0, -1);
  const below = path.split("/");
  while (above.length > 0 && below.length > 1 && above[0] === below[0]) {
    above.shift();
    below.shift();
  }
  return `${"../".repeat(above.length)}${below.join("/")}${end}`;
}

/** The anchor of a heading, as GitHub makes it. */
export function headingAnchor(text: string): string {
  return text.trim().toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(/\s/g, "-");
}

/** Text in which a long name may break between its words. */
export function breakable(text: string): string {
  return escapeHtml(text).replaceAll(/(?<=[a-z])(?=[A-Z])/g, "<wbr>");
}
