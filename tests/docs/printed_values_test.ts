// What the programs of the pages and the doc comments print is what the comment behind the call says:
// `console.log(x.length); // 3`. Comments that are words and no value are left alone.

import { assert, assertEquals } from "@std/assert";
import { builtKit } from "../support/built_kit.ts";
import { runDeno } from "../support/child_deno.ts";
import { projectFiles } from "../support/project_files.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

/** A line that prints, and what it is said to print. */
const PRINTING = /^(\s*)console\.log\((.*)\); \/\/ (.+)$/;

/** The beginning of a printed value: a literal, a list, an object, a typed array. */
const VALUE = /^(?:true\b|false\b|undefined\b|null\b|-?\d|\[|\{|"|\w+Array\(\d+\) \[)/;

/** A fence of a program, and what stands before its lines in a comment. */
const PROGRAM = /^( *(?:\* )?)```ts\n(.*?)^ *(?:\* )?```$/gms;

/** Programs that print values. */
const programs = [
  ...projectFiles([".md"]).filter(({ path }) => path === "README.md" || path.startsWith("docs/")),
  ...projectFiles([".ts"], "src/"),
  ...projectFiles(["mod.ts"]).filter(({ path }) => path === "mod.ts"),
]
  .flatMap(({ path, text }) =>
    [...text.matchAll(PROGRAM)].map(([, margin = "", code = ""], index) => ({
      name: `${path}, program ${index + 1}`,
      code: code.split("\n").map((line) => line.slice(margin.length)).join("\n"),
    }))
  )
  .filter(({ code }) => checked(code) !== code);

/** Has each line that prints a value report it, beside what its comment says. */
function checked(code: string): string {
  return code.split("\n").map((line) => {
    const [, space = "", args = "", said = ""] = PRINTING.exec(line) ?? [];
    return VALUE.test(said) ? `${space}__report(${JSON.stringify(said)}, ${args});` : line;
  }).join("\n");
}

/** Prints pairs of what was said and what came, as JSON. */
const REPORT = `
function __report(said: string, ...values: unknown[]): void {
  const words = values.map((value) => typeof value === "string" ? value : Deno.inspect(value));
  console.log("=> " + JSON.stringify([said, words.join(" ")]));
}
`;

/** Leaves spaces out that only the console writes. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(/([[{(]) /g, "$1").replaceAll(/ ([\]})])/g, "$1");
}

/** Whether a comment says a value: it alone, or with words behind it. */
function says(comment: string, value: string): boolean {
  const [said, came] = [plain(comment), plain(value)];
  return said === came ||
    (said.startsWith(came) && /^(?:[:;,]| [a-z])/.test(said.slice(came.length)));
}

Deno.test("says() takes a value with words behind it, and no other value", () => {
  assert(says("Float32Array(2) [1, 2]", "Float32Array(2) [ 1, 2 ]"));
  assert(says("false: nothing was read", "false"));
  assert(says("0 where all reach", "0"));
  assertEquals(says("12", "1"), false);
  assertEquals(says("1 2", "1"), false);
  assertEquals(says("[1, 2]", "[ 1, 3 ]"), false);
});

for (const { name, code } of programs) {
  Deno.test(`${name} prints what its comments say`, async () => {
    using folder = new TemporaryFolder();
    const program = folder.write("program.ts", checked(code) + REPORT);
    const { config } = await builtKit();
    const flags = ["--quiet", "--no-check", "--no-lock", "-A", "--config", config];
    const { code: status, stdout, stderr } = await runDeno(["run", ...flags, program]);
    assertEquals(status, 0, stderr);
    const pairs: [string, string][] = stdout.split("\n")
      .filter((line) => line.startsWith("=> ")).map((line) => JSON.parse(line.slice(3)));
    for (const [said, came] of pairs) assert(says(said, came), `said ${said}, came ${came}`);
  });
}
