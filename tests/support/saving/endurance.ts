// The long run of what tests/files/ does briefly: 200 saves killed at random moments by three signals,
// two programs that save one file 80 times each, and three that save a small one ten times as often:
// `deno task test:long [KILLS] [ROUNDS]`.

import { testRandom } from "../random.ts";
import { killSaves } from "./killed_saves.ts";
import { raceSaves } from "./raced_saves.ts";

const [kills = "200", rounds = "80"] = Deno.args;
const killed = await killSaves(Number(kills), testRandom());
console.log(
  `${killed.killCount} saves killed: ${killed.problems.length} models ` +
    `broken, ${killed.leftCount} temporary files left for the next save, ${killed.strays.length} ` +
    `left for ever`,
);
for (const problem of [...killed.problems, ...killed.strays]) console.log(`  ${problem}`);

let isGood = killed.problems.length + killed.strays.length === 0;
const races = [
  { writerCount: 2, rounds: Number(rounds), byteLength: 2 ** 20 },
  { writerCount: 3, rounds: 10 * Number(rounds), byteLength: 2 ** 12 },
];
for (const race of races) {
  const raced = await raceSaves(race);
  console.log(
    `${race.writerCount} programs, ${race.rounds} saves of ${race.byteLength} bytes each: ` +
      `${raced.wholeCount} reads by another, of models of ${raced.writers.size} writers, ` +
      `${raced.problems.length} broken; left: ${raced.names.join(", ")}`,
  );
  for (const problem of raced.problems) console.log(`  ${problem}`);
  isGood &&= raced.problems.length === 0 && raced.codes.every((code) => code === 0);
}
console.log(isGood ? "1 passed, 0 failed" : "0 passed, 1 failed");
if (!isGood) Deno.exit(1);
