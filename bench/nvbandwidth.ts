// Does gpu.bandwidth() measure what nvbandwidth measures? Its cases for one GPU beside its own output of
// the same machine: `deno task bench nvbandwidth nvbandwidth.txt [result.json]`.

import { CudaDevice } from "../mod.ts";
import { COPY_CASES } from "../src/measure/copy_cases.ts";
import { LATENCY_CASES } from "../src/measure/latency_cases.ts";
import { parseNvbandwidth } from "../src/measure/nvbandwidth.ts";
import { readWords } from "./arguments.ts";
import { type BenchRow, report } from "./result_file.ts";

/** Part by which a figure may differ. */
const TOLERANCE = 0.02;

const [theirPath, outPath] = readWords({ most: 2 });
if (theirPath === undefined) throw new TypeError("Cannot compare: name what nvbandwidth printed");
const theirs = parseNvbandwidth(await Deno.readTextFile(theirPath));
using gpu = CudaDevice.open(0, { driver: "auto" });
const { cases, latencies } = await gpu.bandwidth({
  cases: [...COPY_CASES, ...LATENCY_CASES].filter((name) => theirs.has(name)),
  ...gpu.isSimulated ? { caseSize: "1 MiB" } : {},
});
const wrong = [...cases, ...latencies].find(({ verified }) => !verified);
if (wrong !== undefined) throw new Error(`Cannot report ${wrong.name}: its bytes are wrong`);
await report(gpu, [
  ...cases.map(({ name, gigabytesPerSecond }) => rowOf(name, gigabytesPerSecond, "GB/s")),
  ...latencies.map(({ name, secondsPerAccess }) => rowOf(name, secondsPerAccess, "s")),
], outPath);

function rowOf(name: string, value: number, unit: "GB/s" | "s"): BenchRow {
  const their = (theirs.get(name) ?? NaN) * (unit === "s" ? 1e-9 : 1); // it prints nanoseconds
  return {
    name,
    value,
    unit,
    reference: { name: "nvbandwidth", value: their },
    promise: {
      text: "within 2 % of nvbandwidth",
      holds: Math.abs(value / their - 1) <= TOLERANCE,
    },
  };
}
