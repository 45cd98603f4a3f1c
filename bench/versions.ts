// Is a change slower than what was there before? Times this kit and another version of it in one
// process, in blocks that take turns: `deno task bench versions ../before/mod.ts [result.json]`.

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as here from "../mod.ts";
import { readWords } from "./arguments.ts";
import { type BenchRow, median, report } from "./result_file.ts";

/** Blocks of each version; the value is the median of the blocks' medians. */
const ROUND_COUNT = 10;

/** A block takes about so long. */
const BLOCK_SECONDS = 0.025;
const MAX_CALLS = 2000;

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const BUFFER_BYTES = 256 * MIB;
const SIZES = [64, 4 * KIB, 64 * KIB, ...[1, 2, 4, 8, 16, 64, 256].map((count) => count * MIB)];

/** One version of the kit with what its calls work on. */
interface Version {
  readonly gpu: here.CudaDevice;
  readonly stream: here.CudaStream;
  readonly x: here.DeviceBuffer<"uint8">;
  readonly y: here.DeviceBuffer<"uint8">;
}

const [otherPath, resultPath] = readWords({ most: 2 });
if (otherPath === undefined) throw new TypeError("Cannot compare: expected the other mod.ts");
const other: typeof here = await import(pathToFileURL(resolve(otherPath)).href);
const bytes = new Uint8Array(2 * BUFFER_BYTES).fill(1);
const versions = { before: open(other), now: open(here) };
for (const { x } of Object.values(versions)) {
  for (let i = 0; i < 10; i++) await x.upload(bytes.subarray(0, BUFFER_BYTES));
}
await sleep(1500); // until threads run

const rows: BenchRow[] = [];
for (const size of SIZES) {
  const array = bytes.subarray(0, size);
  const into = bytes.subarray(BUFFER_BYTES, BUFFER_BYTES + size);
  const text = size < MIB ? `${size} bytes` : `${size / MIB} MiB`;
  const part = ({ x }: Version) => x.subarray(0, size);
  await row(`upload, ${text}`, (v) => on(part(v), (x) => x.upload(array)));
  await row(`download, ${text}`, (v) => on(part(v), (x) => x.download(into)));
  await row(`uploadSync, ${text}`, (v) => on(part(v), (x) => x.uploadSync(array)));
  await row(`downloadSync, ${text}`, (v) => on(part(v), (x) => x.downloadSync(into)));
  await row(`upload and download at once, ${text}`, (v) => {
    const [x, y] = [part(v), v.y.subarray(0, size)];
    return () => Promise.all([x.upload(array), y.download(into, { stream: v.stream })]);
  });
}
for (const [count, size] of [[4, 8 * MIB], [16, 8 * MIB], [32, 8 * MIB], [8, 32 * MIB]] as const) {
  const arrays = Array.from({ length: count }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
  await row(`${count} uploads of ${size / MIB} MiB at once`, ({ x }) => {
    const parts = arrays.map((_, i) => x.subarray(i * size, (i + 1) * size));
    return () => Promise.all(arrays.map((array, i) => parts[i]?.upload(array)));
  });
}
const many = Array.from({ length: 1000 }, (_, i) => new Uint8Array(16 * KIB).fill(i));
const packed = new Map<Version, here.PackedBuffers<readonly here.DeviceBuffer<"uint8">[]>>();
for (const version of Object.values(versions)) {
  packed.set(version, await version.gpu.uploadAll(many));
}
const into = (version: Version) => [...packed.get(version) ?? []];
await row(
  "uploadAll, 1000 of 16 KiB",
  ({ gpu }) => async () => (await gpu.uploadAll(many)).dispose(),
);
await row("uploadAll into buffers, 1000 of 16 KiB", (v) => {
  return on(into(v), (buffers) => v.gpu.uploadAll(many, { into: buffers }));
});
await row("downloadAll, 1000 of 16 KiB", (v) => {
  return on(into(v), (buffers) => v.gpu.downloadAll(buffers, { into: many }));
});
await row("200 queued fills and a wait", ({ gpu, x }) => {
  return on(x.subarray(0, 4096), (part) => {
    for (let i = 0; i < 200; i++) part.fill(i & 127);
    gpu.synchronizeSync();
  });
});
await row("200 queued copies and a wait", ({ gpu, x, y }) => {
  const [to, from] = [x.subarray(0, 4096), y.subarray(0, 4096)];
  return () => {
    for (let i = 0; i < 200; i++) to.copyFrom(from);
    gpu.synchronizeSync();
  };
});
await report(versions.now.gpu, rows, resultPath);
Deno.exit(0); // with both versions' threads

function open(kit: typeof here): Version {
  const gpu = kit.CudaDevice.open(0, { driver: "auto" });
  const [x, y] = [gpu.zeros("uint8", BUFFER_BYTES), gpu.zeros("uint8", BUFFER_BYTES)];
  return { gpu, x, y, stream: gpu.createStream() };
}

/** A call on something that is made once. */
function on<T>(made: T, call: (made: T) => unknown): () => unknown {
  return () => call(made);
}

/** Measures one call of both versions. */
async function row(name: string, make: (version: Version) => () => unknown): Promise<void> {
  const [before, now] = [make(versions.before), make(versions.now)];
  const samples = { before: [] as number[], now: [] as number[] };
  for (let round = 0; round < ROUND_COUNT; round++) {
    const turns = [["before", before], ["now", now]] as const;
    for (const [which, call] of round % 2 === 0 ? turns : turns.toReversed()) {
      await versions[which].x.upload(bytes.subarray(0, BUFFER_BYTES)); // its threads are awake
      samples[which].push(await secondsOf(call));
      await sleep(12); // and asleep when it is the other's turn
    }
  }
  const reference = { name: "before", value: median(samples.before), samples: samples.before };
  rows.push({ name, value: median(samples.now), unit: "s", reference, samples: samples.now });
}

/** The median of the calls of one block. */
async function secondsOf(call: () => unknown): Promise<number> {
  const seconds: number[] = [];
  const end = performance.now() + 1000 * BLOCK_SECONDS;
  while (seconds.length < 5 || performance.now() < end && seconds.length < MAX_CALLS) {
    const start = performance.now();
    const pending = call();
    if (pending instanceof Promise) await pending;
    seconds.push((performance.now() - start) / 1000);
  }
  return median(seconds);
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
