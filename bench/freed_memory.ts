// What does it cost to give freed memory back? Loops of allocation, use and disposal, with each way to
// wait, here and in another version of the kit: `deno task bench freed ../before/mod.ts [result.json]`.

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as here from "../mod.ts";
import { readWords } from "./arguments.ts";
import { type BenchRow, median, report } from "./result_file.ts";

const MIB = 2 ** 20;
const ROUND_COUNT = 7;
const BLOCK_SECONDS = 0.05;
const MIN_ROUNDS = 4;

type Gpu = here.CudaDevice;

/** Ways to end a round of a loop. */
const WAITS: Readonly<Record<string, (gpu: Gpu) => unknown>> = {
  "await gpu.synchronize()": (gpu) => gpu.synchronize(),
  "await stream.synchronize()": (gpu) => gpu.stream.synchronize(),
  "stream.synchronizeSync()": (gpu) => gpu.stream.synchronizeSync(),
};

const [otherPath, resultPath] = readWords({ most: 2 });
if (otherPath === undefined) throw new TypeError("Cannot compare: expected the other mod.ts");
const other: typeof here = await import(pathToFileURL(resolve(otherPath)).href);
const devices = { before: open(other), now: open(here) };
const rows: BenchRow[] = [];
for (const size of [4096, MIB, 64 * MIB, 1024 * MIB]) {
  const text = size < MIB ? `${size} bytes` : `${size / MIB} MiB`;
  const array = new Uint8Array(size).fill(1);
  const into = new Uint8Array(size);
  for (const [wait, run] of Object.entries(WAITS)) {
    await row(`alloc, fill, dispose, ${wait}, ${text}`, async (gpu) => {
      const x = gpu.alloc("uint8", size);
      x.fill(1);
      x.dispose();
      await run(gpu);
    });
  }
  await row(`await upload, dispose, ${text}`, async (gpu) => {
    (await gpu.upload(array)).dispose();
  });
  await row(`await upload, await download, dispose, ${text}`, async (gpu) => {
    const x = await gpu.upload(array);
    await x.download(into);
    x.dispose();
  });
  await row(`uploadSync, downloadSync, dispose, ${text}`, (gpu) => {
    const x = gpu.alloc("uint8", size);
    x.uploadSync(array);
    x.downloadSync(into);
    x.dispose();
  });
}
await report(devices.now, rows, resultPath);
Deno.exit(0); // with both versions' threads

function open({ CudaDevice }: typeof here): Gpu {
  return CudaDevice.open(0, { driver: "auto" });
}

/** Times one loop in both versions, in blocks that take turns. */
async function row(name: string, round: (gpu: Gpu) => unknown): Promise<void> {
  const samples = { before: [] as number[], now: [] as number[] };
  for (let block = 0; block < ROUND_COUNT; block++) {
    const turns = ["before", "now"] as const;
    for (const which of block % 2 === 0 ? turns : turns.toReversed()) {
      samples[which].push(await secondsOf(() => round(devices[which])));
      devices[which].synchronizeSync();
    }
  }
  const reference = { name: "before", value: median(samples.before), samples: samples.before };
  rows.push({ name, value: median(samples.now), unit: "s", reference, samples: samples.now });
}

/** The mean of the rounds of one block. */
async function secondsOf(round: () => unknown): Promise<number> {
  const start = performance.now();
  let count = 0;
  while (count < MIN_ROUNDS || performance.now() < start + 1000 * BLOCK_SECONDS) {
    const pending = round();
    if (pending instanceof Promise) await pending;
    count++;
  }
  return (performance.now() - start) / 1000 / count;
}
