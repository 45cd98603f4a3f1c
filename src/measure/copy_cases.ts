// The cases of nvbandwidth that copy, for one GPU, by its names and its method: both directions alone
// and with the other direction loaded, and copies on the device; by the copy engines, and by a kernel.

import { allocateDeviceBuffer } from "../buffers/device_buffer.ts";
import type { GpuBuffer } from "../buffers/gpu_buffer.ts";
import { allocatePinnedBuffer, PinnedBuffer } from "../buffers/pinned_buffer.ts";
import { u64 } from "../launch/kernel_number.ts";
import { launchReady, reading, writing } from "../launch/ready_kernels.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import { createEvent } from "../order/event.ts";
import { createStream, type CudaStream } from "../order/stream.ts";
import { nextTurn } from "../order/waiting.ts";
import type { CaseSpeed, CopyCase } from "./bandwidth_result.ts";
import { Latch } from "./latch.ts";
import { fillPattern, findMismatch, PATTERN_BYTES, PATTERN_SEED } from "./pattern.ts";
import { speedsOf, spreadOf } from "./samples.ts";

/** Resources from which a measurement allocates its memory. */
export interface BandwidthMemory {
  readonly device: MemoryResource;
  /** Page-locked memory. */
  readonly pinned: MemoryResource;
}

/** Number of copies that a sample times. */
export const COPY_COUNT = 16;
/** Number of copies before it. */
export const WARM_UP_COUNT = 4;
/** The copies that load the other direction are twice as large, so that they last longer. */
const LOAD_FACTOR = 2;

/** Size of a copy in these cases unless told otherwise. */
export const CASE_BYTES: number = 512 * 2 ** 20;

/** One end of a copy. */
export type CopyEnd = GpuBuffer<"uint8"> | Uint8Array<ArrayBufferLike>;

/** A copy between two buffers. */
interface Route {
  readonly from: GpuBuffer<"uint8">;
  readonly to: GpuBuffer<"uint8">;
}

type Place = "host" | "device";

/** The ends of a copy: the other direction may be loaded, or a kernel copies, and not the driver. */
type Ends = readonly [from: Place, to: Place, way?: "loaded" | "kernel"];

const ENDS: Readonly<Record<CopyCase, Ends>> = {
  host_to_device_memcpy_ce: ["host", "device"],
  device_to_host_memcpy_ce: ["device", "host"],
  host_to_device_bidirectional_memcpy_ce: ["host", "device", "loaded"],
  device_to_host_bidirectional_memcpy_ce: ["device", "host", "loaded"],
  device_local_copy: ["device", "device"],
  host_to_device_memcpy_sm: ["host", "device", "kernel"],
  device_to_host_memcpy_sm: ["device", "host", "kernel"],
  device_local_copy_sm: ["device", "device", "kernel"],
};

/** The names of the cases, in nvbandwidth's order. */
export const COPY_CASES = Object.keys(ENDS) as readonly CopyCase[];

export function isCopyCase(name: string): name is CopyCase {
  return Object.hasOwn(ENDS, name);
}

/** The cases to measure, and the size of their copies. */
export interface CasePlan {
  readonly cases: readonly CopyCase[];
  readonly byteLength: number;
  readonly sampleCount: number;
  /** Ends the measurement between two cases. */
  readonly signal?: AbortSignal | undefined;
}

/** Measures cases one after another; each has its memory for itself. */
export async function measureCases(memory: BandwidthMemory, plan: CasePlan): Promise<CaseSpeed[]> {
  const speeds: CaseSpeed[] = [];
  for (const name of plan.cases) {
    plan.signal?.throwIfAborted();
    await nextTurn();
    using resources = new DisposableStack();
    speeds.push(await measureCase(name, { ...plan, memory, resources }));
  }
  return speeds;
}

/** The memory and the resources of the measurement of one case. */
interface CaseFields extends CasePlan {
  readonly memory: BandwidthMemory;
  readonly resources: DisposableStack;
}

async function measureCase(name: CopyCase, fields: CaseFields): Promise<CaseSpeed> {
  const { byteLength, sampleCount, memory, resources } = fields;
  const [from, to, way] = ENDS[name];
  const isByKernel = way === "kernel";
  const { context } = memory.device;
  const stream = resources.use(createStream(context));
  const measured: Route = {
    from: bufferAt(from, fields, stream),
    to: bufferAt(to, fields, stream),
  };
  const load = way === "loaded" ? loadOf({ from: to, to: from }, fields) : undefined;
  const held = resources.use(createEvent(context));
  const start = resources.use(createEvent(context));
  const end = resources.use(createEvent(context));
  const latch = Latch.onStream(memory.pinned, { stream, resources });
  const copy = isByKernel
    ? () => copyByKernel(measured, stream)
    : () => void measured.to.copyFrom(measured.from, { stream });
  setPattern(measured.from);
  if (isByKernel) copy(); // its first launch loads it, which would wait for a stream that is held
  measured.to.fill(0, { stream });
  stream.synchronizeSync();
  // Both directions warm up together; the load goes on once the measured direction is warm as well.
  const queue = () => {
    if (load !== undefined) {
      stream.record(held);
      load.stream.wait(held);
      load.copy(WARM_UP_COUNT);
    }
    for (let i = 0; i < WARM_UP_COUNT; i++) copy();
    stream.record(start);
    for (let i = 0; i < COPY_COUNT; i++) copy();
    stream.record(end);
    load?.stream.wait(start);
    load?.copy(COPY_COUNT);
  };
  const seconds: number[] = [];
  for (let sample = 0; sample < sampleCount; sample++) {
    latch.hold(stream, queue);
    stream.synchronizeSync();
    load?.stream.synchronizeSync();
    seconds.push(end.secondsSince(start) / COPY_COUNT);
  }
  return {
    name,
    byteLength,
    ...speedsOf(byteLength, spreadOf(seconds)),
    sampleCount,
    copiesPerSample: COPY_COUNT,
    verified: await hasPattern(measured.to),
  };
}

/** Copies in the direction opposite to the measured one, on a stream of their own. */
interface Load {
  readonly stream: CudaStream;
  readonly copy: (count: number) => void;
}

/** Makes the copies that load a direction. */
function loadOf({ from, to }: Record<"from" | "to", Place>, fields: CaseFields): Load {
  const { byteLength, memory: { device: { context } }, resources } = fields;
  const stream = resources.use(createStream(context));
  const doubled = { ...fields, byteLength: LOAD_FACTOR * byteLength };
  const route: Route = { from: bufferAt(from, doubled, stream), to: bufferAt(to, doubled, stream) };
  route.from.fill(1, { stream });
  stream.synchronizeSync();
  const copy = (count: number) => {
    for (let i = 0; i < count; i++) route.to.copyFrom(route.from, { stream });
  };
  return { stream, copy };
}

/** Bytes that a thread reads at a time. */
const VECTOR_BYTES = 16;

/** Queues a copy by the multiprocessors. */
function copyByKernel({ from, to }: Route, stream: CudaStream): void {
  const { byteLength } = to;
  launchReady(stream, {
    name: "vramkit_copy",
    count: Math.ceil(byteLength / VECTOR_BYTES),
    args: [writing(to.span), reading(from.span), u64(byteLength)],
  });
}

/** Allocates memory for one end of a copy. */
export function bufferAt(
  place: Place,
  { memory, byteLength, resources }: Pick<CaseFields, "memory" | "byteLength" | "resources">,
  stream: CudaStream,
): GpuBuffer<"uint8"> {
  const request = { dtype: "uint8", shape: byteLength, stream, label: "bandwidth" } as const;
  return resources.use<GpuBuffer<"uint8">>(
    place === "host"
      ? allocatePinnedBuffer({ ...request, resource: memory.pinned })
      : allocateDeviceBuffer({ ...request, resource: memory.device }),
  );
}

/** Fills memory with the pattern: on a device its first period, which copies then double. */
export function setPattern(buffer: CopyEnd): void {
  if (buffer instanceof Uint8Array) return fillPattern(buffer, PATTERN_SEED);
  if (buffer instanceof PinnedBuffer) return setPattern(buffer.array);
  const { byteLength } = buffer;
  const period = new Uint8Array(Math.min(PATTERN_BYTES, byteLength));
  fillPattern(period, PATTERN_SEED);
  buffer.subarray(0, period.byteLength).uploadSync(period);
  for (let at = PATTERN_BYTES; at < byteLength; at *= 2) {
    const count = Math.min(at, byteLength - at);
    buffer.subarray(at, at + count).copyFrom(buffer.subarray(0, count));
  }
  buffer.context.waitForAll();
}

/** Returns whether memory holds the pattern; the device compares what repeats. */
export async function hasPattern(buffer: CopyEnd): Promise<boolean> {
  if (buffer instanceof Uint8Array) return findMismatch(buffer, PATTERN_SEED) === -1;
  if (buffer instanceof PinnedBuffer) return await hasPattern(buffer.array);
  const { byteLength } = buffer;
  const first = buffer.subarray(0, Math.min(PATTERN_BYTES, byteLength)).downloadSync();
  if (!await hasPattern(first)) return false;
  if (byteLength <= PATTERN_BYTES) return true;
  return await buffer.subarray(PATTERN_BYTES).equals(
    buffer.subarray(0, byteLength - PATTERN_BYTES),
  );
}
