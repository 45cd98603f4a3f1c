// The one way for work to a stream: queued at once, or recorded while the stream is being captured.
// Recorded work uses its memory at each launch, so it cannot use ordinary arrays.

import { hex, refuse } from "../errors.ts";
import type { Capture, CapturedWork } from "../model/capture.ts";
import { GraphAllocation, NOT_LAUNCHED } from "../model/graph_memory.ts";
import type { Machine } from "../model/machine.ts";
import type { Region } from "../model/region.ts";
import type { Operation, Stream } from "../model/stream.ts";

/** Queues work on a stream and returns it, or records it while the stream is being captured. */
export function submit(
  machine: Machine,
  stream: Stream,
  work: Omit<CapturedWork, "call">,
): Operation | undefined {
  const capture = machine.captures.of(stream);
  const isFree = capture !== undefined && machine.site.name === "cuMemFreeAsync";
  for (const region of isFree ? [] : work.regions) requireReach(machine, stream, region);
  if (capture === undefined) return work.queue(stream);
  for (const region of work.regions) requireLasting(machine, region);
  capture.add(stream, { ...work, call: machine.site.name });
  return undefined;
}

/** Throws when memory that recorded work names, and its graph does not allocate, has gone. */
export function requireUnchanged(machine: Machine, capture: Capture, work: CapturedWork): void {
  for (const region of regionsGone(machine, capture, work)) {
    machine.site.fail(
      "goneFromGraph",
      `the ${region.byteLength} bytes at ${hex(region.address)} that ${work.call} in the graph ` +
        `uses were freed after the capture`,
    );
  }
}

/** Rejects fills of freed memory, and throws for copies, which would end the process. */
export function requireInstantiable(machine: Machine, capture: Capture, work: CapturedWork): void {
  if (isFillOfFreed(machine, capture, work)) refuse("CUDA_ERROR_INVALID_VALUE");
  // The free of another graph's memory may be recorded before that is there.
  if (work.call !== "cuMemFreeAsync") requireUnchanged(machine, capture, work);
}

export function isFillOfFreed(machine: Machine, capture: Capture, work: CapturedWork): boolean {
  return work.call.startsWith("cuMemset") && regionsGone(machine, capture, work).length > 0;
}

/** Returns the memory that work names, that is gone and that its graph does not allocate. */
function regionsGone(machine: Machine, capture: Capture, work: CapturedWork): Region[] {
  return work.regions.filter((region) => {
    const isOwn = region.segments.some(({ owner }) =>
      owner instanceof GraphAllocation && owner.capture === capture
    );
    return !isOwn && !machine.memory.isCurrent(region);
  });
}

/** Throws when memory is allocated in a capture and the stream does not take part in that. */
function requireReach(machine: Machine, stream: Stream, region: Region): void {
  for (const { owner } of region.segments) {
    if (!(owner instanceof GraphAllocation) || owner.isThere) continue;
    if (owner.capture === machine.captures.of(stream)) continue;
    const { rule, words } = NOT_LAUNCHED;
    machine.site.fail(rule, `${owner.label} at ${hex(owner.address)} ${words}`);
  }
}

function requireLasting(machine: Machine, region: Region): void {
  if (region.kind !== "pageable") return;
  machine.site.fail(
    "arrayInGraph",
    `a graph would use the ordinary host array of ${region.byteLength} bytes at each launch, ` +
      "when it may have moved; use page-locked memory",
  );
}
