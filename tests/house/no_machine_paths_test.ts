// Nothing in the project may depend on, or give away, the machine it was written on:
// no home folder, no package host, no folder outside the checkout; saved outputs are read too.

import { assertEquals } from "@std/assert";
import { projectFiles } from "../support/project_files.ts";

const TEXT = [
  ...[".ts", ".js", ".json", ".md", ".ipynb", ".py", ".cpp", ".html", ".svg", ".yml", ".toml"],
  ...["LICENSE", ".gitignore", ".ci/run", "deno.lock"],
];

/** What gives a machine away. Halves are joined here so that this file does not match itself. */
const TRACES: Readonly<Record<string, RegExp>> = {
  "a home folder": pattern(
    "(/ho",
    "me|/Us",
    "ers)/[a-z][a-z0-9_.-]*/|/ro",
    "ot/|[A-Z]:\\\\Us",
    "ers",
  ),
  "a work folder": pattern("/wo", "rk/(main|shared|[.])|\\.\\./sha", "red/|/tm", "p/[a-z]"),
  "a package host": pattern("regis", "try\\.npm|py", "pi\\.org|deb\\.deb", "ian|js", "r\\.io/"),
};

const files = projectFiles(TEXT).filter(({ path }) => !/^bandwidth\.(json|html)$/.test(path));

for (const [trace, found] of Object.entries(TRACES)) {
  Deno.test(`files do not name ${trace}`, () => {
    const lines = files.flatMap(({ path, text }) =>
      text.split("\n").flatMap((line, index) =>
        found.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 80)}`] : []
      )
    );
    assertEquals(lines, []);
  });
}

Deno.test("files that name a machine are found", () => {
  const planted = [
    "cd /ho" + "me/ada/kit",
    "../sha" + "red/design",
    "https://regis" + "try.npmjs.org",
  ];
  const hits = planted.map((line) =>
    Object.values(TRACES).filter((found) => found.test(line)).length
  );
  assertEquals(hits, [1, 1, 1]);
});

function pattern(...parts: readonly string[]): RegExp {
  return new RegExp(parts.join(""));
}
