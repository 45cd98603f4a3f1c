// `demo`: the kit's main job in one go: moves real arrays both ways, checks every byte, and draws the
// bandwidth.

import { join } from "node:path";
import { formatBandwidth } from "../cards/bandwidth_card.ts";
import { CudaDevice } from "../device/device.ts";
import { reasonOf } from "../disk/system_error.ts";
import { allocateBits, type DType, DTYPE_NAMES, elementBytes, packLength } from "../dtype.ts";
import { fillPattern, findMismatch } from "../measure/pattern.ts";
import { plotBandwidth } from "../notebook/bandwidth_plot.ts";
import { ProgressBar } from "../notebook/progress_bar.ts";
import { progressSurface } from "../notebook/progress_surfaces.ts";
import { formatBytes, messageOf } from "../words/format.ts";
import { wrapped } from "../words/wrapping.ts";
import type { CliOptions } from "./arguments.ts";
import { isVerified, measure } from "./bandwidth.ts";

const ROUND_TRIP_BYTES = [0, 8, 4096, 1 << 20, 16 << 20] as const;

/** Runs the command. */
export async function runDemo(options: CliOptions): Promise<number> {
  using gpu = CudaDevice.open(options.ordinal, { driver: options.driver });
  if (!await canWriteInto(options.out)) return 1;
  console.log(wrapped(describeDevice(gpu)));
  const wrong = await roundTrips(gpu);
  const result = await measure(gpu, { largestBytes: options.largestBytes });
  console.log(formatBandwidth(result));
  const json = join(options.out, "bandwidth.json");
  await Deno.writeTextFile(json, JSON.stringify(result, null, 2) + "\n");
  const plot = () => plotBandwidth(result).toPage(`Bandwidth of ${gpu.name}`);
  await writePage(join(options.out, "bandwidth.html"), plot, json);
  const live = gpu.live().byteLength;
  if (live > 0) console.error(`Cannot finish cleanly: ${formatBytes(live)} still live`);
  return wrong === 0 && live === 0 && isVerified(result) ? 0 : 1;
}

/** Makes the folder before anything is measured, or prints why it cannot. */
export async function canWriteInto(out: string): Promise<boolean> {
  const { state } = await Deno.permissions.request({ name: "write", path: out });
  let refusal =
    "run again with --allow-write (or -A), or use the command bandwidth, which only prints";
  try {
    if (state === "granted") return await Deno.mkdir(out, { recursive: true }).then(() => true);
  } catch (error) {
    refusal = reasonOf(error);
  }
  console.error(`Cannot write into ${out}: ${refusal}`);
  return false;
}

/** Writes a page where plotly.js can be loaded, and says which files there are. */
export async function writePage(
  path: string,
  make: () => Promise<string>,
  ...others: readonly string[]
): Promise<void> {
  let page: string;
  try {
    page = await make();
  } catch (error) {
    console.log(`Wrote ${others.join(" and ") || "nothing"}; no page: ${messageOf(error)}`);
    return;
  }
  await Deno.writeTextFile(path, page);
  console.log(`Wrote ${[...others, path].join(" and ")}`);
}

function describeDevice(gpu: CudaDevice): string {
  const { name, computeCapability, bus } = gpu.info;
  const { freeBytes, totalBytes } = gpu.memory;
  const memory = `${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} free`;
  const simulated = gpu.isSimulated
    ? ": no GPU can be used here, so a simulated device stands in (`doctor` says why)"
    : "";
  return `${name}, compute capability ${computeCapability}, bus ${bus.name}, ${memory}${simulated}`;
}

/** Moves arrays of every element type and several sizes there and back; counts the wrong ones. */
async function roundTrips(gpu: CudaDevice): Promise<number> {
  const bar = new ProgressBar("Round trips", progressSurface({ keepsLine: false }));
  const total = DTYPE_NAMES.length * ROUND_TRIP_BYTES.length;
  let done = 0;
  let wrong = 0;
  for (const dtype of DTYPE_NAMES) {
    for (const byteLength of ROUND_TRIP_BYTES) {
      if (!await roundTrip(gpu, dtype, byteLength)) wrong++;
      bar.update(++done, total, `${dtype} ${formatBytes(byteLength)}`);
    }
  }
  bar.finish();
  console.log(`Round trips: ${total - wrong} of ${total} came back with every byte right`);
  return wrong;
}

async function roundTrip(gpu: CudaDevice, dtype: DType, maxBytes: number): Promise<boolean> {
  const pack = packLength(dtype); // packed elements fill whole bytes
  const length = Math.floor(maxBytes / elementBytes(dtype) / pack) * pack;
  const byteLength = length * elementBytes(dtype);
  const there = allocateBits(dtype, length);
  const back = allocateBits(dtype, length);
  fillPattern(new Uint8Array(there.buffer), byteLength);
  using buffer = gpu.alloc(dtype, length, { label: `round trip ${dtype}` });
  await buffer.upload(there.buffer);
  await buffer.download(back.buffer);
  return findMismatch(new Uint8Array(back.buffer), byteLength) === -1;
}
