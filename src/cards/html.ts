// Escapes text for HTML, and writes a share of a whole as a width in CSS.

/** Escapes a text for HTML and for plotly's subset of it. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Returns a share from 0 to 1 as CSS; any share above 0 stays visible. */
export function cssWidth(share: number): string {
  const percent = Math.min(100, Math.max(0, 100 * share));
  return `width:${Number(percent.toFixed(2))}%;min-width:${percent > 0 ? 2 : 0}px`;
}
