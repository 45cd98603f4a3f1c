// The collective operations that the bench makes, and their measurement: alike for groups of one process
// and of several.

import type { CudaDevice, DeviceBuffer } from "../mod.ts";
import type { DeviceGroup, GroupWork } from "../src/entries/group.ts";

/** All of them. */
export const CALLS = ["allReduce", "broadcast", "allGather", "reduceScatter", "allToAll"] as const;

/** One of them. */
export type Call = (typeof CALLS)[number];

/** The measurements to make. */
export interface CallsPlan {
  readonly calls: readonly Call[];
  /** Sizes, and the number of calls in a sample. */
  readonly sizes: readonly (readonly [bytes: number, repeats: number])[];
  readonly samples: number;
  readonly waits: number;
}

/** The part of one process, which is one rank. */
export interface RankPlan extends CallsPlan {
  readonly rendezvous: string;
  readonly rank: number;
  readonly size: number;
  readonly isSimulated: boolean;
}

/** One call at one size. */
export interface MeasuredCall {
  readonly call: Call;
  readonly size: number;
  /** Seconds of a call among others in a row, on the GPU's clock. */
  readonly samples: readonly number[];
  /** Seconds of a call that is waited for. */
  readonly waited: readonly number[];
}

/** Measures the calls of a group, on the devices that this process has of it. */
export async function measureCalls(
  group: DeviceGroup,
  gpus: readonly CudaDevice[],
  { calls, sizes, samples, waits }: CallsPlan,
): Promise<MeasuredCall[]> {
  const found: MeasuredCall[] = [];
  for (const call of calls) {
    for (const [bytes, repeats] of sizes) {
      found.push(await measureCall(group, gpus, { call, bytes, repeats, samples, waits }));
    }
  }
  return found;
}

async function measureCall(
  group: DeviceGroup,
  gpus: readonly CudaDevice[],
  { call, bytes, repeats, samples: sampleCount, waits }: {
    readonly call: Call;
    readonly bytes: number;
    readonly repeats: number;
    readonly samples: number;
    readonly waits: number;
  },
): Promise<MeasuredCall> {
  using stack = new DisposableStack();
  const make = (length: number) => gpus.map((gpu) => stack.use(gpu.zeros("float32", length)));
  const wholes = make(bytes / 4);
  const others = call === "allToAll" ? make(bytes / 4) : wholes;
  const parts = make(bytes / 4 / group.size);
  const perform = () => callOn(group, call, { wholes, others, parts });
  for (let warm = 0; warm < 5; warm++) await perform();
  const samples: number[] = [];
  const waited: number[] = [];
  const [stream] = gpus.map((gpu) => gpu.stream);
  for (let sample = 0; sample < sampleCount && stream !== undefined; sample++) {
    await group.barrier();
    void perform(); // those that are timed begin when all ranks are there
    using start = stream.record();
    for (let repeat = 0; repeat < repeats; repeat++) perform();
    using end = stream.record();
    await group.barrier();
    samples.push(end.secondsSince(start) / repeats);
    const began = performance.now();
    for (let wait = 0; wait < waits; wait++) await perform();
    waited.push((performance.now() - began) / 1000 / waits);
  }
  return { call, size: bytes, samples, waited };
}

function callOn(
  group: DeviceGroup,
  call: Call,
  { wholes, others, parts }: Record<"wholes" | "others" | "parts", DeviceBuffer<"float32">[]>,
): GroupWork {
  if (call === "allReduce") return group.allReduce(wholes);
  if (call === "broadcast") return group.broadcast(wholes);
  if (call === "allGather") return group.allGather(parts, { into: wholes });
  if (call === "reduceScatter") return group.reduceScatter(wholes, { into: parts });
  return group.allToAll(wholes, { into: others });
}
