// How much do uploads and downloads at the same time move together? Page-locked arrays on two streams,
// and ordinary arrays through the ring, beside the pinned ceiling of one direction in the same run:
// `deno task bench both [--largest BYTES] [--peers peers.json] [--out result.json]`.

import { CudaDevice } from "../../mod.ts";
import { fillPattern } from "../../src/measure/pattern.ts";
import { type BenchRow, report } from "../result_file.ts";
import {
  ceilingRow,
  medianSeconds,
  peerRows,
  pinnedCeiling,
  readFlags,
  SEED,
  verify,
} from "./bench_run.ts";

const SAMPLE_COUNT = 9;
/** Rounds with ordinary arrays before any is timed, so that lanes run. */
const WARM_COUNT = 16;

const { largestBytes, peers, out } = await readFlags({ largestBytes: 2 ** 30 });
using gpu = CudaDevice.open(0, { driver: "auto" });
using up = gpu.createStream({ label: "up" });
using down = gpu.createStream({ label: "down" });
const ceiling = await pinnedCeiling(gpu, { largestBytes });
const byteLength = 2 * largestBytes;

const rows: BenchRow[] = [
  { name: "pinned ceiling, up", value: ceiling, unit: "GB/s" },
  ceilingRow("page-locked arrays, sum of both", {
    byteLength,
    seconds: await pinnedSeconds(),
    ceiling,
    share: 1.8,
  }),
  ...peerRows(peers, { name: "bothDirections", ceiling }),
  ceilingRow("ordinary arrays, sum of both", {
    byteLength,
    seconds: await arraySeconds(),
    ceiling,
  }),
];
await report(gpu, rows, out);

/** Queued copies of page-locked memory, one stream a direction. */
async function pinnedSeconds(): Promise<number> {
  using source = gpu.pinned("uint8", largestBytes);
  using target = gpu.pinned("uint8", largestBytes);
  using written = gpu.zeros("uint8", largestBytes);
  using read = gpu.zeros("uint8", largestBytes);
  fillPattern(source.array, SEED);
  target.array.fill(1);
  await read.upload(source.array);
  const both = async () => {
    written.copyFrom(source, { stream: up });
    read.copyTo(target, { stream: down });
    await Promise.all([up.synchronize(), down.synchronize()]);
  };
  await both();
  const seconds = await medianSeconds(SAMPLE_COUNT, both);
  verify(await written.download(), "the pinned upload");
  verify(target.array, "the pinned download");
  return seconds;
}

/** Ordinary arrays; both transfers share the ring and its lanes. */
async function arraySeconds(): Promise<number> {
  const source = new Uint8Array(largestBytes);
  fillPattern(source, SEED);
  const target = new Uint8Array(largestBytes).fill(1);
  using written = gpu.zeros("uint8", largestBytes);
  using read = await gpu.upload(source);
  await gpu.synchronize();
  const both = () =>
    Promise.all([
      written.upload(source, { stream: up }),
      read.download(target, { stream: down }),
    ]);
  for (let i = 0; i < WARM_COUNT; i++) await both();
  const seconds = await medianSeconds(SAMPLE_COUNT, both);
  verify(await written.download(), "the array's upload");
  verify(target, "the array's download");
  return seconds;
}
