// What does the largest header of a safetensors file cost, beside its JSON.parse, and how long do
// others wait for their turn meanwhile? `deno task bench header [result.json]`.

import { CudaDevice } from "../mod.ts";
import { parseHeader } from "../src/interop/safetensors/header.ts";
import { readWords } from "./arguments.ts";
import { type BenchRow, median, report } from "./result_file.ts";

const TENSOR_COUNT = 800_000;
const TENSOR_BYTES = 1024;
const SAMPLE_COUNT = 5;

const [resultPath] = readWords({ most: 1 });
const text = headerOf(TENSOR_COUNT);
const bytes = new TextEncoder().encode(text);
const source = { path: "bench", dataByteLength: TENSOR_COUNT * TENSOR_BYTES };
const [ours, json, pauses]: [number[], number[], number[]] = [[], [], []];
for (let sample = 0; sample < SAMPLE_COUNT; sample++) {
  using watch = watchTurns();
  ours.push(await secondsOf(() => parseHeader(bytes, source)));
  pauses.push(watch.longestSeconds());
  json.push(await secondsOf(() => JSON.parse(text)));
}
const reference = { name: "JSON.parse", value: median(json), samples: json };
const ratio = median(ours) / median(json);
const rows: BenchRow[] = [
  {
    name: `a header of ${bytes.byteLength} bytes, ${TENSOR_COUNT} tensors`,
    value: median(ours),
    unit: "s",
    reference,
    samples: ours,
    promise: { text: "at most twice JSON.parse", holds: ratio <= 2 },
  },
  { name: "the longest wait for a turn", value: median(pauses), unit: "s", samples: pauses },
];
using gpu = CudaDevice.open(0, { driver: "auto" });
await report(gpu, rows, resultPath);

function headerOf(count: number): string {
  const entries = Array.from({ length: count }, (_, i) => {
    const start = i * TENSOR_BYTES;
    return `"model.layers.${i}.mlp.experts.down_proj.weight":{"dtype":"BF16","shape":[16,32],` +
      `"data_offsets":[${start},${start + TENSOR_BYTES}]}`;
  });
  return `{${entries.join(",")}}`;
}

async function secondsOf(run: () => unknown): Promise<number> {
  const start = performance.now();
  await run();
  return (performance.now() - start) / 1000;
}

/** Notes the longest time between two turns of the event loop. */
function watchTurns(): Disposable & { longestSeconds(): number } {
  let last = performance.now();
  let longest = 0;
  const note = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(note, 0);
  return {
    longestSeconds: () => {
      note();
      return longest / 1000;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
