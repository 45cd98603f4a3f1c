// Makes the calls that people write first with this kit, and prints their seconds as JSON:
// run by ../first_calls.ts, in a process of its own for each part of the plan.

import { CudaDevice, type DeviceBuffer } from "../../../mod.ts";
import { fillPattern, findMismatch } from "../../../src/measure/pattern.ts";
import {
  type Call,
  type CallDocument,
  type CallPlan,
  CALLS,
  type CallSamples,
  sampleCountFor,
} from "./plan.ts";

const SEED = 7;
const WARM_BYTES = 8 * 2 ** 20;
const WARM_COUNT = 48;

/** Calls of each kind before a warm program's are timed: code is compiled by then. */
const SMALL_COUNT = 1500;

const plan: CallPlan = JSON.parse(Deno.args[0] ?? "{}");
using gpu = CudaDevice.open(0, { driver: "auto" });
const largestBytes = Math.max(...plan.sizes);
const calls = plan.calls ?? Object.keys(CALLS) as Call[];
const source = new Uint8Array(largestBytes);
const used = new Uint8Array(largestBytes);
// In a cold program other arrays stay untouched, and nothing is cleared for them.
if (plan.phase === "warm" || calls.some((call) => call.startsWith("upload"))) {
  fillPattern(source, SEED);
}
if (plan.phase === "warm" || calls.includes("downloadUsed")) used.fill(1);
const results: CallSamples[] = [];
if (plan.phase === "warm") await warmUp();
for (const byteLength of plan.sizes) {
  for (const form of plan.forms ?? ["awaited", "blocking"] as const) {
    for (const call of calls) {
      results.push(await samplesOf(call, form, byteLength));
    }
  }
}
const { device, driver, deno, vramkit } = gpu.provenance();
const document: CallDocument = {
  peer: "vramkit",
  device,
  versions: { vramkit, deno, driver },
  results,
};
console.log(JSON.stringify(document));

/** Starts the threads, as the first seconds of a program that transfers do. */
async function warmUp(): Promise<void> {
  const byteLength = Math.min(WARM_BYTES, largestBytes);
  for (const form of plan.forms ?? ["awaited", "blocking"] as const) {
    for (const call of calls) {
      await samplesOf(call, form, byteLength, WARM_COUNT);
      await samplesOf(call, form, plan.sizes[0] ?? 1, SMALL_COUNT);
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 1500));
}

async function samplesOf(
  call: Call,
  form: CallSamples["form"],
  byteLength: number,
  count: number = sampleCountFor(byteLength, plan.phase),
): Promise<CallSamples> {
  const { phase } = plan;
  const up = source.subarray(0, byteLength);
  const down = used.subarray(0, byteLength);
  const samples: number[] = [];
  // The buffer exists already where the call needs one.
  using device = call === "upload" ? undefined : gpu.zeros("uint8", byteLength);
  if (phase === "warm") device?.uploadSync(up);
  gpu.synchronizeSync();
  const isAwaited = form === "awaited";
  const once = onceFor(call, isAwaited, { device: device as DeviceBuffer<"uint8">, up, down });
  for (let i = 0; i < count + Number(phase === "warm"); i++) {
    const start = performance.now();
    let result = once();
    if (result instanceof Promise) result = await result;
    const seconds = (performance.now() - start) / 1000;
    if (phase === "cold" || i > 0) samples.push(seconds);
    if (i === 0 && phase === "warm") verify(call, byteLength, result, device);
    if (call === "upload") (result as Disposable)[Symbol.dispose]();
  }
  return { call, form, phase, byteLength, samples };
}

function onceFor(
  call: Call,
  isAwaited: boolean,
  { device, up, down }: {
    device: DeviceBuffer<"uint8">;
    up: Uint8Array<ArrayBuffer>;
    down: Uint8Array<ArrayBuffer>;
  },
): () => unknown {
  const { byteLength } = up;
  switch (call) {
    case "upload":
      return isAwaited ? () => gpu.upload(up) : () => gpu.uploadSync(up);
    case "uploadInto":
      return isAwaited ? () => device.upload(up) : () => device.uploadSync(up);
    case "download":
      return isAwaited ? () => device.download() : () => device.downloadSync();
    case "downloadNew":
      return isAwaited
        ? () => device.download(new Uint8Array(byteLength))
        : () => device.downloadSync(new Uint8Array(byteLength));
    case "downloadUsed":
      return isAwaited ? () => device.download(down) : () => device.downloadSync(down);
  }
}

function verify(
  call: Call,
  byteLength: number,
  result: unknown,
  device: DeviceBuffer<"uint8"> | undefined,
): void {
  const isUpload = call === "upload" || call === "uploadInto";
  const buffer = call === "upload" ? result as DeviceBuffer<"uint8"> : device;
  const bytes = isUpload ? buffer?.downloadSync() : result as Uint8Array;
  if (bytes?.byteLength === byteLength && findMismatch(bytes, SEED) === -1) return;
  throw new Error(`Cannot report ${call} of ${byteLength} bytes: they are wrong`);
}
