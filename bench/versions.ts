// Is a change slower than what was there before? Times the calls of another version of this kit and of this
// one, in processes that take turns: `deno task bench versions ../before/mod.ts [result.json]`. The ratio of a
// call is the median of pairs, above 1 where this version is faster. With fewer cores: `taskset -c 0-7` before it.

import { CudaDevice } from "../mod.ts";
import { readWords } from "./arguments.ts";
import { callsInTurn, printRatios, printSpeeds, rowsOf } from "./in_processes.ts";
import { report } from "./result_file.ts";

const ROUND_COUNT = Number(Deno.env.get("ROUNDS") ?? 7);

const [otherPath, resultPath] = readWords({ most: 2 });
if (otherPath === undefined) throw new TypeError("Cannot compare: expected the other mod.ts");
const here = new URL("../mod.ts", import.meta.url).pathname;
const { before = [], now = [] } = await callsInTurn(
  { before: otherPath, now: here },
  { roundCount: ROUND_COUNT },
);
const [one] = now;
console.log(`${one?.device}, ${navigator.hardwareConcurrency} cores, ${ROUND_COUNT} rounds`);
printRatios(now, before);
printSpeeds(now);
if (resultPath !== undefined) {
  using gpu = CudaDevice.open(0, { driver: "auto" });
  await report(gpu, rowsOf(now, before), resultPath);
}
