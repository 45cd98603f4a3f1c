// What do large transfers cost the host beside the bytes: page-locked memory that stays, growth over
// many transfers, device memory, and how late a timer fires meanwhile?
// `deno task bench cost [--largest BYTES] [--out result.json]`.

import { CudaDevice } from "../../mod.ts";
import { fillPattern } from "../../src/measure/pattern.ts";
import { type BenchRow, report } from "../result_file.ts";
import { readFlags, SEED, verify } from "./bench_run.ts";

const TRANSFER_COUNT = 1000;
const TIMER_MILLISECONDS = 10;
const MAX_LATE_SECONDS = 0.015;
const MAX_HOST_BYTES = 160 * 2 ** 20;
/** Memory that other programs may take or give back on the device meanwhile. */
const DEVICE_NOISE_BYTES = 2 ** 21;

const { largestBytes, out } = await readFlags({ largestBytes: 2 ** 32 });
using gpu = CudaDevice.open(0, { driver: "auto" });
const source = new Uint8Array(largestBytes);
fillPattern(source, SEED);
using device = gpu.zeros("uint8", largestBytes, { label: "bench" });
const part = device.subarray(0, Math.min(largestBytes, 2 ** 24));
const array = source.subarray(0, part.byteLength);
await device.upload(source);

const freeBytes = gpu.memory.freeBytes;
const latestSeconds = await latestTimer();
verify(await device.subarray(largestBytes - part.byteLength).download(), "the upload");
const engineBytes = keptBytes();
await moveOften();
const grownBytes = keptBytes() - engineBytes;
const residentBytes = await residentGrowth();

const rows: BenchRow[] = [
  {
    name: "page-locked memory that stays for the next transfer",
    value: engineBytes,
    unit: "bytes",
    promise: { text: "at most 160 MiB", holds: engineBytes <= MAX_HOST_BYTES },
  },
  {
    name: `the same, grown over ${2 * TRANSFER_COUNT} transfers`,
    value: grownBytes,
    unit: "bytes",
    promise: { text: "none", holds: grownBytes === 0 },
  },
  {
    name: `process grown over ${2 * TRANSFER_COUNT} transfers more`,
    value: residentBytes,
    unit: "bytes",
  },
  deviceRow(freeBytes - gpu.memory.freeBytes),
  {
    name:
      `a timer of ${TIMER_MILLISECONDS} ms during an upload of ${largestBytes} bytes, at most late`,
    value: latestSeconds,
    unit: "s",
    promise: { text: "at most 15 ms late", holds: latestSeconds <= MAX_LATE_SECONDS },
  },
];
await report(gpu, rows, out);

function keptBytes(): number {
  return gpu.context.ledger.cachedBytes("host");
}

/** The most that a repeating timer fires late while an upload runs. */
async function latestTimer(): Promise<number> {
  let latest = 0;
  let due = performance.now() + TIMER_MILLISECONDS;
  const timer = setInterval(() => {
    const now = performance.now();
    latest = Math.max(latest, now - due);
    due = now + TIMER_MILLISECONDS;
  }, TIMER_MILLISECONDS);
  await device.upload(source);
  latest = Math.max(latest, performance.now() - due);
  clearInterval(timer);
  return latest / 1000;
}

async function moveOften(): Promise<void> {
  const back = new Uint8Array(array.byteLength);
  for (let i = 0; i < TRANSFER_COUNT; i++) {
    await part.upload(array);
    await part.download(back);
  }
  verify(back, "the transfers");
}

async function residentGrowth(): Promise<number> {
  const before = Deno.memoryUsage().rss;
  await moveOften();
  return Deno.memoryUsage().rss - before;
}

function deviceRow(takenBytes: number): BenchRow {
  return {
    name: "device memory taken by the transfers",
    value: takenBytes,
    unit: "bytes",
    promise: { text: "none", holds: takenBytes <= DEVICE_NOISE_BYTES },
  };
}
