// Text that becomes part of HTML, escaped; and the one place that knows how a share becomes a width.

/** Writes a text so that HTML, and plotly's own subset of it, shows it as it is. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Writes a share from 0 to 1 as a CSS width; what is there at all stays visible. */
export function cssWidth(share: number): string {
  const percent = Math.min(100, Math.max(0, 100 * share));
  return percent > 0 ? `max(2px, ${Number(percent.toFixed(2))}%)` : "0";
}
