// Traces of work that ran at the same time on several streams: two events around each piece, on the
// GPU's clock.

import type { Context } from "../driver/context.ts";
import type { CudaEvent } from "../order/event.ts";
import type { CudaStream } from "../order/stream.ts";
import { STREAM } from "../order/stream_choice.ts";
import { CALLBACK, requireKind, TEXT } from "../words/options.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { speedOf } from "./samples.ts";

/** One piece of work on one stream. */
export interface OverlapSpan {
  /** Name of the piece. */
  readonly name: string;
  /** The stream's label, or its number. */
  readonly lane: string;
  /** Time when the stream reached it, in seconds from the first piece. */
  readonly startSeconds: number;
  /** Time when the GPU was done with it, in seconds from the first piece. */
  readonly endSeconds: number;
  /** Bytes that it copied. */
  readonly copiedBytes: number;
}

/** The result of {@link CudaDevice.traceOverlap}: when all pieces ran, and how they overlapped. */
export class OverlapTrace {
  /** The device's name. */
  declare readonly device: string;
  /** All pieces, in the order in which they were queued. */
  declare readonly spans: readonly OverlapSpan[];
  /** Seconds in which at least one piece ran. */
  declare readonly activeSeconds: number;
  /** Seconds in which two or more pieces ran at once. */
  declare readonly overlappedSeconds: number;
  /** All pieces' times, divided by the time in which any ran: 2 when two ran all the time. */
  declare readonly parallelism: number;
  /** Bytes of all pieces, divided by the time in which any ran, in GB/s. */
  declare readonly gigabytesPerSecond: number;
  /** The times are the simulated driver's, which models them. */
  declare readonly isModelled: boolean;

  /** @ignore Takes over values. */
  constructor(parts: Parts<OverlapTrace>) {
    Object.assign(this, partsOf(parts, new.target));
  }
}

comesFrom(OverlapTrace, "gpu.traceOverlap()");

interface PendingSpan extends Pick<OverlapSpan, "name" | "lane" | "copiedBytes"> {
  readonly start: CudaEvent;
  readonly end: CudaEvent;
}

/** Records pieces of work while a program queues them. */
export class OverlapRecorder implements Disposable {
  readonly #context: Context;
  readonly #pending: PendingSpan[] = [];

  /** @ignore Records on a device. */
  constructor(parts: Parts<Context>) {
    this.#context = partsOf(parts, new.target);
  }

  /**
   * Queues a piece of work on a stream between two events. The time includes waiting for a copy
   * engine that another stream keeps busy, and for other streams that use the same memory, unless
   * `stream.wait()` is called before. Bound: `traceOverlap(({ run }) => ...)` works as well.
   *
   * @throws The error of `work`; the piece is left out then.
   */
  readonly run = <T>(name: string, stream: CudaStream, work: () => T): T => {
    requireKind(name, TEXT, "run");
    requireKind(stream, STREAM, "run");
    requireKind(work, CALLBACK, "run");
    const bytesBefore = this.#context.copiedBytes;
    const start = stream.record();
    try {
      const result = work();
      const copiedBytes = this.#context.copiedBytes - bytesBefore;
      this.#pending.push({ name, lane: stream.name, start, end: stream.record(), copiedBytes });
      return result;
    } catch (error) {
      start.dispose();
      throw error;
    }
  };

  /** Waits for all pieces and returns their times. */
  async finish(device: string): Promise<OverlapTrace> {
    for (const { end } of this.#pending) await end.synchronize();
    const [first] = this.#pending;
    const isModelled = this.#context.driver.isSimulated;
    if (first === undefined) return summarise({ device, isModelled, spans: [] });
    const since = (event: CudaEvent) => event === first.start ? 0 : event.secondsSince(first.start);
    const earliest = this.#pending.reduce((least, { start }) => Math.min(least, since(start)), 0);
    const spans = this.#pending.map(({ name, lane, start, end, copiedBytes }) => ({
      name,
      lane,
      copiedBytes,
      startSeconds: since(start) - earliest,
      endSeconds: since(end) - earliest,
    }));
    return summarise({ device, isModelled, spans });
  }

  /** Destroys the events. */
  [Symbol.dispose](): void {
    for (const { start, end } of this.#pending) {
      start.dispose();
      end.dispose();
    }
    this.#pending.length = 0;
  }
}

comesFrom(OverlapRecorder, "gpu.traceOverlap()");

/** Calls `body`, which queues work through the recorder, and returns what ran at once. */
export async function traceOverlap(
  context: Context,
  { device, body }: {
    readonly device: string;
    readonly body: (recorder: OverlapRecorder) => unknown;
  },
): Promise<OverlapTrace> {
  requireKind(body, CALLBACK, "traceOverlap");
  using recorder = new OverlapRecorder(new Parts(context));
  await body(recorder);
  return await recorder.finish(device);
}

/** Returns the stretches of time in which at least `count` pieces ran. */
export function timesWith(
  count: number,
  spans: readonly Pick<OverlapSpan, "startSeconds" | "endSeconds">[],
): { startSeconds: number; endSeconds: number }[] {
  const steps = spans.flatMap(({ startSeconds, endSeconds }) => [
    { at: startSeconds, change: 1 },
    { at: endSeconds, change: -1 },
    // At equal times a start comes first, so that adjacent pieces are one stretch.
  ]).sort((a, b) => a.at - b.at || b.change - a.change);
  const stretches: { startSeconds: number; endSeconds: number }[] = [];
  let running = 0;
  let since = 0;
  for (const { at, change } of steps) {
    const before = running;
    running += change;
    if (before < count && running >= count) since = at;
    if (before >= count && running < count && at > since) {
      stretches.push({ startSeconds: since, endSeconds: at });
    }
  }
  return stretches;
}

function summarise(
  { device, isModelled, spans }: Pick<OverlapTrace, "device" | "isModelled" | "spans">,
): OverlapTrace {
  const activeSeconds = lengthOf(timesWith(1, spans));
  const copiedBytes = spans.reduce((sum, span) => sum + span.copiedBytes, 0);
  return new OverlapTrace(
    new Parts({
      device,
      spans,
      activeSeconds,
      overlappedSeconds: lengthOf(timesWith(2, spans)),
      parallelism: activeSeconds === 0 ? 0 : lengthOf(spans) / activeSeconds,
      gigabytesPerSecond: speedOf(copiedBytes, activeSeconds),
      isModelled,
    }),
  );
}

function lengthOf(spans: readonly { startSeconds: number; endSeconds: number }[]): number {
  return spans.reduce((sum, { startSeconds, endSeconds }) => sum + endSeconds - startSeconds, 0);
}
