// Driver calls for streams and events, simulated. Work runs only when a call needs it: a wait runs all of
// it, a query one operation. An event keeps the virtual time at which its mark was reached.

import {
  CUevent_flags as Flag,
  CUevent_wait_flags,
  CUresult,
  CUstreamWaitValue_flags as Condition,
} from "../../constants.ts";
import { hex, refuse, requireValue } from "../errors.ts";
import { Allocation } from "../model/allocation.ts";
import { StreamEvent } from "../model/capture.ts";
import { observe } from "../model/happens_before.ts";
import type { Machine } from "../model/machine.ts";
import type { Region } from "../model/region.ts";
import type { SharedMark } from "../model/shared_mark.ts";
import { type Operation, Stream } from "../model/stream.ts";
import { submit } from "../work/submission.ts";
import { callGroup } from "./calls.ts";
import { giveHandle, putFloat, requireCell } from "./cells.ts";

/** Turns that the event loop gets to open a latch before a wait for it counts as a deadlock. */
const LATCH_TURNS = 10_000;

/** Declared here, because a program's `lib` setting may leave it out. */
const timers = globalThis as unknown as { setImmediate(callback: () => void): unknown };

/** The words of an error about a handle that a thread may begin to use after it was destroyed. */
const WAITED = "another thread waits for it";

/** Conditions for the end of a wait, by flags; the driver treats words and values as signed. */
const CONDITIONS: ReadonlyMap<number, (word: number, value: number) => boolean> = new Map([
  // The driver compares by the sign of the difference, so that counters may wrap.
  [Condition.CU_STREAM_WAIT_VALUE_GEQ, (word: number, value: number) => ((word - value) | 0) >= 0],
  [Condition.CU_STREAM_WAIT_VALUE_EQ, (word: number, value: number) => word === value],
  [Condition.CU_STREAM_WAIT_VALUE_AND, (word: number, value: number) => (word & value) !== 0],
  [Condition.CU_STREAM_WAIT_VALUE_NOR, (word: number, value: number) => ~(word | value) !== 0],
]);

export const streamCalls = callGroup((machine) => {
  const { captures, contexts, scheduler } = machine;

  /** Returns a wait for what a stream has now, with all that it follows. */
  function waitFor({ context, tail, timeline: { latest } }: Stream): () => void {
    return () => {
      if (tail !== undefined) scheduler.finish(tail);
      observe(latest);
      machine.noticeFrees(context, latest);
    };
  }

  return {
    cuStreamCreateWithPriority(handle, flags) {
      requireCell(handle);
      requireValue(flags === 0 || flags === 1);
      const context = contexts.current;
      const role = flags === 0 ? "blocking" : "nonblocking";
      const group = machine.streamsOf(context);
      group.add(giveHandle(machine, handle, (made) => new Stream(group, made, role), context));
    },
    cuStreamDestroy_v2(handle) {
      const stream = machine.find(Stream, handle);
      if (stream.waitingThreads > 0) machine.site.fail("endsProcess", WAITED);
      machine.forget(handle);
      // Queued work still runs: the context drops the stream when it is empty.
      stream.isDestroyed = true;
      if (stream.head !== undefined) return;
      machine.noticeFrees(stream.context, stream.timeline.latest);
      stream.group.delete(stream);
    },
    cuStreamQuery(handle) {
      const stream = machine.plainStream(handle);
      machine.requireRelaxed();
      const { tail } = stream;
      if (tail !== undefined && !scheduler.poll(tail)) return CUresult.CUDA_ERROR_NOT_READY;
      scheduler.drain(stream);
      return undefined;
    },
    cuStreamSynchronize(handle) {
      const stream = machine.plainStream(handle);
      machine.requireRelaxed();
      waitFor(stream)();
    },
    async cuStreamSynchronizeNonblocking(handle) {
      // The default streams are those of the current context, and the thread that waits has none.
      if (handle <= 2n) return CUresult.CUDA_ERROR_INVALID_CONTEXT;
      const stream = machine.stream(handle);
      captures.requireUncaptured(stream);
      if (captures.disturb("other")) return CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
      return await waitAside(machine, stream, waitFor(stream));
    },
    cuStreamWaitEvent(stream, event, flags) {
      const queue = machine.workStream(stream);
      requireValue(flags <= CUevent_wait_flags.CU_EVENT_WAIT_EXTERNAL);
      // Unlike other calls with a wrong handle, this one ends a capture.
      if (event === 0n) captures.of(queue)?.spoil();
      const waited = machine.find(StreamEvent, event);
      const { record, mark, shared } = waited;
      if (flags === CUevent_wait_flags.CU_EVENT_WAIT_EXTERNAL) {
        requireValue(captures.of(queue) === undefined, "external");
        requireValue(mark === undefined);
        refuse("CUDA_ERROR_ILLEGAL_STATE");
      }
      if ((waited.flags & Flag.CU_EVENT_INTERPROCESS) !== 0) {
        captures.requireUncaptured(queue);
        if (waited.context !== queue.context) {
          const words = "the event is for other processes and belongs to another context";
          machine.site.fail("endsProcess", words);
        }
      }
      if (mark !== undefined) {
        requireValue(mark.capture.isValid);
        return captures.follow(queue, mark);
      }
      const outside = shared?.outside;
      if (outside !== undefined) return void scheduler.followOutside(queue, outside);
      if (record === undefined) return;
      captures.of(queue)?.invalidate("CUDA_ERROR_STREAM_CAPTURE_ISOLATION");
      scheduler.follow(queue, record);
    },
    cuStreamWaitValue32_v2(stream, address, value, flags) {
      const queue = machine.workStream(stream);
      if ((flags & Condition.CU_STREAM_WAIT_VALUE_FLUSH) !== 0) refuse("CUDA_ERROR_NOT_SUPPORTED");
      const isMet = CONDITIONS.get(flags);
      requireValue(isMet !== undefined && address % 4n === 0n);
      const region = machine.memory.resolve(Number(address), 4);
      requireValue(region.kind !== "pageable" && !isManaged(region));
      function blocked(): string | undefined {
        const bytes = region.span(0, 4, "read");
        const word = new DataView(bytes.buffer, bytes.byteOffset, 4).getInt32(0, true);
        if (isMet?.(word, value | 0)) return undefined;
        return `the word at ${hex(address)} is ${word} and does not fit ${value} (flags ${flags}),`;
      }
      submit(machine, queue, {
        regions: [region],
        queue: (target) => scheduler.add(target, { blocked }),
      });
    },
  };
});

export const eventCalls = callGroup((machine) => {
  const { contexts, scheduler } = machine;

  /** Finds the event of a host's query; its own mark in a capture is checked before others. */
  function askedEvent(handle: bigint): StreamEvent {
    const event = machine.find(StreamEvent, handle);
    event.requireAwaitable();
    return event;
  }

  /** Finds an event whose time is known, or will be. */
  function timedEvent(handle: bigint): StreamEvent {
    const event = machine.find(StreamEvent, handle);
    const { flags, mark, record } = event;
    // Unlike other queries of a mark in a capture, this one leaves the capture valid.
    if (mark?.capture.isValid) refuse("CUDA_ERROR_CAPTURED_EVENT");
    requireValue(mark === undefined);
    const isTimed = (flags & Flag.CU_EVENT_DISABLE_TIMING) === 0;
    if (!isTimed || record === undefined) refuse("CUDA_ERROR_INVALID_HANDLE");
    return event;
  }

  function finish({ record, context, shared }: StreamEvent): void {
    const outside = shared?.outside;
    if (outside !== undefined) return scheduler.finishOutside(outside);
    if (record === undefined) return;
    scheduler.finish(record);
    machine.noticeFrees(context, record.moment);
  }

  /** Marks the end of a stream, whose work runs now when other processes see the mark. */
  function markIn(queue: Stream, shared: SharedMark | undefined): Operation {
    if (shared === undefined) return scheduler.mark(queue);
    const operation = scheduler.add(queue, { run: shared.record() });
    scheduler.proceed(operation);
    return operation;
  }

  return {
    cuEventCreate(handle, flags) {
      const context = contexts.current;
      requireCell(handle);
      requireValue((flags & ~7) === 0);
      const isTimed = (flags & Flag.CU_EVENT_DISABLE_TIMING) === 0;
      // An event that other processes open cannot keep time.
      requireValue((flags & Flag.CU_EVENT_INTERPROCESS) === 0 || !isTimed);
      giveHandle(machine, handle, () => new StreamEvent(context, flags), context);
    },
    cuEventDestroy_v2(handle) {
      const event = machine.find(StreamEvent, handle);
      if (event.waitingThreads > 0) machine.site.fail("endsProcess", WAITED);
      event.shared?.end(machine.id);
      machine.forget(handle);
    },
    cuEventRecord(handle, stream) {
      const queue = machine.workStream(stream);
      const event = machine.find(StreamEvent, handle);
      if (event.context !== queue.context) refuse("CUDA_ERROR_INVALID_HANDLE");
      const capture = machine.captures.of(queue);
      const isShared = (event.flags & Flag.CU_EVENT_INTERPROCESS) !== 0;
      if (isShared && capture !== undefined) refuse("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
      event.mark = capture?.mark(queue);
      event.record = event.mark === undefined ? markIn(queue, event.shared) : undefined;
    },
    cuEventQuery(handle) {
      const { record, shared } = askedEvent(handle);
      machine.requireRelaxed();
      const outside = shared?.outside;
      if (outside !== undefined) return outside.isPassed ? 0 : CUresult.CUDA_ERROR_NOT_READY;
      if (record === undefined || scheduler.poll(record)) return;
      return CUresult.CUDA_ERROR_NOT_READY;
    },
    cuEventSynchronize(handle) {
      const event = askedEvent(handle);
      machine.requireRelaxed();
      finish(event);
    },
    async cuEventSynchronizeNonblocking(handle) {
      const event = askedEvent(handle);
      if (machine.captures.disturb("other")) return CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
      while (event.shared?.outside?.isPassed === false && event.shared.outside.isComing) {
        await pause();
      }
      return await waitAside(machine, event, () => finish(event));
    },
    cuEventElapsedTime(milliseconds, startHandle, endHandle) {
      if (milliseconds === null) refuse("CUDA_ERROR_INVALID_HANDLE");
      const [start, end] = [timedEvent(startHandle), timedEvent(endHandle)];
      if (start.context !== end.context) refuse("CUDA_ERROR_INVALID_HANDLE");
      if (!start.record?.isDone || !end.record?.isDone) return CUresult.CUDA_ERROR_NOT_READY;
      const seconds = end.record.finishedAtSeconds - start.record.finishedAtSeconds;
      putFloat(milliseconds, seconds * 1000);
      return undefined;
    },
  };
});

function isManaged({ segments }: Region): boolean {
  return segments.some(({ owner }) => owner instanceof Allocation && owner.kind === "managed");
}

/**
 * Waits for an operation as a thread beside JavaScript does: the program goes on meanwhile, and may
 * still open the latch that the work waits for.
 */
async function waitAside(
  machine: Machine,
  waited: Stream | StreamEvent,
  synchronize: () => void,
): Promise<number> {
  const { scheduler, site } = machine;
  const call = site.name;
  const operation = waited instanceof Stream ? waited.tail : waited.record;
  waited.waitingThreads++;
  using over = new DisposableStack();
  over.defer(() => waited.waitingThreads--);
  for (let turn = 0; turn < LATCH_TURNS; turn++) {
    await new Promise<void>((resolve) => void timers.setImmediate(resolve));
    if (operation !== undefined) scheduler.proceed(operation);
    while (operation !== undefined && scheduler.waitsOutside(operation)) {
      await pause();
      scheduler.proceed(operation);
    }
    if (operation === undefined || scheduler.deadlock(operation) === undefined) break;
    while (scheduler.mayWake(operation) && scheduler.deadlock(operation)) {
      await pause();
    }
  }
  site.during(call, synchronize);
  return CUresult.CUDA_SUCCESS;
}

/** Waits between two looks at work that another process, or a sleeping rank of a group, holds up. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}
