// How fast do ordinary arrays reach the GPU and come back? Every power of two, blocking and awaited,
// beside the driver's own call and a wait on the same stream, and the pinned ceiling of the run:
// `deno task bench transfer [--largest BYTES] [--peers peers.json] [--out result.json]`.

import { CudaDevice, type DeviceBuffer, formatBytes } from "../../mod.ts";
import { fillPattern } from "../../src/measure/pattern.ts";
import { secondsInTurn } from "../in_turn.ts";
import { type BenchRow, median, report } from "../result_file.ts";
import { ceilingRow, peerRows, pinnedCeiling, readFlags, SEED, verify } from "./bench_run.ts";
import { callsOnLegacyStream, callsOnStream } from "./blocking_calls.ts";

/** From so many cores on lanes can keep up with the bus. */
const MANY_CORES = 16;
/** The least times as fast as the driver that any size may be. */
const NEVER_BEHIND = 1 / 1.1;
/** Transfers each way before anything but the first two is timed; some 32 in all start the lanes. */
const WARM_COUNT = 20;
/** Batches of each way. */
const BATCH_COUNT = 11;
/** Bytes that one batch moves at least, in calls that follow each other. */
const BATCH_BYTES = 2 ** 28;

const { largestBytes, peers, out } = await readFlags({ largestBytes: 2 ** 30 });
using gpu = CudaDevice.open(0, { driver: "auto" });
const source = new Uint8Array(largestBytes);
fillPattern(source, SEED);
const target = new Uint8Array(largestBytes).fill(1);
using device = gpu.zeros("uint8", largestBytes, { label: "bench" });
const onStream = callsOnStream(gpu);
const onLegacy = callsOnLegacyStream(gpu) ?? onStream;
const ceiling = await pinnedCeiling(gpu, { largestBytes });
const rows: BenchRow[] = [
  { name: "pinned ceiling, up", value: ceiling, unit: "GB/s" },
  ...await firstRows(),
];
await warmUp();
for (let byteLength = 4; byteLength <= largestBytes; byteLength *= 2) {
  rows.push(...await rowsFor(byteLength));
}
rows.push(...await wholeRows());
await report(gpu, rows, out);

/** Measures a program's first two uploads, before anything is warm. */
async function firstRows(): Promise<BenchRow[]> {
  const found: BenchRow[] = [];
  for (const name of ["first upload of the process", "second upload of the process"]) {
    const start = performance.now();
    await device.upload(source);
    const seconds = (performance.now() - start) / 1000;
    found.push(ceilingRow(name, { byteLength: largestBytes, seconds, ceiling }));
  }
  return found;
}

/** Starts the lanes and settles the compiled code, as the first second of transfers does. */
async function warmUp(): Promise<void> {
  for (let i = 0; i < WARM_COUNT; i++) {
    await device.upload(source);
    await device.download(target);
  }
  for (let i = 0; i < 3; i++) await rowsFor(Math.min(4096, largestBytes));
}

/** One size, both directions, both forms, in turns with the driver's call. */
async function rowsFor(byteLength: number): Promise<BenchRow[]> {
  const part = device.subarray(0, byteLength);
  const up = source.subarray(0, byteLength);
  const down = target.subarray(0, byteLength);
  const cases = {
    upload: {
      driver: () => onStream.upload(part.ptr, up),
      legacy: () => onLegacy.upload(part.ptr, up),
      sync: () => part.uploadSync(up),
      async: () => part.upload(up),
    },
    download: {
      driver: () => onStream.download(down, part.ptr),
      legacy: () => onLegacy.download(down, part.ptr),
      sync: () => part.downloadSync(down),
      async: () => part.download(down),
    },
  };
  const found: BenchRow[] = [];
  for (const [direction, ways] of Object.entries(cases)) {
    for (const form of ["sync", "async"] as const) {
      await prepare(direction, part, down);
      await ways[form]();
      verify(direction === "upload" ? await part.download() : down, direction);
    }
    const callCount = Math.max(1, Math.min(200, Math.floor(BATCH_BYTES / byteLength)));
    const seconds = await secondsInTurn(ways, { batchCount: BATCH_COUNT, callCount });
    for (const form of ["sync", "async"] as const) {
      found.push(speedRow(`${direction} ${form} ${formatBytes(byteLength)}`, byteLength, {
        ours: seconds[form],
        theirs: seconds.driver,
        most: promisedTimes(direction, byteLength),
      }));
    }
    found.push({
      name: `  the driver's ${direction} on the legacy stream`,
      value: byteLength / seconds.legacy / 1e9,
      unit: "GB/s",
    });
    verify(direction === "upload" ? await part.download() : down, direction);
  }
  return found;
}

/** Returns the promised speed, in times the driver's own call; on few cores, no slower. */
function promisedTimes(direction: string, byteLength: number): number {
  if (navigator.hardwareConcurrency < MANY_CORES) return NEVER_BEHIND;
  const mebibytes = byteLength / 2 ** 20;
  if (mebibytes >= 256) return direction === "upload" ? 3.5 : 2;
  if (mebibytes >= 64) return 1.7;
  return mebibytes >= 16 ? 1.3 : NEVER_BEHIND;
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
    const promised = navigator.hardwareConcurrency < MANY_CORES ? {} : { share };
    const speed = { byteLength: largestBytes, seconds: median(samples), ceiling, ...promised };
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
