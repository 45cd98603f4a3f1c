// Text tables with aligned columns, for consoles and reports.

import { visibleText } from "./format.ts";

/** Alignment of a column. */
export type Align = "left" | "right";

/** Width at which a name is shortened. */
const MAX_NAME = 60;

/**
 * Lays rows out under a header; columns are aligned as `align` says, to the left by default. The first
 * column has names: a long one loses its middle.
 */
export function formatTable(
  rows: readonly (readonly string[])[],
  align: readonly Align[] = [],
): string {
  const cells = rows.map(([name = "", ...rest]) => [shortened(name), ...rest].map(visibleText));
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

/** Long names often differ only at their end. */
function shortened(name: string): string {
  const letters = [...name];
  if (letters.length <= MAX_NAME) return name;
  const half = MAX_NAME / 2;
  return `${letters.slice(0, half).join("")}…${letters.slice(1 - half).join("")}`;
}
