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

/** Times in microseconds. */
export interface CallTimes {
  /** Host time to queue a kernel behind others. */
  readonly launch: Spread;
  /** Host time to queue a kernel and to wait until it is done. */
  readonly launchAndWait: Spread;
}

/** Measures calls; blocks for some milliseconds. */
export function measureCalls(gpu: CudaDevice): CallTimes {
  using stream = gpu.createStream();
  using from = gpu.zeros("uint8", BYTES, { stream });
  using to = gpu.zeros("uint8", BYTES, { stream });
  const launch = () =>
    launchReady(stream, {
      name: "vramkit_copy",
      count: 1,
      args: [writing(to.span), reading(from.span), u64(BYTES)],
    });
  const repeat = (count: number) => {
    const before = performance.now();
    for (let i = 0; i < count; i++) launch();
    return 1000 * (performance.now() - before) / count;
  };
  const wait = () => {
    const before = performance.now();
    for (let i = 0; i < WAIT_COUNT; i++) {
      launch();
      stream.synchronizeSync();
    }
    return 1000 * (performance.now() - before) / WAIT_COUNT;
  };
  repeat(LAUNCH_COUNT); // the first launch loads the kernel, the next ones warm the code
  stream.synchronizeSync();
  wait();
  const launches = Array.from({ length: SAMPLE_COUNT }, () => {
    const found = repeat(LAUNCH_COUNT);
    stream.synchronizeSync();
    return found;
  });
  const waits = Array.from({ length: SAMPLE_COUNT }, wait);
  return { launch: spreadOf(launches), launchAndWait: spreadOf(waits) };
}
