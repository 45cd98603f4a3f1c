// Random programs whose work on the GPU has mistakes, which the simulated driver reports at whichever
// call meets them: every promise settles, and nothing of the driver's stays held.

import { assertEquals } from "@std/assert";
import { driverOf } from "../../ffi/simulated/driver.ts";
import { Machine } from "../../ffi/simulated/model/machine.ts";
import { settingsOf } from "../../ffi/simulated/options.ts";
import { CudaDevice, type CudaStream, type GpuBuffer } from "../../mod.ts";
import { intercept } from "../support/faulty_driver.ts";
import { type Random, runSeeds, share } from "../support/random.ts";
import { CaughtRejections } from "../support/sweep/caught_rejections.ts";
import { Held } from "../support/sweep/held.ts";
import { CaughtWarnings } from "../support/warnings.ts";

const PROGRAM_COUNT = share(60);
const STEP_COUNT = 40;
const LENGTH = 64;

/** A driver that runs a kernel which goes astray, and what a program holds of it. */
function makeDriver() {
  const kernels = { astray: { run: ({ read }: { read: SimulatedRead }) => void read(0n, 1) } };
  const machine = new Machine(settingsOf({ kernels }));
  const held = new Held();
  const driver = intercept(driverOf(machine), (name, call, args) => {
    let status: unknown = 0;
    try {
      return status = call(...args);
    } finally {
      // A free that meets a mistake throws, and frees.
      const isGone = !/^cuMemFree(Host|_v2)$/.test(name) ||
        machine.memory.at(Number(args[0])) === undefined;
      if (status === 0 && isGone) held.note(name, args);
    }
  });
  return { driver, held };
}

type SimulatedRead = (address: bigint, byteLength: number) => unknown;

async function play(gpu: CudaDevice, random: Random): Promise<void> {
  using kernel = await gpu.compile(`extern "C" __global__ void astray(float *x) {}`);
  const buffers: GpuBuffer<"float32">[] = [gpu.pinned("float32", LENGTH)];
  const streams: CudaStream[] = [gpu.stream];
  const isAwaiting = random.below(2) === 0;
  const pending: Promise<unknown>[] = [];
  const array = new Float32Array(LENGTH);
  for (let step = 0; step < STEP_COUNT; step++) {
    const stream = random.pick(streams) ?? gpu.stream;
    const [x, y] = [random.pick(buffers), random.pick(buffers)];
    const steps: (() => unknown)[] = [
      () => buffers.push(gpu.pinned("float32", LENGTH)),
      () => buffers.push(gpu.mapped("float32", LENGTH)),
      () => buffers.push(gpu.managed("float32", LENGTH)),
      () => buffers.push(gpu.alloc("float32", LENGTH, { stream })),
      () => streams.push(gpu.createStream()),
      () => x && y?.copyFrom(x, { stream }),
      () => x?.fill(1, { stream }),
      () => x && kernel.launch({ grid: 1, block: 1, args: [x], stream }),
      () => x?.download(undefined, { stream }),
      () => x?.upload(array, { stream }),
      () => gpu.upload(new Float32Array(2 ** 20), { stream }).then((made) => buffers.push(made)),
      () => x?.dispose(),
      () => stream === gpu.stream ? undefined : stream.dispose(),
      () => stream.synchronizeSync(),
    ];
    const result = Promise.try(random.pick(steps) ?? (() => {}));
    pending.push(result);
    if (isAwaiting) await result.catch(() => {});
  }
  await Promise.allSettled(pending);
  for (const made of [...buffers, ...streams.slice(1)]) made.dispose();
  await gpu.synchronize().catch(() => {});
}

Deno.test(`${PROGRAM_COUNT} programs with mistakes in their work get all promises settled, and hold nothing`, () =>
  runSeeds(PROGRAM_COUNT, async ({ random }) => {
    const { driver, held } = makeDriver();
    using rejections = new CaughtRejections();
    using _warnings = new CaughtWarnings();
    {
      using gpu = CudaDevice.open(0, { driver });
      await play(gpu, random);
    }
    assertEquals([rejections.reasons, held.namesWithout(new Set())], [[], []]);
  }));
