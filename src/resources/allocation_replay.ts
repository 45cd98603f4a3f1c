// Reads an allocation log back and repeats it on another resource, to compare resources by the
// allocations of a real program.

import { ALLOCATION_CSV_HEADER, type AllocationAction } from "../accounting/allocation_csv.ts";
import { MemoryCounters } from "../accounting/counters.ts";
import { releaseAll } from "../driver/release.ts";
import {
  allocateFrom,
  deallocateTo,
  type MemoryResource,
  requireResource,
} from "../memory/memory_resource.ts";
import { createStream, type CudaStream, defaultStreamOf, queueOf } from "../order/stream.ts";
import { describeValue } from "../words/format.ts";
import { listOf, requireKind, TEXT } from "../words/options.ts";

/** One row of a log; addresses and streams are text, because they belong to another process. */
export interface LoggedAllocation {
  /** The kind of step. */
  readonly action: AllocationAction;
  /** The block's address, as it was written. */
  readonly pointer: string;
  /** The block's size in bytes. */
  readonly byteLength: number;
  /** The stream, as it was written. */
  readonly stream: string;
}

/** The result of a replay. */
export interface ReplayResult {
  /** The number of allocations and frees. */
  readonly stepCount: number;
  /** Seconds of host time that a step took on average. */
  readonly secondsPerStep: number;
  /** The most bytes live at once, as requested. */
  readonly peakLiveBytes: number;
}

const ACTIONS: ReadonlySet<string> = new Set(
  ["allocate", "allocate failure", "free"] satisfies AllocationAction[],
);

const ROWS = listOf({
  expected: "a row of parseAllocationLog()",
  accepts: (value) => {
    const { action, pointer, byteLength, stream }: Partial<LoggedAllocation> = Object(value);
    return ACTIONS.has(`${action}`) && isSize(byteLength) && TEXT.accepts(pointer) &&
      TEXT.accepts(stream);
  },
});

/**
 * Reads the log of a LoggingResourceAdaptor, of the timeline's export or of RMM.
 *
 * @throws SyntaxError with the line's number when a line is not a row of such a log.
 */
export function parseAllocationLog(csv: string): LoggedAllocation[] {
  requireKind(csv, TEXT, "parseAllocationLog");
  const [header = "", ...lines] = csv.trim().split(/\r?\n/);
  if (header !== ALLOCATION_CSV_HEADER) {
    throw new SyntaxError(
      `Cannot read an allocation log: line 1 is not "${ALLOCATION_CSV_HEADER}"`,
    );
  }
  return lines.map((line, index) => parseRow(line, index + 2));
}

/**
 * Repeats a log on a resource, with one stream for each stream of the log; failed allocations are
 * left out. A free on another stream than the block's waits for that one. Blocks that the log leaves live
 * are given back at the end, or when their address occurs again.
 *
 * @throws the resource's errors, after everything was given back.
 */
export function replayAllocations(
  log: readonly LoggedAllocation[],
  resource: MemoryResource,
): ReplayResult {
  requireKind(log, ROWS, "replayAllocations");
  requireResource(resource, "replay a log on");
  using stack = new DisposableStack();
  const streams = openStreams(log, resource, stack);
  /** Blocks that the log allocated and did not free yet. */
  const live = new Map<string, Parameters<typeof deallocateTo>[1]>();
  stack.defer(() => {
    const blocks = live.values().map((block) => () => deallocateTo(resource, block));
    releaseAll(resource.context.driver, "a block of the log", blocks);
  });
  const counters = new MemoryCounters();
  let stepCount = 0;
  const start = performance.now();
  for (const { action, pointer, byteLength, stream: name } of log) {
    const stream = streams.get(name);
    if (action === "allocate failure" || byteLength === 0 || stream === undefined) continue;
    const known = live.get(pointer);
    if (known !== undefined) {
      queueOf(stream).follow(queueOf(known.stream)); // the log tells of no order between streams
      deallocateTo(resource, { ...known, stream });
      live.delete(pointer);
      counters.remove(known.byteLength);
    }
    if (action === "allocate") {
      const address = allocateFrom(resource, byteLength, stream);
      live.set(pointer, { address, byteLength, stream });
      counters.add(byteLength);
    }
    stepCount++;
  }
  const seconds = (performance.now() - start) / 1000;
  const secondsPerStep = seconds / Math.max(stepCount, 1);
  return { stepCount, secondsPerStep, peakLiveBytes: counters.peakBytes };
}

/** The device's default stream stands for the first stream of the log. */
function openStreams(
  log: readonly LoggedAllocation[],
  { context }: MemoryResource,
  stack: DisposableStack,
): Map<string, CudaStream> {
  const names = [...new Set(log.map(({ stream }) => stream))];
  return new Map(names.map((name, index) => [
    name,
    index === 0 ? defaultStreamOf(context) : stack.use(createStream(context)),
  ]));
}

function parseRow(line: string, lineNumber: number): LoggedAllocation {
  const [, , action = "", pointer = "", size = "", stream = ""] = line.split(",");
  const byteLength = size === "" ? NaN : Number(size);
  if (!ACTIONS.has(action) || !isSize(byteLength) || stream === "") {
    throw new SyntaxError(
      `Cannot read an allocation log: line ${lineNumber} is ${describeValue(line)}`,
    );
  }
  return { action: action as AllocationAction, pointer, byteLength, stream };
}

function isSize(value: number | undefined): boolean {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0;
}
