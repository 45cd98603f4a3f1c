// The programs of the pages and the doc comments: each runs, as a module of its own, and prints what the
// comments behind its calls say: `console.log(x.length); // 3`. Comments that are words are left alone.

import { assert, assertEquals } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { runDeno } from "../support/child_deno.ts";
import { KeeperScene } from "../support/persist/keeper_scene.ts";
import { PROJECT_ROOT, projectFiles } from "../support/project_files.ts";
import { shareOf } from "../support/random.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOfAll } from "../support/test_unless.ts";

/** Languages of blocks that are no programs of this kit. */
const OTHER_LANGUAGES = ["json", "mermaid", "python", "sh", "text"];

/** Files with programs that are left out: they need numpy, pyarrow or, on a GPU, CuPy, or PyTorch's files. */
const FILES_WITH_PYTHON = [
  "docs/python.md",
  "docs/recipes.md",
  "docs/snapshots.md",
  "src/entries/python.ts",
];

/** Files with programs that measure for seconds. */
const LONG_FILES = ["docs/machine.md"];

/** Opens or closes a block, also in a list, in a quotation and in a doc comment. */
const FENCE = /^([\s>*]*)(?:```+|~~~+)(.*)$/;

/** One block of code on a page or in a doc comment. */
interface Block {
  /** Its file and line. */
  readonly place: string;
  /** The words behind the fence: the language, and what is to be done with it. */
  readonly info: string;
  readonly code: string;
}

const pages = projectFiles([".md"]);
const sources = ["src/", "ffi/"].flatMap((folder) => projectFiles([".ts"], folder));
const blocks = [...pages, ...sources, ...projectFiles(["mod.ts"])].flatMap(({ path, text }) =>
  blocksOf(path, text)
);

Deno.test("blocksOf() finds blocks wherever they may stand", () => {
  const page = "```ts\n1\n```\n> ~~~ js ignore\n> ~~~\n\n1. x\n   ```\n   y\n   ```\n";
  const comment = "/**\n * ```ts ignore\n * x\n *\n *   y\n * ```\n */";
  assertEquals(blocksOf("a.md", page + comment), [
    { place: "a.md:1", info: "ts", code: "1" },
    { place: "a.md:4", info: "js ignore", code: "" },
    { place: "a.md:8", info: "", code: "y" },
    { place: "a.md:12", info: "ts ignore", code: "x\n\n  y" },
  ]);
});

Deno.test("Pages and doc comments have no other program that is left out of the tests than those with Python", () => {
  const odd = blocks.filter(({ info }) => info !== "ts" && !OTHER_LANGUAGES.includes(info));
  const files = new Set(odd.map(({ place, info }) => `${place.split(":")[0]}: ${info}`));
  assertEquals([...files], FILES_WITH_PYTHON.map((path) => `${path}: ts ignore`));
});

Deno.test("The programs of the pages are those that Deno finds", async () => {
  const paths = shareOf(pages, { least: 3 }).map(({ path }) => path);
  const theirs = blocks.filter(({ place, info }) =>
    info === "ts" && paths.includes(place.split(":")[0] ?? "")
  );
  const flags = ["--no-check", "--permit-no-files", "--filter=/^$/"]; // counts, and runs none
  const { stdout, stderr } = await runDeno(["test", "--doc", ...flags, ...paths], {
    cwd: PROJECT_ROOT,
  });
  const places = theirs.map(({ place }) => place).join(", ");
  const found = stdout.match(/(\d+) filtered out/)?.[1] ?? "0"; // where there are no programs it says nothing
  assertEquals(found, String(theirs.length), `Deno finds other programs than ${places}\n${stderr}`);
});

Deno.test("says() takes a value with words behind it, and no other value", () => {
  assert(says("Float32Array(2) [1, 2]", "Float32Array(2) [ 1, 2 ]"));
  assert(says("false: nothing was read", "false"));
  assert(says("0 where all reach", "0"));
  assertEquals(says("12", "1"), false);
  assertEquals(says("1 2", "1"), false);
  assertEquals(says("[1, 2]", "[ 1, 3 ]"), false);
});

const keeper = new KeeperScene();
Deno.test.afterAll(() => keeper[Symbol.asyncDispose]());

for (const { place, code } of blocks.filter(({ info }) => info === "ts")) {
  const register = LONG_FILES.some((path) => place.startsWith(path)) ? testOfAll : Deno.test;
  register(`${place} runs, and prints what its comments say`, async () => {
    using folder = new TemporaryFolder();
    if (code.includes(".persist(")) await startKeeper();
    await import(`file://${folder.write("program.ts", checked(code))}`);
  });
}

/** Starts the keeper of persisted memory, which a program would leave behind as a child of its own. */
async function startKeeper(): Promise<void> {
  const args = ["run", "-A", "--no-check", "src/cli.ts", "persisted", "start"];
  await runDeno(args, { cwd: PROJECT_ROOT });
}

/** A line that prints, and what it is said to print. */
const PRINTING = /^(\s*)console\.log\((.*)\); \/\/ (.+)$/;

/** The beginning of a printed value: a literal, a list, an object, a typed array. */
const VALUE = /^(?:true\b|false\b|undefined\b|null\b|-?\d|\[|\{|"|\w+Array\(\d+\) \[)/;

/** Names of entries, where a program imports them. */
const ENTRY = /(?<=(?:\bfrom|\bimport\(?) ?)"(vramkit(?:\/\w+)?)"/g;

/** A program's own test, which cannot be one inside another test. */
const OWN_TEST = /^Deno\.test\((".*?"), /gm;

/**
 * Has each line that prints a value compare it with its comment, and each test run at once; imports the kit
 * by its addresses.
 */
function checked(code: string): string {
  const lines = code.split("\n").map((line) => {
    const [, space = "", args = "", said = ""] = PRINTING.exec(line) ?? [];
    return VALUE.test(said) ? `${space}saysWhatCame(${JSON.stringify(said)}, ${args});` : line;
  });
  const addresses: Readonly<Record<string, string>> = config.imports;
  const program = lines.join("\n").replaceAll(OWN_TEST, "await Promise.try(").replaceAll(
    ENTRY,
    (_, name) => JSON.stringify(new URL(addresses[name] ?? "", PROJECT_ROOT)),
  );
  return `${program}\nimport { saysWhatCame } from "${import.meta.url}";\n`;
}

/** Compares a comment with the values that a program prints there, which imports this function. */
export function saysWhatCame(said: string, ...values: unknown[]): void {
  const words = values.map((value) => typeof value === "string" ? value : Deno.inspect(value));
  const came = words.join(" ");
  assert(says(said, came), `said ${said}, came ${came}`);
}

/** Tells whether a comment says a value: it alone, or with words behind it. */
function says(comment: string, value: string): boolean {
  const [said, came] = [plain(comment), plain(value)];
  return said === came ||
    (said.startsWith(came) && /^(?:[:;,]| [a-z])/.test(said.slice(came.length)));
}

/** Leaves spaces out that only the console writes. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(/([[{(]) /g, "$1").replaceAll(/ ([\]})])/g, "$1");
}

function blocksOf(path: string, text: string): Block[] {
  const found: Block[] = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const [, margin = "", info] = FENCE.exec(lines[at] ?? "") ?? [];
    if (info === undefined) continue;
    const start = at + 1;
    do at++; while (at < lines.length && !FENCE.test(lines[at] ?? ""));
    const code = lines.slice(start, at).map((line) => line.slice(margin.length)).join("\n");
    found.push({ place: `${path}:${start}`, info: info.trim(), code });
  }
  return found;
}
