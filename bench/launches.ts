// What does a launch of a kernel with eight parameters cost the host, and compiling from the cache?
// `deno task bench launches [result.json]`; C++ needs nvcc, CuPy and cuda.core a python3 that has them.

import { CudaDevice } from "../mod.ts";
import { simulateDriver } from "../src/entries/simulated.ts";
import { cacheFolder } from "../src/kernels/compile_cache.ts";
import { readWords } from "./arguments.ts";
import { secondsInTurn } from "./in_turn.ts";
import { DriverProgram } from "./peers/driver_program.ts";
import { outputOf } from "./peers/process.ts";
import { findResult } from "./peers/report.ts";
import { type BenchRow, median, report } from "./result_file.ts";

// As in the other programs: bench/peers/driver/launches.hpp, bench/peers/python/launches.py.
const BATCH_COUNT = 101;
const BATCH_LAUNCHES = 200;
const BYTE_LENGTH = 4096;
const PTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry eight(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u32 e,
  .param .u32 f, .param .f32 g, .param .f64 h) { ret; }
`;

const SOURCE = `extern "C" __global__ void eight(float *a, float *b, float *c, float *d, unsigned e,
  unsigned f, float g, double h) {}`;

/** Turns that each program has. */
const ROUND_COUNT = 9;

const [resultPath] = readWords({ most: 1 });
using gpu = openDevice();
const folder = await Deno.makeTempDir({ prefix: "vramkit_launches_" });
try {
  const program = await DriverProgram.buildIfPossible(folder);
  const samples: Record<string, number[]> = { kit: [], "C++": [], CuPy: [], "cuda.core": [] };
  for (let round = 0; round < ROUND_COUNT; round++) {
    const document = await program?.run("launches");
    const cpp = document && findResult(document, { name: "launchKernel" });
    if (cpp !== undefined) samples["C++"]?.push(cpp.value);
    for (const [name, found] of Object.entries(await measurePython())) {
      if (typeof found === "number") samples[name]?.push(found);
      else console.error(`${name}: ${found}`);
    }
    samples["kit"]?.push(await measureKit());
  }
  await report(gpu, [...rowsOf(samples), ...await compileRows()], resultPath);
} finally {
  await Deno.remove(folder, { recursive: true });
}

/** Where there is no GPU the kernel is a function that does nothing, so that the bench can be tried. */
function openDevice(): CudaDevice {
  try {
    return CudaDevice.open(0);
  } catch {
    const eight = { parameterBytes: [8, 8, 8, 8, 4, 4, 4, 8], run: () => {} };
    return CudaDevice.open(0, { driver: simulateDriver({ kernels: { eight } }) });
  }
}

async function measureKit(): Promise<number> {
  using module = await gpu.loadModule(PTX);
  const kernel = module.kernel("eight");
  using stream = gpu.createStream();
  using x = gpu.zeros("float32", BYTE_LENGTH / 4, { stream });
  const { launch } = await secondsInTurn({
    launch: () =>
      kernel.launch({ grid: 1, block: 32, stream, args: [x, x, x, x, 1, 1, 0.5, 0.25] }),
  }, {
    batchCount: BATCH_COUNT,
    callCount: BATCH_LAUNCHES,
    settle: () => stream.synchronizeSync(),
  });
  return launch;
}

async function measurePython(): Promise<Record<string, number | string>> {
  const path = decodeURIComponent(new URL("peers/python/launches.py", import.meta.url).pathname);
  try {
    return JSON.parse(await outputOf("python3", [path]));
  } catch (error) {
    return { python3: error instanceof Error ? error.message : String(error) };
  }
}

function rowsOf(samples: Readonly<Record<string, readonly number[]>>): BenchRow[] {
  const ours = samples["kit"] ?? [];
  const value = median(ours);
  const name = "launch a kernel with 8 arguments";
  const beside = ["C++", "cuda.core", "CuPy"].flatMap((peer): BenchRow[] => {
    const theirs = samples[peer] ?? [];
    if (theirs.length === 0) return [];
    const reference = { name: peer, value: median(theirs), samples: theirs };
    const row = { name, value, unit: "s", samples: ours, reference } as const;
    if (peer !== "C++") return [row];
    const holds = value <= reference.value * 1.1;
    return [{ ...row, promise: { text: "at most 1.1 of C++", holds } }];
  });
  return beside.length > 0 ? beside : [{ name, value, unit: "s", samples: ours }];
}

/** Names the folder of compiled code by another path: code in memory is of the former one. */
function forgetCode(): void {
  Deno.env.set("VRAMKIT_CACHE", `${cacheFolder()}/..`);
}

/** Compiles anew, from memory and from the folder, where there is a compiler. */
async function compileRows(): Promise<BenchRow[]> {
  const timed = async (cache: boolean): Promise<number> => {
    const start = performance.now();
    using kernel = await gpu.compile(SOURCE, { cache });
    void kernel;
    return (performance.now() - start) / 1000;
  };
  try {
    await timed(true);
    const sampled = async (cache: boolean, before: () => void = () => {}) => {
      const samples: number[] = [];
      for (let i = 0; i < 21; i++) {
        before();
        samples.push(await timed(cache));
      }
      return samples;
    };
    const kinds = {
      "compile and load a kernel": await sampled(false),
      "load a kernel compiled by another program": await sampled(true, forgetCode),
      "load a kernel compiled before": await sampled(true),
    };
    return Object.entries(kinds).map(([name, samples]) => {
      return { name, value: median(samples), unit: "s", samples };
    });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return [];
  }
}
