// The time of calls: to queue a small kernel, and to wait for one.

import type { CudaDevice } from "../device/device.ts";
import { u64 } from "../launch/kernel_number.ts";
import { launchReady, reading, writing } from "../launch/ready_kernels.ts";
import { type Spread, spreadOf } from "../measure/samples.ts";

const SAMPLE_COUNT = 5;
/** Launches of a sample; the queue of a device holds about a thousand. */
const LAUNCH_COUNT = 500;
const WAIT_COUNT = 100;
const BYTES = 16;

/** Host time in microseconds to queue a kernel behind others, and to queue one and wait for it. */
export type CallTimes = Readonly<Record<"launch" | "launch_and_wait", Spread>>;

/** Measures calls; blocks for some milliseconds. */
export function measureCalls(gpu: CudaDevice): CallTimes {
  using stream = gpu.createStream();
  using from = gpu.zeros("uint8", BYTES, { stream });
  using to = gpu.zeros("uint8", BYTES, { stream });
  const args = [writing(to.span), reading(from.span), u64(BYTES)];
  const launch = () => launchReady(stream, { name: "vramkit_copy", count: 1, args });
  const sample = (count: number, run: () => void) => {
    const before = performance.now();
    for (let i = 0; i < count; i++) run();
    const found = 1000 * (performance.now() - before) / count;
    stream.synchronizeSync();
    return found;
  };
  const samples = (count: number, run: () => void) => {
    sample(count, run); // the first launch loads the kernel, the next ones warm the code
    return spreadOf(Array.from({ length: SAMPLE_COUNT }, () => sample(count, run)));
  };
  const launchAndWait = () => {
    launch();
    stream.synchronizeSync();
  };
  return {
    launch: samples(LAUNCH_COUNT, launch),
    launch_and_wait: samples(WAIT_COUNT, launchAndWait),
  };
}
