// Runs the suite: `deno task test [PATHS AND FLAGS OF DENO TEST]`. Without any, it runs all tests in one
// process more than the machine has cores, up to four: what tests share in a process, such as its heap
// and its threads, they share with one folder only, or with a few small ones. The files of a process are
// one graph of modules, so that they load the kit once.

import { fileURLToPath } from "node:url";
import { PROJECT_ROOT, projectFiles } from "./support/project_files.ts";
import { IS_WHOLE } from "./support/random.ts";

/** Processes at a time; each takes up to a GiB of memory. */
const MAX_PROCESSES = 4;

/** Time of a process, several times as long as any takes on two cores: a test that hangs is named then. */
const MAX_PART_SECONDS = 900;

/** Folders whose tests take long whatever they hold, and why: `deno task test:all` runs them. */
const LONG_FOLDERS: Readonly<Record<string, string>> = { "tests/site": "builds the whole site" };

/** Random programs, which come first; a whole run has minutes of them, and takes each file by itself. */
const PROGRAMS = "tests/properties";

/** Folders in which small ones go together up to so many bytes: a process starts in half a second. */
const JOINED = { folders: "tests/src/", bytes: 120_000 };

/** The flags of every run. */
const FLAGS = ["test", "-A", "--no-check"];

/** The module that loads the files of a folder. */
const LOADER = "tests/support/loader.ts";

/** Files that one process tests. */
interface Part {
  readonly name: string;
  readonly paths: readonly string[];
  /** Its size, by which large parts come first. */
  readonly size: number;
}

function partsOfSuite(): Part[] {
  const tests = projectFiles(["_test.ts"], "tests/");
  const folders = Map.groupBy(
    tests,
    ({ path }) =>
      IS_WHOLE && path.startsWith(PROGRAMS)
        ? path
        : path.split("/").slice(0, -1).slice(0, 3).join("/"),
  );
  const parts: Part[] = [...folders].map(([name, files]) => ({
    name,
    paths: files.map(({ path }) => path),
    size: name.startsWith(PROGRAMS)
      ? Infinity
      : files.reduce((sum, { text }) => sum + text.length, 0),
  }));
  const { small = [], others = [] } = Object.groupBy(
    parts.filter(isWanted),
    ({ name }) => name.startsWith(JOINED.folders) ? "small" : "others",
  );
  return [...joinSmall(small), ...others].sort((a, b) => b.size - a.size);
}

/** Joins small folders, the smallest first. */
function joinSmall(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts.toSorted((a, b) => a.size - b.size)) {
    const last = joined.at(-1);
    if (last === undefined || last.size + part.size > JOINED.bytes) joined.push(part);
    else joined[joined.length - 1] = join(last, part);
  }
  return joined;
}

function join(part: Part, other: Part): Part {
  return {
    name: `${part.name}, ${other.name}`,
    paths: [...part.paths, ...other.paths],
    size: part.size + other.size,
  };
}

/** Leaves a long folder out of a short run, and says so. */
function isWanted({ name, paths }: Part): boolean {
  const reason = LONG_FOLDERS[name];
  if (reason === undefined || IS_WHOLE) return true;
  console.log(`    ${name}: skipped, it ${reason}; deno task test:all runs it`);
  SUMS.ignored += paths.length;
  return false;
}

/** The sums of a suite. */
const SUMS = { passed: 0, step: 0, failed: 0, ignored: 0 };

/** What a run printed of tests that failed. */
interface Failures {
  /** Their errors, one text for each part. */
  readonly errors: string[];
  /** Their names and places. */
  readonly places: string[];
}

/** Runs a part, and adds its counts to the sums. */
async function runPart({ name, paths }: Part, failures: Failures): Promise<void> {
  const start = performance.now();
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [...FLAGS, LOADER, "--", ...paths],
    cwd: fileURLToPath(PROJECT_ROOT),
    env: { NO_COLOR: "1", VRAMKIT_TEST_SEED: seed },
    stdin: "null",
    stderr: "inherit",
    signal: AbortSignal.timeout(MAX_PART_SECONDS * 1000),
  }).output();
  const text = new TextDecoder().decode(stdout);
  const summary = [...text.matchAll(/^(?:ok|FAILED) \| (.*) \(\S+\)$/gm)].at(-1);
  const running = text.trimEnd().split("\n").at(-1);
  const words = summary?.[1] ?? `it ended without a summary at: ${running}`;
  for (const [, count, kind = ""] of words.matchAll(/(\d+) (passed|step|failed|ignored)/g)) {
    SUMS[kind as keyof typeof SUMS] += Number(count);
  }
  const seconds = Math.round((performance.now() - start) / 1000);
  console.log(`${code === 0 ? "    " : "bad "}${name}: ${words}, ${seconds} s`);
  if (code === 0) return;
  const [, errors = text, places = `${name}: ${words}`] =
    /^ ERRORS *$([^]*)^ FAILURES *$([^]*?)^FAILED \|/m.exec(text) ?? [];
  if (summary === undefined) SUMS.failed++;
  failures.errors.push(errors.trim());
  failures.places.push(places.trim());
}

const seed = Deno.env.get("VRAMKIT_TEST_SEED") ?? String(Date.now() >>> 0);

if (import.meta.main) {
  if (Deno.args.length > 0) {
    const command = new Deno.Command(Deno.execPath(), { args: [...FLAGS, ...Deno.args] });
    Deno.exit((await command.spawn().status).code);
  }
  console.log(`seed ${seed}; run it again with VRAMKIT_TEST_SEED=${seed}`);
  const start = performance.now();
  const failures: Failures = { errors: [], places: [] };
  const parts = partsOfSuite();
  const count = Math.min(MAX_PROCESSES, navigator.hardwareConcurrency + 1); // some only wait
  await Promise.all(Array.from({ length: count }, async () => {
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      await runPart(part, failures);
    }
  }));
  if (failures.errors.length > 0) {
    console.log(`\n ERRORS \n\n${failures.errors.join("\n\n")}`);
    console.log(`\n FAILURES \n\n${failures.places.join("\n")}\n`);
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const { passed, step, failed, ignored } = SUMS;
  console.log(
    `${failed === 0 ? "ok" : "FAILED"} | ${passed} passed (${step} steps) | ${failed} failed | ` +
      `${ignored} ignored (${seconds} s)`,
  );
  Deno.exit(failed === 0 ? 0 : 1);
}
