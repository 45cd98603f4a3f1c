// Columns of text, aligned: the tables that consoles and reports show.

import { visibleText } from "./format.ts";

/** Alignment of a column. */
export type Align = "left" | "right";

/** Lays rows out under a header; columns are aligned as `align` says, to the left by default. */
export function formatTable(
  rows: readonly (readonly string[])[],
  align: readonly Align[] = [],
): string {
  const cells = rows.map((row) => row.map(visibleText));
  const columnCount = Math.max(0, ...cells.map((row) => row.length));
  const widths = Array.from(
    { length: columnCount },
    (_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    widths.map((width, column) => {
      const cell = row[column] ?? "";
      return align[column] === "right" ? cell.padStart(width) : cell.padEnd(width);
    }).join("  ").trimEnd();
  return cells.map(line).join("\n");
}
