// Runs the GPU suite under compute-sanitizer's memcheck and says whether it is clean:
// `deno run -A tests/support/sanitizer/run.ts [result.json]`. Needs a GPU and the CUDA toolkit.

import { CudaDevice } from "../../../mod.ts";
import type { Provenance } from "../../../src/notebook/mod.ts";
import { PROJECT_ROOT, projectFiles } from "../project_files.ts";
import { TemporaryFolder } from "../temporary_folder.ts";
import {
  type MemcheckLog,
  readMemcheckLog,
  readTestCounts,
  type TestCounts,
} from "./memcheck_log.ts";

/** The tool on PATH, then where NVIDIA's packages put it. */
const TOOLS = ["compute-sanitizer", "/usr/local/cuda/bin/compute-sanitizer"];

/** A run that hangs is ended: the tool makes the suite about ten times slower. */
const LIMIT_SECONDS = 480;

/** The tests of memory and of copies. The others start no work on the GPU, or repeat this. */
const TESTS = [
  "tests/properties/",
  "tests/src/buffers/",
  "tests/src/copies/",
  "tests/src/driver/",
  "tests/src/graph/",
  "tests/src/interop/",
  "tests/src/lanes/",
  "tests/src/memory/",
  "tests/src/order/",
  "tests/src/transfer/",
];

/** The tests in processes of their own, into which the tool would not look. */
const LEFT_OUT = [
  "tests/src/buffers/kinds_collection_test.ts",
  "tests/src/interop/handle_owner_test.ts",
  "tests/src/memory/allocation_collection_test.ts",
];

/** The findings of a run. */
interface MemcheckRun extends MemcheckLog {
  readonly tool: string;
  /** The time of the run. */
  readonly seconds: number;
  /** The results of the tests; undefined when the run did not come to its end. */
  readonly tests: TestCounts | undefined;
  /** Whether every test passed and memcheck found nothing. */
  readonly isClean: boolean;
}

const tool = await findTool();
const result = { ...provenanceHere(), ...await runSuite(tool) };
printResult(result);
const [path] = Deno.args;
if (path !== undefined) await Deno.writeTextFile(path, JSON.stringify(result, null, 2) + "\n");
if (!result.isClean) Deno.exit(1);

/** Says which device it is; throws where there is none. */
function provenanceHere(): Provenance {
  using gpu = CudaDevice.open();
  return gpu.provenance();
}

/** Finds the tool, and what it says of its version. */
async function findTool(): Promise<{ program: string; version: string }> {
  for (const program of TOOLS) {
    try {
      const { stdout } = await new Deno.Command(program, { args: ["--version"] }).output();
      const text = new TextDecoder().decode(stdout);
      return { program, version: /Version\s+(\S+)/i.exec(text)?.[1] ?? "unknown" };
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  console.error(
    `Cannot run compute-sanitizer: tried ${TOOLS.join(", ")}; install the CUDA toolkit`,
  );
  Deno.exit(1);
}

/** Lists the files, because `--ignore` leaves out nothing where several folders are given. */
function testFiles(): string[] {
  const paths = projectFiles(["_test.ts"], "tests/").map(({ path }) => path);
  const missing = [...TESTS, ...LEFT_OUT].filter((start) => {
    return !paths.some((path) => path.startsWith(start));
  });
  if (missing.length > 0) throw new Error(`Cannot run ${missing.join(", ")}: no test is there`);
  return paths.filter((path) => {
    return TESTS.some((start) => path.startsWith(start)) && !LEFT_OUT.includes(path);
  });
}

async function runSuite(tool: { program: string; version: string }): Promise<MemcheckRun> {
  using folder = new TemporaryFolder();
  const logPath = folder.write("memcheck.log", "");
  const memcheck = ["--tool", "memcheck", "--target-processes", "application-only"];
  const suite = ["test", "-A", "--no-check", ...testFiles()];
  const start = performance.now();
  const child = new Deno.Command("timeout", {
    args: [
      "--kill-after=10",
      String(LIMIT_SECONDS),
      tool.program,
      ...[...memcheck, "--log-file", logPath, Deno.execPath(), ...suite],
    ],
    cwd: PROJECT_ROOT,
    env: {
      CUDA_VISIBLE_DEVICES: "0",
      NO_COLOR: "1",
      VRAMKIT_TEST_DRIVER: "cuda",
      VRAMKIT_TEST_SANITIZER: "1",
    },
    stdout: "piped",
  }).spawn();
  const tests = readTestCounts(await showOutput(child.stdout));
  await child.status;
  const seconds = (performance.now() - start) / 1000;
  const log = readMemcheckLog(await Deno.readTextFile(logPath));
  const isClean = log.isComplete && log.reports.length === 0 && tests?.failed === 0;
  return { tool: `compute-sanitizer ${tool.version} memcheck`, seconds, tests, isClean, ...log };
}

/** Passes on what the tests print, and returns it. */
async function showOutput(output: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of output) {
    Deno.stdout.writeSync(bytes);
    text += decoder.decode(bytes, { stream: true });
  }
  return text;
}

function printResult({ tool, tests, isClean, isComplete, ...found }: MemcheckRun): void {
  for (const { text, count } of found.refusedCalls) console.log(`refused ${count} times: ${text}`);
  for (const { text, count } of found.reports) console.log(`FOUND ${count} times: ${text}`);
  const counts = tests === undefined
    ? "the tests did not end"
    : `${tests.passed} passed, ${tests.failed} failed, ${tests.ignored} ignored`;
  const verdict = isClean ? "clean" : isComplete ? "NOT clean" : "NOT finished";
  const seconds = found.seconds.toFixed(0);
  console.log(`${tool} is ${verdict} after ${seconds} s: ${counts}`);
}
