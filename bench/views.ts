// What does a view cost the host? Made and disposed, with no driver call in it; the target is 300 ns.
// `deno task bench views [result.json]`.

import { CudaDevice } from "../mod.ts";
import { readWords } from "./arguments.ts";
import { secondsInTurn } from "./in_turn.ts";
import { type BenchRow, report } from "./result_file.ts";

const BATCH_COUNT = 101;
const CALL_COUNT = 2000;
const TARGET_SECONDS = 300e-9;

const [resultPath] = readWords({ most: 1 });
using gpu = CudaDevice.open(0, { driver: "auto" });
using matrix = gpu.alloc("float32", [1024, 1024]);

const viewSeconds = await secondsInTurn({
  "a row: view(1)": () => matrix.view(1).dispose(),
  "a range: subarray(10, 20)": () => matrix.subarray(10, 20).dispose(),
  "another type: as(int32)": () => matrix.as("int32").dispose(),
  "another shape: reshape([512, 2048])": () => matrix.reshape([512, 2048]).dispose(),
  "other axes: transpose()": () => matrix.transpose().dispose(),
}, { batchCount: BATCH_COUNT, callCount: CALL_COUNT });

const rows = Object.entries(viewSeconds).map(([name, value]): BenchRow => {
  const promise = { text: "under 300 ns", holds: value < TARGET_SECONDS };
  return { name: `make and dispose ${name}`, value, unit: "s", promise };
});
await report(gpu, rows, resultPath);
