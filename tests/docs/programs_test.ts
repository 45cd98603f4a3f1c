// The programs of the pages and the doc comments: `deno task test` executes every one of them.

import { assertEquals } from "@std/assert";
import { filesWithExamples } from "../run.ts";
import { runDeno } from "../support/child_deno.ts";
import { PROJECT_ROOT, projectFiles } from "../support/project_files.ts";
import { shareOf } from "../support/random.ts";

/** Languages of blocks that are no programs of this kit. */
const OTHER_LANGUAGES = ["json", "mermaid", "python", "sh", "text"];

/** Files with programs that Deno leaves out: they need numpy, pyarrow or, on a GPU, CuPy, or PyTorch's files. */
const FILES_WITH_PYTHON = [
  "docs/python.md",
  "docs/recipes.md",
  "docs/snapshots.md",
  "src/entries/python.ts",
];

/** Opens or closes a block, also in a list, in a quotation and in a doc comment. */
const FENCE = /^[\s>*]*(?:```+|~~~+)(.*)$/;

/** One block of code on a page or in a doc comment. */
interface Block {
  readonly place: string;
  /** The words behind the fence: the language, and what is to be done with it. */
  readonly info: string;
}

const pages = projectFiles([".md"]);
const sources = ["src/", "ffi/"].flatMap((folder) => projectFiles([".ts"], folder));
const blocks = [...pages, ...sources, ...projectFiles(["mod.ts"])].flatMap(({ path, text }) =>
  blocksOf(path, text)
);

Deno.test("blocksOf() finds blocks wherever they may stand", () => {
  const page = "```ts\n1\n```\n> ~~~ js ignore\n> ~~~\n\n1. x\n   ```\n   y\n   ```\n";
  const comment = "/**\n * ```ts ignore\n * x\n * ```\n */";
  assertEquals(blocksOf("a.md", page + comment), [
    { place: "a.md:1", info: "ts" },
    { place: "a.md:4", info: "js ignore" },
    { place: "a.md:8", info: "" },
    { place: "a.md:12", info: "ts ignore" },
  ]);
});

Deno.test("Pages and doc comments have no other program that is left out of the tests than those with Python", () => {
  const odd = blocks.filter(({ info }) => info !== "ts" && !OTHER_LANGUAGES.includes(info));
  const files = new Set(odd.map(({ place, info }) => `${place.split(":")[0]}: ${info}`));
  assertEquals([...files], FILES_WITH_PYTHON.map((path) => `${path}: ts ignore`));
});

Deno.test("deno task test executes every program of the pages", async () => {
  const programs = blocks.filter(({ place, info }) => info === "ts" && place.includes(".md:"));
  const files = new Set(filesWithExamples());
  assertEquals(programs.filter(({ place }) => !files.has(place.split(":")[0] ?? "")), []);
  const some = shareOf(pages, { least: 3 });
  const paths = some.map(({ path }) => path);
  const theirs = programs.filter(({ place }) => paths.includes(place.split(":")[0] ?? ""));
  const flags = ["--no-check", "--permit-no-files", "--filter=/^$/"]; // counts, and runs none
  const { stdout, stderr } = await runDeno(["test", "--doc", ...flags, ...paths], {
    cwd: PROJECT_ROOT,
  });
  assertEquals(
    stdout.match(/(\d+) filtered out/)?.[1],
    String(theirs.length),
    `Deno finds other programs than ${theirs.map(({ place }) => place).join(", ")}\n${stderr}`,
  );
});

function blocksOf(path: string, text: string): Block[] {
  const found: Block[] = [];
  let isOpen = false;
  for (const [index, line] of text.split("\n").entries()) {
    const info = FENCE.exec(line)?.[1]?.trim();
    if (info === undefined) continue;
    if (!isOpen) found.push({ place: `${path}:${index + 1}`, info });
    isOpen = !isOpen;
  }
  return found;
}
