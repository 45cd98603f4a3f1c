// How long does a copy take whose elements lie apart: transposed, interleaved, every other one?
// `deno task bench strided [result.json]`; PyTorch and CuPy need a python3 that has them.

import { CudaDevice } from "../mod.ts";
import type { StridedLayout } from "../src/entries/memory.ts";
import { readWords } from "./arguments.ts";
import { secondsInTurn } from "./in_turn.ts";
import { outputOf } from "./peers/process.ts";
import { type BenchRow, median, type Reference, report } from "./result_file.ts";

/** A layout of elements of one type, strides and offset in elements. */
interface Case extends StridedLayout {
  readonly name: string;
  readonly dtype: "float32" | "uint8";
}

const CASES: readonly Case[] = [
  ...[32, 256, 1024, 4096].map((n) => matrix("float32", n)),
  matrix("uint8", 4096),
  {
    name: "HWC to CHW, 1080p, uint8",
    dtype: "uint8",
    shape: [3, 1080, 1920],
    strides: [1, 1920 * 3, 3],
    offset: 0,
  },
  {
    name: "CHW to HWC, 1080p, uint8",
    dtype: "uint8",
    shape: [1080, 1920, 3],
    strides: [1920, 1, 1080 * 1920],
    offset: 0,
  },
  {
    name: "every other column of 2048 x 2048, float32",
    dtype: "float32",
    shape: [2048, 1024],
    strides: [2048, 2],
    offset: 0,
  },
  {
    name: "65,536 in the reverse order, float32",
    dtype: "float32",
    shape: [65_536],
    strides: [-1],
    offset: 65_535,
  },
  {
    name: "a window of 1024 x 1024 in 4096 x 4096, float32",
    dtype: "float32",
    shape: [1024, 1024],
    strides: [4096, 1],
    offset: 1024 * 4097,
  },
];

/** What one program found: seconds of a copy by case, until it is done. */
type Seconds = Readonly<Record<string, number>>;

const [resultPath] = readWords({ most: 1 });
using gpu = CudaDevice.open(0, { driver: "auto" });
/** Copies of each case in a turn, and the turns that each program has. */
const [copyCount, roundCount] = gpu.isSimulated ? [1, 1] : [101, 3];
const rounds: Readonly<Record<string, Seconds>>[] = [];
for (let round = 0; round < roundCount; round++) {
  rounds.push({ kit: await measureKit(), ...await measurePython() });
}
await report(gpu, CASES.map(rowOf), resultPath);

function matrix(dtype: Case["dtype"], n: number): Case {
  return {
    name: `transpose ${n} x ${n}, ${dtype}`,
    dtype,
    shape: [n, n],
    strides: [1, n],
    offset: 0,
  };
}

async function measureKit(): Promise<Seconds> {
  const found: Record<string, number> = {};
  for (const { name, dtype, ...layout } of CASES) {
    const order = elementsOf(layout);
    using source = gpu.iota(dtype, order.reduce((most, at) => Math.max(most, at)) + 1);
    using target = gpu.zeros(dtype, layout.shape);
    const view = source.strided(layout);
    const { copy } = await secondsInTurn({
      copy: () => {
        target.copyFrom(view);
        gpu.synchronizeSync();
      },
    }, { batchCount: copyCount, callCount: 1 });
    const values = await target.download();
    const wrong = values.findIndex((value, at) => value !== expected(dtype, order[at] ?? NaN));
    if (wrong >= 0) throw new Error(`Cannot trust '${name}': element ${wrong} is ${values[wrong]}`);
    found[name] = copy;
  }
  return found;
}

function expected(dtype: Case["dtype"], index: number): number {
  return dtype === "uint8" ? index % 256 : index;
}

/** The elements that a layout shows, in their order. */
function elementsOf({ shape, strides, offset }: StridedLayout): number[] {
  let order = [offset];
  for (const [axis, size] of shape.entries()) {
    const steps = Array.from({ length: size }, (_, step) => step * (strides[axis] ?? 0));
    order = order.flatMap((start) => steps.map((step) => start + step));
  }
  return order;
}

/** The libraries that python3 has; the others are named. */
async function measurePython(): Promise<Record<string, Seconds>> {
  const path = decodeURIComponent(
    new URL("peers/python/strided_copies.py", import.meta.url).pathname,
  );
  try {
    const found: Record<string, Seconds | string> = JSON.parse(
      await outputOf("python3", [path, JSON.stringify({ copyCount, cases: CASES })]),
    );
    const isMeasured = (entry: [string, Seconds | string]): entry is [string, Seconds] => {
      if (typeof entry[1] === "string") console.error(`${entry[0]}: ${entry[1]}`);
      return typeof entry[1] !== "string";
    };
    return Object.fromEntries(Object.entries(found).filter(isMeasured));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return {};
  }
}

/** One case, beside the faster of the libraries. */
function rowOf({ name }: Case): BenchRow {
  const of = (program: string) => rounds.flatMap((round) => round[program]?.[name] ?? []);
  const beside = ["PyTorch", "CuPy"].flatMap((peer): Reference[] => {
    const samples = of(peer);
    return samples.length === 0 ? [] : [{ name: peer, value: median(samples), samples }];
  });
  const [reference] = beside.sort((a, b) => a.value - b.value);
  const samples = of("kit");
  const row = { name, value: median(samples), unit: "s", samples } as const;
  if (reference === undefined) return row;
  const holds = row.value <= reference.value;
  return { ...row, reference, promise: { text: "not behind PyTorch and CuPy", holds } };
}
