// The latencies of nvbandwidth for one GPU: one thread goes from address to address through memory, so
// that each access begins when the one before is over.

import { allocateDeviceBuffer } from "../buffers/device_buffer.ts";
import { allocatePinnedBuffer } from "../buffers/pinned_buffer.ts";
import { u64 } from "../launch/kernel_number.ts";
import { launchReady, reading, writing } from "../launch/ready_kernels.ts";
import { createEvent } from "../order/event.ts";
import { createStream } from "../order/stream.ts";
import { nextTurn } from "../order/waiting.ts";
import type { CaseLatency, LatencyCase } from "./bandwidth_result.ts";
import type { BandwidthMemory } from "./copy_cases.ts";
import { spreadOf } from "./samples.ts";

export const LATENCY_CASES: readonly LatencyCase[] = ["host_device_latency_sm"];

/** Bytes that the addresses are spread over, and from one to the next: 16 addresses. */
const SPREAD_BYTES = 2 * 2 ** 20;
const STEP_BYTES = 128;
const ADDRESS_BYTES = 8;

/** Accesses of a sample, and of the one before the first. */
const ACCESS_COUNT = 1_000_000;
const WARM_UP_COUNT = SPREAD_BYTES / STEP_BYTES;

export function isLatencyCase(name: string): name is LatencyCase {
  return LATENCY_CASES.some((known) => known === name);
}

interface LatencyPlan {
  readonly cases: readonly LatencyCase[];
  readonly sampleCount: number;
  /** Ends the measurement between two samples. */
  readonly signal?: AbortSignal | undefined;
}

export function measureLatencies(
  memory: BandwidthMemory,
  { cases, ...plan }: LatencyPlan,
): Promise<CaseLatency[]> {
  return Array.fromAsync(cases, (name) => measureHost(name, memory, plan));
}

/** Measures accesses to page-locked memory. */
async function measureHost(
  name: LatencyCase,
  memory: BandwidthMemory,
  { sampleCount, signal }: Omit<LatencyPlan, "cases">,
): Promise<CaseLatency> {
  const { context } = memory.device;
  using resources = new DisposableStack();
  const stream = resources.use(createStream(context));
  const request = { dtype: "uint64", stream, label: "latency" } as const;
  const shape = SPREAD_BYTES / ADDRESS_BYTES;
  const ring = resources.use(allocatePinnedBuffer({ ...request, shape, resource: memory.pinned }));
  const one = { ...request, shape: 1, resource: memory.device } as const;
  const end = resources.use(allocateDeviceBuffer(one));
  linkRing(ring.array, ring.ptr);
  end.fill(0n, { stream });
  const start = resources.use(createEvent(context));
  const stop = resources.use(createEvent(context));
  const chase = (count: number) =>
    launchReady(stream, {
      name: "vramkit_chase",
      count: 1,
      args: [reading(ring.span), u64(count), writing(end.span)],
    });
  chase(WARM_UP_COUNT);
  const seconds: number[] = [];
  for (let sample = 0; sample < sampleCount; sample++) {
    signal?.throwIfAborted();
    await nextTurn();
    stream.record(start);
    chase(ACCESS_COUNT);
    stream.record(stop);
    await stop.synchronize();
    seconds.push(stop.secondsSince(start) / ACCESS_COUNT);
  }
  const last = end.downloadSync(undefined, { stream })[0];
  const { middle, least, most } = spreadOf(seconds);
  return {
    name,
    byteLength: SPREAD_BYTES,
    secondsPerAccess: middle,
    minSecondsPerAccess: least,
    maxSecondsPerAccess: most,
    sampleCount,
    accessCount: ACCESS_COUNT,
    verified: last === ring.ptr + BigInt((ACCESS_COUNT * STEP_BYTES) % SPREAD_BYTES),
  };
}

/** Writes the address of the next place into each, and of the first into the last. */
function linkRing(places: BigUint64Array<ArrayBufferLike>, address: bigint): void {
  for (let start = 0; start < SPREAD_BYTES; start += STEP_BYTES) {
    const next = (start + STEP_BYTES) % SPREAD_BYTES;
    places[start / ADDRESS_BYTES] = address + BigInt(next);
  }
}
