// transferBench() in real runs of `deno bench`: its names, its set-up and its report.

import { assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { CudaDevice } from "../../../mod.ts";
import { parseBenchRun } from "../../../src/bench/bench_results.ts";
import { transferBench } from "../../../src/bench/registration.ts";
import { runDeno } from "../../support/child_deno.ts";
import { PROJECT_ROOT } from "../../support/project_files.ts";
import { shareOf } from "../../support/random.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { inTurn } from "../../support/test_unless.ts";

const REPORT = new URL("src/bench/report.ts", PROJECT_ROOT).pathname;

/** Two benches of 1,000 bytes on the simulated device. */
const RUN = JSON.stringify({
  runtime: "Deno",
  cpu: "x",
  benches: [["pinned upload", 10], ["upload", 20]].map(([name, nanoseconds]) => ({
    name: `${name} [1000 bytes up, Simulated]`,
    results: [{ ok: { avg: nanoseconds, min: nanoseconds, p75: nanoseconds } }],
  })),
});

const IMPORTS = `
import { CudaDevice } from "${new URL("mod.ts", PROJECT_ROOT)}";
import { transferBench } from "${new URL("src/bench/mod.ts", PROJECT_ROOT)}";
const open = () => CudaDevice.open(0, { driver: "simulated" });
`;

Deno.test(
  inTurn(
    "transferBench() prepares once, disposes when the next begins, and calls as often as it says",
  ),
  async () => {
    using folder = new TemporaryFolder();
    const path = folder.write(
      "x_bench.ts",
      `${IMPORTS}
const seen = [];
let calls = 0;
transferBench({
  open, name: "first", bytes: 4096, callCount: 3,
  prepare: (gpu) => { seen.push("prepare " + gpu.name); return { [Symbol.dispose]: () => seen.push("dispose") }; },
}, () => { calls++; });
transferBench({
  open, name: "second", bytes: 1024,
  prepare: () => [
    { [Symbol.dispose]: () => seen.push("now"), [Symbol.asyncDispose]: async () => seen.push("later") },
    { [Symbol.dispose]: () => seen.push("one of a list") },
    5,
  ],
}, async (_gpu, _b, [, , five]) => {
  if (seen.at(-1) !== "second") seen.push("second");
  calls += 3 * five;
  await null;
});
transferBench({ open, name: "third", bytes: 8 }, () => {});
Deno.bench("other", () => {});
globalThis.addEventListener("unload", () => console.error(JSON.stringify({ seen, rest: calls % 3 })));
`,
    );
    const { stdout, stderr } = await runDeno(["bench", "-A", "--no-check", "--json", path]);
    const line = stderr.split("\n").find((text) => text.startsWith("{")) ?? "";
    assertEquals(JSON.parse(line), {
      seen: ["prepare Simulated", "dispose", "second", "later", "one of a list"],
      rest: 0,
    });
    const { speeds, otherCount } = parseBenchRun(stdout);
    assertEquals(speeds.map(({ name, byteLength, callCount }) => [name, byteLength, callCount]), [
      ["first", 4096, 3],
      ["second", 1024, 1],
      ["third", 8, 1],
    ]);
    assertEquals(otherCount, 1);
  },
);

Deno.test("transferBench() names the option that is missing", () => {
  const call = (options: object, body?: unknown) => () =>
    transferBench(options as never, body as never);
  const open = () => CudaDevice.open(0, { driver: "simulated" });
  const body = () => {};
  assertThrows(call({}, body), TypeError, 'option "open" is undefined, expected a function');
  assertThrows(call({ open }, body), TypeError, 'option "name" is undefined, expected a string');
  assertThrows(call({ open, name: "x" }, body), TypeError, 'option "bytes" is undefined');
  assertThrows(
    call({ open, name: "x", bytes: 4 }),
    TypeError,
    "with undefined: expected a function",
  );
});

Deno.test("report.ts prints speeds, writes a page, and says that a simulated device has none", async () => {
  using folder = new TemporaryFolder();
  const run = folder.write("run.json", RUN);
  const page = `${folder.path}/page.html`;
  const args = [run, "--html", page, "--compare", run];
  const { code, stdout } = await runDeno(["run", "-A", "--no-check", REPORT, ...args]);
  assertEquals(code, 0);
  assertMatch(stdout, /^upload +50\.0 +50 %$/m);
  assertStringIncludes(stdout, "The device is simulated");
  assertStringIncludes(stdout, "0 of 2 benches got slower");
  assertStringIncludes(await Deno.readTextFile(page), "Plotly");
});

Deno.test("report.ts refuses a text that deno bench did not print, and unknown options", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("run.json", "{}");
  const run = folder.write("good.json", RUN);
  const missing = `${folder.path}/missing.json`;
  const garbage = folder.write("garbage.json", "\u001b[31m");
  const wrong: [args: string[], message: string][] = [
    [[path], `Cannot read ${path}: it is no output of deno bench --json: benches are missing`],
    [[garbage], `Cannot read ${garbage}: it is no output of deno bench --json: Unexpected`],
    [[], "Cannot read the standard input: it is empty, expected the output of deno bench --json"],
    [["--nonsense"], "Cannot use --nonsense: there is no such option"],
    [[path, "--htm", "x"], "Cannot use --htm: there is no such option (did you mean --html?)"],
    [[path, "--html"], "Cannot use --html: it needs a value"],
    [[path, "other.json"], "Cannot read other.json too: expected one file"],
    [[missing], `Cannot read ${missing}: it does not exist`],
    [[folder.path], `Cannot read ${folder.path}: it is a folder`],
    [["/dev/zero"], "Cannot read /dev/zero: it is a device, expected a file"],
    [[run, "--compare", missing], `Cannot read ${missing}: it does not exist`],
    [[run, "--compare", "/dev/zero"], "Cannot read /dev/zero: it is a device, expected a file"],
    [[run, "--compare", path], `Cannot read ${path}: it is no output of deno bench --json`],
    [[run, "--compare", ""], 'Cannot use --compare "": expected a file'],
    [[run, "--html", ""], 'Cannot use --html "": expected a file'],
  ];
  for (const [args, message] of shareOf(wrong, { least: 3 })) {
    const { code, stdout, stderr } = await runDeno(["run", "-A", "--no-check", REPORT, ...args]);
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, message);
    assertStringIncludes(stderr, "Usage: deno bench");
    assertEquals(stderr.includes("\u001b"), false);
  }
});

Deno.test("report.ts says that two runs have no bench in common", async () => {
  using folder = new TemporaryFolder();
  const run = folder.write("run.json", RUN);
  const other = folder.write("other.json", RUN.replaceAll("Simulated", "NVIDIA H200"));
  const args = [run, "--compare", other];
  const { code, stdout } = await runDeno(["run", "-A", "--no-check", REPORT, ...args]);
  assertEquals(code, 0);
  assertStringIncludes(stdout, `No bench of ${other} is in this run, on the same device`);
});

Deno.test(
  inTurn(
    "report.ts says which permission it lacks, and has no column for a ceiling that there is not",
  ),
  async () => {
    using folder = new TemporaryFolder();
    const run = folder.write("run.json", RUN.replaceAll("pinned", "plain"));
    const flags = ["run", "--no-check", "--no-prompt"];
    const unread = await runDeno([...flags, REPORT, run]);
    assertEquals(unread.code, 2);
    assertStringIncludes(unread.stderr, `Cannot read ${run}: Requires read access`);
    const args = [REPORT, run, "--html", `${folder.path}/page.html`];
    const unwritten = await runDeno([...flags, "--allow-read", ...args]);
    assertEquals(unwritten.code, 2);
    assertStringIncludes(unwritten.stderr, "page.html: Requires write access");
    assertEquals(unwritten.stdout.includes("of page-locked"), false);
    const nowhere = await runDeno([
      "run",
      "-A",
      "--no-check",
      REPORT,
      run,
      "--html",
      "none/page.html",
    ]);
    assertStringIncludes(nowhere.stderr, "Cannot write none/page.html: its folder does not exist");
    const env = { DENO_DIR: folder.pathOf("empty") };
    const offline = await runDeno(["run", "-A", "--no-check", "--cached-only", ...args], { env });
    assertEquals(offline.code, 2);
    assertStringIncludes(offline.stderr, "page.html: Cannot load plotly.js from npm: ");
  },
);
