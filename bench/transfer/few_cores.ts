// On few cores, is a transfer what the driver does? The calls by size beside the driver's own call into the
// same kind of array, in one run: `taskset -c 0-3 deno task bench few [ROUNDS]`.

import { formatBytes } from "../../src/words/format.ts";
import { readWords } from "../arguments.ts";
import { callsInTurn, printSpeeds } from "../in_processes.ts";
import { median } from "../result_file.ts";
import { SIZES } from "./calls_by_size.ts";

/** The driver's call that each of ours is compared with. */
const BESIDE: Readonly<Record<string, string>> = {
  "upload": "driver up",
  "uploadSync": "driver up",
  "download, used array": "driver down, used array",
  "downloadSync, used array": "driver down, used array",
  "download, new array": "driver down, new array",
  "downloadSync, new array": "driver down, new array",
  "download()": "driver down, new array",
  "downloadSync()": "driver down, new array",
};

const [rounds = "5"] = readWords({ most: 1 });
const here = new URL("../../mod.ts", import.meta.url).pathname;
const { now = [] } = await callsInTurn({ now: here }, {
  roundCount: Number(rounds),
  words: [SIZES.filter((size) => size <= 256 * 2 ** 20).join(","), "--driver"],
});
const sizes = Object.keys(now[0]?.times.upload ?? {}).map(Number);
console.log(
  `${now[0]?.device}, ${navigator.hardwareConcurrency} cores: ratio to the driver's call`,
);
console.log(["".padEnd(26), ...sizes.map((size) => formatBytes(size).padStart(9))].join(""));
for (const [name, driver] of Object.entries(BESIDE)) {
  const cells = sizes.map((size) => {
    const ratios = now.map(({ times }) => {
      return (times[driver]?.[size] ?? NaN) / (times[name]?.[size] ?? NaN);
    });
    return median(ratios).toFixed(2).padStart(9);
  });
  console.log(`${name.padEnd(26)}${cells.join("")}`);
}
printSpeeds(now);
