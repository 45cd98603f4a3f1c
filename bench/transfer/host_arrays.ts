// How fast do ordinary arrays reach the GPU and come back? Every power of two, blocking and awaited,
// beside the driver's own blocking call and the pinned ceiling of the same run:
// `deno task bench:transfer [--largest BYTES] [--peers peers.json] [--out result.json]`.

import { CudaDevice, type DeviceBuffer, formatBytes } from "../../mod.ts";
import { fillPattern } from "../../src/measure/pattern.ts";
import { type BenchRow, median, report } from "../result_file.ts";
import {
  ceilingRow,
  medianSeconds,
  peerRows,
  pinnedCeiling,
  readFlags,
  SEED,
  verify,
} from "./bench_run.ts";

const { largestBytes, peers, out } = await readFlags({ largestBytes: 2 ** 30 });
using gpu = CudaDevice.open(0, { driver: "auto" });
const source = new Uint8Array(largestBytes);
fillPattern(source, SEED);
const target = new Uint8Array(largestBytes).fill(1);
using device = gpu.zeros("uint8", largestBytes, { label: "bench" });
const ceiling = await pinnedCeiling(gpu, { largestBytes });
await warmUp();

const rows: BenchRow[] = [{ name: "pinned ceiling, up", value: ceiling, unit: "GB/s" }];
for (let byteLength = 4; byteLength <= largestBytes; byteLength *= 2) {
  rows.push(...await rowsFor(byteLength));
}
rows.push(...await wholeRows());
await report(gpu, rows, out);

/** Starts the lanes, as the first few hundred MiB of any program do. */
async function warmUp(): Promise<void> {
  for (let i = 0; i < 4; i++) {
    await device.upload(source);
    await device.download(target);
  }
}

/** One size, both directions, both forms. */
async function rowsFor(byteLength: number): Promise<BenchRow[]> {
  const part = device.subarray(0, byteLength);
  const up = source.subarray(0, byteLength);
  const down = target.subarray(0, byteLength);
  const driver = gpu.context.driver;
  const { handle } = gpu.stream;
  const size = BigInt(byteLength);
  const cases = {
    upload: {
      driver: () => driver.call("cuMemcpyHtoDAsync_v2", part.ptr, up, size, handle),
      sync: () => part.uploadSync(up),
      async: () => part.upload(up),
    },
    download: {
      driver: () => driver.call("cuMemcpyDtoHAsync_v2", down, part.ptr, size, handle),
      sync: () => part.downloadSync(down),
      async: () => part.download(down),
    },
  };
  const found: BenchRow[] = [];
  for (const [direction, ways] of Object.entries(cases)) {
    const theirs = await secondsOf(byteLength, () => {
      ways.driver();
      gpu.stream.synchronizeSync();
    });
    for (const form of ["sync", "async"] as const) {
      await prepare(direction, part, down);
      const ours = await secondsOf(byteLength, ways[form]);
      verify(direction === "upload" ? await part.download() : down, direction);
      found.push(speedRow(`${direction} ${form} ${formatBytes(byteLength)}`, byteLength, {
        ours,
        theirs,
        most: promisedTimes(direction, byteLength),
      }));
    }
  }
  return found;
}

/** How many times as fast as the driver's own call the project promises to be. */
function promisedTimes(direction: string, byteLength: number): number {
  const mebibytes = byteLength / 2 ** 20;
  if (mebibytes >= 256) return direction === "upload" ? 3.5 : 2;
  if (mebibytes >= 64) return 1.7;
  return mebibytes >= 16 ? 1.3 : 1 / 1.1;
}

function speedRow(
  name: string,
  byteLength: number,
  times: { ours: number; theirs: number; most: number },
): BenchRow {
  const { ours, theirs, most } = times;
  return {
    name,
    value: byteLength / ours / 1e9,
    unit: "GB/s",
    reference: { name: "driver", value: byteLength / theirs / 1e9 },
    promise: { text: `at least ${most.toFixed(2)} of the driver`, holds: theirs / ours >= most },
  };
}

/** The largest size against the pinned ceiling, with what the peers reach in the same run. */
async function wholeRows(): Promise<BenchRow[]> {
  const cases = [
    ["upload", 0.85, () => device.upload(source), "pageableUpload"],
    ["uploadSync", 0.80, () => Promise.resolve(device.uploadSync(source)), "pageableUpload"],
    ["download into an array", 0.80, () => device.download(target), "pageableDownload"],
    ["download into a fresh array", 0.45, () => device.download(), "freshDownload"],
  ] as const;
  const found: BenchRow[] = [];
  for (const [name, share, run, peerName] of cases) {
    const samples: number[] = [];
    for (let i = 0; i < 7; i++) {
      const start = performance.now();
      const result = await run();
      samples.push((performance.now() - start) / 1000);
      if (result instanceof Uint8Array) verify(result, name);
    }
    const speed = { byteLength: largestBytes, seconds: median(samples), ceiling, share };
    const query = { name: peerName, byteLength: largestBytes, ceiling };
    found.push(ceilingRow(name, speed), ...peerRows(peers, query));
  }
  return found;
}

async function prepare(
  direction: string,
  part: DeviceBuffer<"uint8">,
  host: Uint8Array<ArrayBuffer>,
): Promise<void> {
  if (direction === "upload") part.clear();
  else {
    part.uploadSync(source.subarray(0, part.byteLength));
    host.fill(0);
  }
  await gpu.synchronize();
}

/** Median seconds of one run; more runs for small sizes. */
async function secondsOf(byteLength: number, run: () => unknown): Promise<number> {
  const count = Math.max(7, Math.min(201, Math.floor(2 ** 28 / byteLength)));
  return await medianSeconds(count, run);
}
