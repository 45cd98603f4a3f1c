// The examples in the tables of a page: each is a program of its own, found by its row.

/** One row of a table with a program in its second column. */
export interface ExampleRow {
  /** The text of the first column. */
  readonly name: string;
  /** The program in the second column. */
  readonly code: string;
}

/** Reads the rows whose second column is one program, from Markdown. */
export function readExampleRows(markdown: string): ExampleRow[] {
  return markdown.split("\n").flatMap((line) => {
    if (!line.startsWith("| ")) return [];
    const [, name = "", program = ""] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const code = /^`(.+)`$/.exec(program)?.[1];
    return code === undefined ? [] : [{ name, code: code.replaceAll("\\|", "|") }];
  });
}

/**
 * Writes the module that runs each row by itself, by the function `runExample` of a file; the rows use
 * these names, and those of the imports.
 */
export function programOf(
  rows: readonly ExampleRow[],
  { runner, names, imports }: {
    readonly runner: URL;
    readonly names: string;
    readonly imports: readonly string[];
  },
): string {
  const parts = rows.map(({ name, code }) =>
    `await runExample(${JSON.stringify(name)}, async (names) => {
  const { ${names} } = names;
  void [${names}];
  await Promise.resolve();
  ${code};
});`
  );
  return [`import { runExample } from ${JSON.stringify(runner.href)};`, ...imports, ...parts]
    .join("\n");
}
