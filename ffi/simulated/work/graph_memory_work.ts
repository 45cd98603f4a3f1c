// Allocations and frees of graph memory: recorded in a capture, done by each launch. Memory that a
// graph leaves allocated is freed like other memory after a launch.

import { refuse, requireValue } from "../errors.ts";
import type { Capture } from "../model/capture.ts";
import { GraphAllocation } from "../model/graph_memory.ts";
import type { Machine } from "../model/machine.ts";
import type { MemoryPool } from "../model/memory_pool.ts";
import type { Stream } from "../model/stream.ts";
import { queueExclusive } from "./memory_work.ts";
import { submit } from "./submission.ts";

/** Records an allocation on a stream that is being captured, and returns its address. */
export function captureAllocation(
  machine: Machine,
  stream: Stream,
  options: { capture: Capture; pool: MemoryPool; byteLength: number },
): number {
  const { capture, pool, byteLength } = options;
  const { memory } = machine;
  capture.requireValid();
  const device = pool.device.isHost ? stream.context.device : pool.device;
  if (byteLength > device.memoryBytes) refuse("CUDA_ERROR_OUT_OF_MEMORY");
  const allocation = new GraphAllocation(memory.place(device, byteLength), {
    capture,
    pool,
    context: stream.context,
    id: machine.nextId(),
    reserve: machine.graphMemory(device).reserveFor(capture),
  });
  memory.add(allocation);
  const region = memory.resolve(allocation.address, byteLength);
  submit(machine, stream, {
    regions: [region],
    queue: (target) => queueExclusive(machine, target, { region, run: () => allocation.open() }),
  });
  allocation.reserve.place(allocation, capture.latestOn(stream));
  return allocation.address;
}

/** Frees a block of graph memory in the order of a stream, or records that each launch does so. */
export function freeGraphMemory(
  machine: Machine,
  stream: Stream,
  allocation: GraphAllocation,
): void {
  const capture = machine.captures.of(stream);
  const isOwn = allocation.capture === capture;
  // A graph can free what another is still to bring: only its launch needs that to be there.
  const asker = capture === undefined ? "call" : "free";
  requireValue(isOwn || allocation.isThere || (asker === "free" && allocation.isLeft));
  const region = machine.memory.resolve(allocation.address, allocation.byteLength, asker);
  submit(machine, stream, {
    regions: [region],
    queue(target) {
      const operation = queueExclusive(machine, target, { region, run: () => allocation.close() });
      allocation.isThere = false;
      allocation.reserve.needFor(operation);
      return operation;
    },
  });
  if (isOwn && capture !== undefined) allocation.freeInGraph(capture.latestOn(stream));
}
