// Every combination of permissions, each in a process of its own: `--allow-write` alone is enough, a
// program never writes where Deno does not let it, and what is refused leaves everything as it was.

import { assert, assertEquals } from "@std/assert";
import { flagsOfBuiltKit } from "../support/built_kit.ts";
import { runDeno } from "../support/child_deno.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { IS_WHOLE, testRandom } from "../support/random.ts";
import { type Outcome, WAYS, WRITTEN } from "../support/saving/permitted_program.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOnLinux } from "../support/test_unless.ts";

type Way = typeof WAYS[number];

const OLD = Uint8Array.of(1, 2, 3, 4);
const TEMPORARY = ".file.vramkit-saving";
const PROGRAM = new URL("tests/support/saving/permitted_program.ts", PROJECT_ROOT).pathname;

/** The permissions of a program to write, and the ways that work then. */
interface WriteCase {
  readonly name: string;
  readonly flags: (folder: string) => string[];
  readonly works: readonly Way[];
  /** What the messages of the others say. */
  readonly says: RegExp;
}

const IN_FOLDER = WAYS.filter((way) => way !== "link");
const each = (folder: string, name: string) => WAYS.map((way) => `${folder}/${way}/${name}`);

const WRITES: readonly WriteCase[] = [
  { name: "anything", flags: () => ["--allow-write"], works: WAYS, says: /never/ },
  { name: "nothing", flags: () => [], works: [], says: /write access is not granted/ },
  {
    name: "the folder",
    flags: (folder) => [`--allow-write=${folder}`],
    works: IN_FOLDER,
    says: /: it leads to .* write access is not granted/,
  },
  {
    name: "the file",
    flags: (folder) => [`--allow-write=${each(folder, "file").join(",")}`],
    works: ["inPlace", "offset"],
    says: /write access/,
  },
  {
    name: "the file and its temporary",
    flags: (folder) => [
      `--allow-write=${[...each(folder, "file"), ...each(folder, TEMPORARY)].join(",")}`,
    ],
    works: ["replace", "sync", "model", "inPlace", "offset"],
    says: /write access is not granted/,
  },
  {
    name: "the folder but not the file",
    flags: (folder) => [
      `--allow-write=${folder}`,
      `--deny-write=${each(folder, "file").join(",")}`,
    ],
    works: ["new"],
    says: /write access is not granted/,
  },
  {
    name: "the folder but not the temporary",
    flags: (folder) => [
      `--allow-write=${folder}`,
      `--deny-write=${each(folder, TEMPORARY).join(",")}`,
    ],
    works: ["inPlace", "offset", "new"],
    says: /pass \{ inPlace: true \}|it leads to/,
  },
];

const READS: readonly (readonly [name: string, flags: (folder: string) => string[]])[] = [
  ["nothing", () => []],
  ["the folder", (folder) => [`--allow-read=${folder}`]],
  ["anything", () => ["--allow-read"]],
];

const turned = testRandom().below(READS.length);
for (const [row, { name, flags, works, says }] of WRITES.entries()) {
  for (const [column, [readable, readFlags]] of READS.entries()) {
    // In a run that is not whole each is tried with others.
    if (!IS_WHOLE && column !== (row + turned) % READS.length) continue;
    const title = `files are written as Deno permits: writing ${name}, reading ${readable}`;
    testOnLinux(title, async () => {
      using folder = new TemporaryFolder();
      using outside = new TemporaryFolder();
      prepare(folder, outside);
      const outcomes = await run(folder, [...flags(folder.path), ...readFlags(folder.path)]);
      for (const way of WAYS) {
        const { errorName, message } = outcomes[way];
        if (works.includes(way)) {
          assertEquals([way, message], [way, undefined]);
        } else {
          assertEquals([way, errorName], [way, "NotCapable"], message);
          assert(says.test(message ?? ""), message);
        }
        checkContents(folder, { way, isWritten: works.includes(way), outside });
      }
    });
  }
}

/** Makes a folder with a file for each way, and a link to a file elsewhere. */
function prepare(folder: TemporaryFolder, outside: TemporaryFolder): void {
  for (const way of WAYS) {
    Deno.mkdirSync(folder.pathOf(way));
    folder.write(`${way}/file`, OLD);
  }
  Deno.symlinkSync(outside.write("file", OLD), folder.pathOf("link/link"));
}

async function run(folder: TemporaryFolder, flags: string[]): Promise<Record<Way, Outcome>> {
  const always = ["--allow-ffi", "--allow-env", "--allow-sys", "--no-prompt"];
  const { code, stdout, stderr } = await runDeno([
    "run",
    "--quiet",
    ...await flagsOfBuiltKit(),
    ...always,
    ...flags,
    PROGRAM,
    folder.path,
  ]);
  assertEquals(code, 0, stderr);
  return JSON.parse(stdout);
}

/** Looks at the files of one way: the new bytes where it works, else the old ones, and no stray. */
function checkContents(
  folder: TemporaryFolder,
  { way, isWritten, outside }: { way: Way; isWritten: boolean; outside: TemporaryFolder },
): void {
  const file = Deno.readFileSync(folder.pathOf(`${way}/file`));
  const elsewhere = Deno.readFileSync(outside.pathOf("file"));
  const names = [...Deno.readDirSync(folder.pathOf(way))].map(({ name }) => name).sort();
  if (way === "link") {
    assertEquals([file, elsewhere], [OLD, isWritten ? WRITTEN : OLD]);
  } else if (way === "new") {
    assertEquals([file, names], [OLD, isWritten ? ["file", "new"] : ["file"]]);
  } else {
    assertEquals(names, ["file"]);
    if (!isWritten) assertEquals(file, OLD);
    else if (way === "offset") assertEquals(file, Uint8Array.of(1, 2, 9, 8));
    else assertEquals(file.subarray(-2), WRITTEN);
  }
}
