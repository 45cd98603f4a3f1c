// `demo`: the kit's main job in one go: real arrays both ways, every byte checked, the bandwidth drawn.

import { join } from "node:path";
import { CudaDevice } from "../device.ts";
import { allocateBits, type DType, DTYPE_NAMES, elementBytes } from "../dtype.ts";
import { formatBytes } from "../format.ts";
import { formatBandwidth } from "../measure/bandwidth_table.ts";
import { fillPattern, findMismatch } from "../measure/pattern.ts";
import { plotBandwidth } from "../notebook/bandwidth_plot.ts";
import { isVerified, measure } from "./bandwidth.ts";
import type { CliOptions } from "./arguments.ts";
import { ProgressBar } from "../notebook/progress_bar.ts";

const ROUND_TRIP_BYTES = [0, 8, 4096, 1 << 20, 16 << 20] as const;

/** Runs the command. */
export async function runDemo(options: CliOptions): Promise<number> {
  using gpu = CudaDevice.open(options.ordinal, { driver: options.driver });
  console.log(describeDevice(gpu));
  const wrong = await roundTrips(gpu);
  const result = await measure(gpu, { largestBytes: options.largestBytes });
  console.log(formatBandwidth(result));
  const json = join(options.out, "bandwidth.json");
  const html = join(options.out, "bandwidth.html");
  await Deno.mkdir(options.out, { recursive: true });
  await Deno.writeTextFile(json, JSON.stringify(result, null, 2) + "\n");
  await Deno.writeTextFile(html, await plotBandwidth(result).toPage(`Bandwidth of ${gpu.name}`));
  console.log(`Wrote ${json} and ${html}`);
  const live = gpu.live().byteLength;
  if (live > 0) console.error(`Cannot finish cleanly: ${formatBytes(live)} still live`);
  return wrong === 0 && live === 0 && isVerified(result) ? 0 : 1;
}

function describeDevice(gpu: CudaDevice): string {
  const { name, computeCapability, bus } = gpu.info;
  const { freeBytes, totalBytes } = gpu.memory;
  const memory = `${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} free`;
  const simulated = name === "Simulated"
    ? ": no GPU can be used here, so a simulated device stands in (`doctor` says why)"
    : "";
  return `${name}, compute capability ${computeCapability}, bus ${bus.name}, ${memory}${simulated}`;
}

/** Moves arrays of every element type and several sizes there and back; counts the wrong ones. */
async function roundTrips(gpu: CudaDevice): Promise<number> {
  const bar = new ProgressBar("Round trips");
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

async function roundTrip(gpu: CudaDevice, dtype: DType, byteLength: number): Promise<boolean> {
  const length = byteLength / elementBytes(dtype);
  const there = allocateBits(dtype, length);
  const back = allocateBits(dtype, length);
  fillPattern(new Uint8Array(there.buffer), byteLength);
  using buffer = gpu.alloc(dtype, length, { label: `round trip ${dtype}` });
  await buffer.upload(there.buffer);
  await buffer.download(back.buffer);
  return findMismatch(new Uint8Array(back.buffer), byteLength) === -1;
}
