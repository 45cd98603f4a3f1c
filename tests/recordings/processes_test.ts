// The recorder's processes: what they play, and that a fault or a stall of the driver costs one
// sequence and is told.

import { assert, assertEquals } from "@std/assert";
import { runDeno } from "../support/child_deno.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { ProcessPool } from "../support/recording/process_pool.ts";
import { readRecording } from "../support/recording/recording.ts";
import { emptyReplay, replaySequence } from "../support/recording/replay.ts";
import { shrink } from "../support/recording/shrink.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOfAll } from "../support/test_unless.ts";

const OPTIONS = { driver: "simulated", mostDevices: 1, timeoutSeconds: 20 } as const;

function sequence(id: string, ...lines: string[]) {
  return { sequence: { id, isFresh: false, lines } };
}

Deno.test("ProcessPool.playAll() plays sequences as they stand, fresh ones and random ones", async () => {
  await using pool = new ProcessPool(OPTIONS, 2);
  const facts = await pool.facts();
  assertEquals([facts.device, facts.devices, facts.driverVersion], ["Simulated", 1, 13000]);
  const [first, second, third] = await pool.playAll([
    sequence("a", "cuMemAlloc_v2 &a 64", "cuMemFree_v2 a", "cuMemFree_v2 ~a"),
    { sequence: { id: "b", isFresh: true, lines: ["cuDeviceGetCount &", "cuInit 0"] } },
    { seed: 1, number: 2 },
  ]);
  assertEquals(first?.recorded.outcomes, ["0 new", "0", "1"]);
  assertEquals(second?.recorded.outcomes, ["3", "0"]);
  assertEquals(third?.recorded.id, "random 1.2");
  assertEquals(third?.recorded.outcomes.length, third?.recorded.lines.length);
});

Deno.test("ProcessPool.playAll() leaves nothing of a sequence to the next in the same process", async () => {
  await using pool = new ProcessPool(OPTIONS, 1);
  const dirty = sequence(
    "dirty",
    "cuMemAllocAsync &b 4096 0",
    "cuMemPoolSetAttribute pool0 4 u64:4096",
    "cuMemPoolSetAttribute pool0 1 i32:0",
    "cuCtxPushCurrent_v2 ctx0",
    "cuCtxSetCurrent 0",
    "cuDevicePrimaryCtxRetain & 0",
    "cuStreamBeginCapture_v2 2 0",
  );
  const look = sequence(
    "look",
    "cuCtxGetCurrent &",
    "cuMemPoolGetAttribute pool0 4 &",
    "cuMemPoolGetAttribute pool0 1 &",
    "cuMemPoolGetAttribute pool0 5 &",
    "cuMemPoolGetAttribute pool0 7 &",
    "cuStreamSynchronize 2",
  );
  const [, second] = await pool.playAll([dirty, look]);
  assertEquals(second?.recorded.outcomes, ["0 ctx0", "0 0", "0 1", "0 0", "0 0", "0"]);
});

Deno.test("ProcessPool.playAll() tells the step that ended a process, and goes on with another", async () => {
  await using pool = new ProcessPool(OPTIONS, 1);
  const [first, second] = await pool.playAll([
    sequence("fatal", "cuInit 0", "fault", "cuInit 0"),
    sequence("next", "cuInit 0"),
  ]);
  assertEquals(first?.recorded.lines, ["cuInit 0", "fault"]);
  assertEquals(first?.recorded.outcomes, ["0", "crash"]);
  assert(first?.trouble?.startsWith("crash in step 1 of fatal (SIGSEGV)"), first?.trouble);
  assertEquals([second?.recorded.outcomes, second?.trouble], [["0"], undefined]);
});

Deno.test("ProcessPool.playAll() plays again alone what ended a process with a past", async () => {
  await using pool = new ProcessPool(OPTIONS, 1);
  const [, second] = await pool.playAll([
    sequence("past", "cuInit 0"),
    sequence("second", "cuInit 0", "fault 1", "cuInit 0"),
  ]);
  assertEquals(second?.recorded.outcomes, ["0", "0", "0"]);
  const { trouble = "" } = second ?? {};
  assert(trouble.startsWith("crash in step 1 of second (SIGSEGV)"), trouble);
  assert(trouble.endsWith("after past; not when it was played alone"), trouble);
});

Deno.test("ProcessPool.playAll() ends a process that does not return", async () => {
  await using pool = new ProcessPool({ ...OPTIONS, timeoutSeconds: 1 }, 1);
  const [first, second] = await pool.playAll([
    sequence("stuck", "stall", "cuInit 0"),
    sequence("next", "cuInit 0"),
  ]);
  assertEquals(first?.recorded.outcomes, ["hang"]);
  assert(first?.trouble?.startsWith("hang in step 0 of stuck"), first?.trouble);
  assertEquals(second?.recorded.outcomes, ["0"]);
});

Deno.test("shrink() keeps the steps that a difference needs", async () => {
  await using pool = new ProcessPool(OPTIONS, 1);
  const lines = [
    "cuStreamCreateWithPriority &s 1 0",
    "cuMemAlloc_v2 &a 64",
    "array h 64",
    "cuMemAllocManaged &m 65536 1",
    "cuMemsetD8Async a 1 64 s",
    "settle",
    "cuMemPrefetchAsync m 65536 0 s",
  ];
  // A machine without that ability stands in for another driver.
  const facts = { ...await pool.facts(), concurrentManagedAccess: false };
  const [result] = await pool.playAll([{ sequence: { id: "long", isFresh: false, lines } }]);
  const found = emptyReplay();
  if (result !== undefined) await replaySequence(result.recorded, facts, found);
  const [difference] = found.differences;
  assert(difference !== undefined);
  const { lines: shortest } = await shrink(difference, { pool, facts });
  assertEquals(shortest, lines.filter((_, index) => [0, 3, 6].includes(index)));
});

testOfAll("deno task record writes a recording and says how it compares", async () => {
  using folder = new TemporaryFolder();
  const out = `${folder.path}/recording.gz`;
  const report = `${folder.path}/report.txt`;
  const script = new URL("tests/support/recording/record.ts", PROJECT_ROOT).pathname;
  const options = ["--driver", "simulated", "--count", "5", "--seed", "3", "--children", "2"];
  const args = ["run", "-A", script, ...options, "--out", out, "--report", report];
  const { code, stdout, stderr } = await runDeno(args);
  assertEquals(code, 0, stdout + stderr);
  const { facts, sequences } = await readRecording(out);
  assertEquals([facts.seed, facts.device], [3, "Simulated"]);
  assertEquals(sequences.filter(({ id }) => id.startsWith("random 3.")).length, 5);
  assert(sequences.length > 200, `${sequences.length} sequences`);
  const words = Deno.readTextFileSync(report);
  assert(words.includes("0 differences of 0 kinds that are not wanted"), words);
  const again = await runDeno(["run", "-A", script, "--compare", out]);
  assertEquals(again.code, 0, again.stdout + again.stderr);
  assert(
    again.stdout.includes(`${sequences.length} sequences of Simulated, 1 devices`),
    again.stdout,
  );
});

Deno.test("deno task record explains itself when an option is wrong", async () => {
  const script = new URL("tests/support/recording/record.ts", PROJECT_ROOT).pathname;
  const { code, stderr } = await runDeno(["run", "-A", script, "--count", "many"]);
  assertEquals(code, 2);
  assert(stderr.includes("Cannot take many for --count"), stderr);
  assert(stderr.includes("Usage: deno task record"), stderr);
});
