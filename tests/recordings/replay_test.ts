// The simulated driver makes of every recorded step what the real driver made of it, except for the
// differences that are wanted and listed.

import { assert, assertEquals, assertGreater, assertGreaterOrEqual } from "@std/assert";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { shareOf } from "../support/random.ts";
import { generate } from "../support/recording/generate.ts";
import {
  formatRecording,
  parseRecording,
  readRecording,
  type RecordedSequence,
  type Recording,
  type RecordingFacts,
  writeRecording,
} from "../support/recording/recording.ts";
import { emptyReplay, type Replay, replaySequence } from "../support/recording/replay.ts";
import { simulate } from "../support/recording/simulation.ts";
import { describeReplay, groupDifferences } from "../support/recording/summary.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { inTurn, testUnless } from "../support/test_unless.ts";

const FOLDER = new URL("tests/recordings/", PROJECT_ROOT);

const FACTS: RecordingFacts = {
  device: "Simulated",
  devices: 1,
  driverVersion: 13000,
  driverRelease: "",
  poolsSupported: true,
  concurrentManagedAccess: true,
  peerAccess: false,
  date: "2026-01-01",
  seed: 7,
};

const files = [...Deno.readDirSync(FOLDER)]
  .map(({ name }) => name)
  .filter((name) => name.endsWith(".gz"))
  .sort();

for (const file of files) {
  const recording = readRecording(new URL(file, FOLDER));

  Deno.test(inTurn(`The simulated driver agrees with the recording ${file}`), async () => {
    const { facts, sequences } = await recording;
    const found = emptyReplay();
    const isRandom = ({ id }: RecordedSequence) => id.startsWith("random ");
    const played = [
      ...sequences.filter((sequence) => !isRandom(sequence)),
      ...shareOf(sequences.filter(isRandom)),
    ];
    assertGreater(sequences.length, sequences.filter(isRandom).length + 100); // the scripts
    for (const sequence of played) await replaySequence(sequence, facts, found);
    assertEquals(found.differences.length, 0, describeReplay(found));
  });

  Deno.test(`The recording ${file} is of a real driver, and large`, async () => {
    const { facts, sequences } = await recording;
    assert(facts.device !== "" && facts.device !== "Simulated", "it is of the simulated driver");
    assert(/^\d{4}-\d{2}-\d{2}$/.test(facts.date), "it has no date");
    assertGreaterOrEqual(sequences.length, 2000);
  });
}

const noneYet = files.length === 0 ? "none was made yet, see deno task record" : undefined;

testUnless("recordings of real drivers are there", noneYet, () => {
  assertGreaterOrEqual(files.length, 1);
});

/** Sequences of the simulated driver. */
const RECORDED_COUNT = 60;

let recorded: Promise<Recording> | undefined;

/** Some of the sequences that are recorded of the simulated driver itself, once for all tests. */
async function recordSimulated(count: number): Promise<Recording> {
  const { sequences, facts } = await (recorded ??= record());
  return { facts, sequences: sequences.slice(0, count) };
}

async function record(): Promise<Recording> {
  const sequences = [];
  for (let number = 0; number < RECORDED_COUNT; number++) {
    const sequence = await generate(FACTS, { seed: FACTS.seed, number });
    const player = simulate(FACTS, sequence);
    const outcomes: string[] = [];
    for (const line of sequence.lines) outcomes.push((await player.play(line)).outcome);
    sequences.push({ ...sequence, outcomes });
  }
  return { facts: FACTS, sequences };
}

async function replay({ facts, sequences }: Recording): Promise<Replay> {
  const found = emptyReplay();
  for (const sequence of sequences) await replaySequence(sequence, facts, found);
  return found;
}

/** Changes what came of every step that a test picks. */
function tamper(
  recording: Recording,
  change: (outcome: string, line: string) => string,
): Recording {
  const sequences = recording.sequences.map((sequence) => ({
    ...sequence,
    outcomes: sequence.outcomes.map((outcome, i) => change(outcome, sequence.lines[i] ?? "")),
  }));
  return { ...recording, sequences };
}

Deno.test(
  inTurn("replaySequence() finds no difference to what the simulated driver does itself"),
  async () => {
    const recording = await recordSimulated(RECORDED_COUNT);
    const found = await replay(recording);
    assertEquals(found.differences, []);
    const stepCount = recording.sequences.reduce((sum, { lines }) => sum + lines.length, 0);
    assertGreaterOrEqual(found.stepCount, stepCount * 0.99);
  },
);

Deno.test("replaySequence() finds another status, and leaves out what comes behind", async () => {
  const recording = await recordSimulated(RECORDED_COUNT);
  const tampered = tamper(
    recording,
    (outcome, line) => line.startsWith("cuMemAlloc_v2") && outcome === "0 new" ? "2" : outcome,
  );
  const found = await replay(tampered);
  const affected = tampered.sequences.filter(({ outcomes }, index) =>
    outcomes.some((outcome, i) => outcome !== recording.sequences[index]?.outcomes[i])
  );
  assertEquals(found.differences.length, affected.length);
  const [group, ...others] = groupDifferences(found.differences);
  assertEquals([group?.call, group?.real, group?.simulated], ["cuMemAlloc_v2", "2", "0"]);
  assertEquals(others, []);
});

Deno.test("replaySequence() finds other refusals and other bytes, and goes on behind them", async () => {
  const recording = await recordSimulated(RECORDED_COUNT);
  const tampered = tamper(recording, (outcome, line) => {
    if (line.startsWith("look")) return outcome.replace(/^0 [0-9a-f]{2}/, "0 zz");
    return outcome === "1" ? "801" : outcome;
  });
  const found = await replay(tampered);
  const changed = tampered.sequences.flatMap(({ outcomes }, index) =>
    outcomes.filter((outcome, i) => outcome !== recording.sequences[index]?.outcomes[i])
  );
  // A refusal by a rule that only the simulated driver has may differ.
  const wantedCount = found.wanted.values().reduce((sum, count) => sum + count, 0);
  assertEquals(found.differences.length + wantedCount, changed.length);
  assertGreaterOrEqual(changed.length, 50);
});

Deno.test("replaySequence() leaves out what was not made on the real driver", async () => {
  const recording = await recordSimulated(20);
  const found = await replay(tamper(recording, () => "skip"));
  assertEquals([found.stepCount, found.differences.length], [0, 0]);
});

Deno.test("describeReplay() shows the shortest sequence of each kind of difference", () => {
  const step = { isFresh: false, call: "cuInit", real: "0", simulated: "1" };
  const found = emptyReplay();
  found.differences.push(
    { ...step, id: "long", lines: ["settle", "cuInit 0"] },
    { ...step, id: "short", lines: ["cuInit 0"] },
    { ...step, id: "other", lines: ["cuInit 0"], real: "0 set", simulated: "0 unset" },
  );
  found.wanted.set("race", 3);
  const words = describeReplay(found);
  assert(words.includes("3 differences of 2 kinds that are not wanted"), words);
  assert(words.includes("wanted: 3 by race (throws)"), words);
  assert(
    words.includes("== cuInit: 0 on the real driver, 1 simulated; 2 times\n   in short"),
    words,
  );
  assert(!words.includes("in long"), words);
});

Deno.test("writeRecording() keeps all that a recording holds", async () => {
  const recording = await recordSimulated(20);
  const fresh = { id: "alone", isFresh: true, lines: ["cuInit 0 = 0", "look h+1 2"] };
  const outcomes = ["0", "0 07*1,08*1"];
  const whole = { ...recording, sequences: [...recording.sequences, { ...fresh, outcomes }] };
  assertEquals(parseRecording(formatRecording(whole)), whole);
  using folder = new TemporaryFolder();
  const path = `${folder.path}/some.gz`;
  await writeRecording(path, whole);
  assertEquals(await readRecording(path), whole);
});
