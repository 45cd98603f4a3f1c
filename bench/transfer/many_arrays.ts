// What does it cost to move 1,000 arrays of 16 KiB: one call each, or packed into a few copies? New
// buffers, buffers that are there, and back, beside one call each in the same run:
// `deno task bench many [--largest BYTES] [--peers peers.json] [--out result.json]`.

import { CudaDevice } from "../../mod.ts";
import { fillPattern } from "../../src/measure/pattern.ts";
import { type BenchRow, report } from "../result_file.ts";
import { medianSeconds, peerRows, pinnedCeiling, readFlags, SEED, verify } from "./bench_run.ts";

const ARRAY_BYTES = 16 * 2 ** 10;
const SAMPLE_COUNT = 31;
/** The promised speed, in times one call each. */
const PROMISED_TIMES = 5;

const { largestBytes, peers, out } = await readFlags({ largestBytes: 1000 * ARRAY_BYTES });
const arrayCount = Math.max(1, Math.floor(largestBytes / ARRAY_BYTES));
const byteLength = arrayCount * ARRAY_BYTES;
using gpu = CudaDevice.open(0, { driver: "auto" });
const ceiling = await pinnedCeiling(gpu, { largestBytes: byteLength });

const arrays = Array.from({ length: arrayCount }, () => new Uint8Array(ARRAY_BYTES));
for (const array of arrays) fillPattern(array, SEED);
const targets = arrays.map(() => new Uint8Array(ARRAY_BYTES).fill(1));
using owned = new DisposableStack();
const buffers = arrays.map(() => owned.use(gpu.zeros("uint8", ARRAY_BYTES)));

await warmUp();

const rows: BenchRow[] = [
  { name: "pinned ceiling, up", value: ceiling, unit: "GB/s" },
  timesRow("uploadAll() into a new block, beside gpu.upload() each", await uploadNew()),
  timesRow("uploadAll() into buffers, beside buffer.upload() each", await uploadInto()),
  timesRow("downloadAll() into arrays, beside download() each", await download()),
  ...peerRows(peers, { name: "manyArraysUpload", byteLength, ceiling }),
];
await report(gpu, rows, out);

/** Starts the lanes and settles the compiled code, as the first seconds of any program do. */
async function warmUp(): Promise<void> {
  const end = performance.now() + 2000;
  while (performance.now() < end) {
    await gpu.uploadAll(arrays, { into: buffers });
    await gpu.downloadAll(buffers, { into: targets });
    using _packed = await gpu.uploadAll(arrays);
  }
}

/** Seconds in which the same arrays moved. */
interface Compared {
  /** Packed. */
  readonly packed: number;
  /** By one call each. */
  readonly each: number;
}

async function uploadNew(): Promise<Compared> {
  using found = await gpu.uploadAll(arrays);
  await check([...found]);
  return {
    packed: await medianSeconds(SAMPLE_COUNT, async () => {
      using _buffers = await gpu.uploadAll(arrays);
    }),
    each: await medianSeconds(SAMPLE_COUNT, async () => {
      using buffers = new DisposableStack();
      for (const array of arrays) buffers.use(await gpu.upload(array));
    }),
  };
}

async function uploadInto(): Promise<Compared> {
  const into = buffers;
  await gpu.uploadAll(arrays, { into });
  await check(into);
  return {
    packed: await medianSeconds(SAMPLE_COUNT, () => gpu.uploadAll(arrays, { into })),
    each: await medianSeconds(SAMPLE_COUNT, async () => {
      for (const [index, buffer] of into.entries()) {
        const array = arrays[index];
        if (array !== undefined) await buffer.upload(array);
      }
    }),
  };
}

async function download(): Promise<Compared> {
  await gpu.downloadAll(buffers, { into: targets });
  for (const target of targets) verify(target, "downloadAll()");
  return {
    packed: await medianSeconds(SAMPLE_COUNT, () => gpu.downloadAll(buffers, { into: targets })),
    each: await medianSeconds(SAMPLE_COUNT, async () => {
      for (const [index, buffer] of buffers.entries()) {
        const target = targets[index];
        if (target !== undefined) await buffer.download(target);
      }
    }),
  };
}

async function check(buffers: readonly { download(): Promise<Uint8Array> }[]): Promise<void> {
  for (const buffer of buffers) verify(await buffer.download(), "uploadAll()");
}

function timesRow(name: string, { packed, each }: Compared): BenchRow {
  const speedOf = (seconds: number) => byteLength / seconds / 1e9;
  return {
    name: `${name}, ${arrayCount} arrays`,
    value: speedOf(packed),
    unit: "GB/s",
    reference: { name: "one call each", value: speedOf(each) },
    promise: {
      text: `at least ${PROMISED_TIMES} times one call each`,
      holds: each / packed >= PROMISED_TIMES,
    },
  };
}
