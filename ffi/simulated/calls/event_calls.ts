// Driver calls for events, simulated.
// An event keeps the virtual time at which its mark was reached.

import { CUevent_flags, CUresult } from "../../constants.ts";
import { refuse, requireValue } from "../errors.ts";
import { StreamEvent } from "../model/event.ts";
import type { Machine } from "../model/machine.ts";
import type { SharedMark } from "../model/shared_mark.ts";
import type { Operation, Stream } from "../model/stream.ts";
import { waitAside } from "../work/wait_aside.ts";
import type { CallGroup } from "./calls.ts";
import { put64, putFloat, requireCell } from "./cells.ts";

type EventCalls = CallGroup<`cuEvent${string}`>;

/** Makes the calls for a machine. */
export function eventCalls(machine: Machine): EventCalls {
  const { contexts, scheduler } = machine;

  function findEvent(handle: bigint): StreamEvent {
    return machine.find(StreamEvent, handle);
  }

  /** Finds the event of a host's query; its own mark in a capture is checked before others. */
  function askedEvent(handle: bigint): StreamEvent {
    const event = findEvent(handle);
    event.requireAwaitable();
    return event;
  }

  /** Finds an event whose time is known, or will be. */
  function timedEvent(handle: bigint): StreamEvent {
    const event = findEvent(handle);
    const { flags, mark, record } = event;
    // Unlike other queries of a mark in a capture, this one leaves the capture valid.
    if (mark?.capture.isValid) refuse("CUDA_ERROR_CAPTURED_EVENT");
    requireValue(mark === undefined);
    const isTimed = (flags & CUevent_flags.CU_EVENT_DISABLE_TIMING) === 0;
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
    const run = shared.record();
    const operation = scheduler.enqueue(queue, scheduler.nextMoment(queue), { run });
    scheduler.proceed(operation);
    return operation;
  }

  return {
    cuEventCreate(handle, flags) {
      const context = contexts.current;
      requireCell(handle);
      const { CU_EVENT_INTERPROCESS, CU_EVENT_DISABLE_TIMING } = CUevent_flags;
      requireValue((flags & ~7) === 0);
      // An event that other processes open cannot keep time.
      requireValue(
        (flags & CU_EVENT_INTERPROCESS) === 0 || (flags & CU_EVENT_DISABLE_TIMING) !== 0,
      );
      const made = machine.register(
        (handle) => new StreamEvent(context, handle, flags),
        context,
      );
      put64(handle, made.handle);
    },
    cuEventDestroy_v2(handle) {
      findEvent(handle).shared?.end(machine.id);
      machine.forget(handle);
    },
    cuEventRecord(handle, stream) {
      const queue = machine.workStream(stream);
      const event = findEvent(handle);
      if (event.context !== queue.context) refuse("CUDA_ERROR_INVALID_HANDLE");
      const capture = machine.captures.of(queue);
      const isShared = (event.flags & CUevent_flags.CU_EVENT_INTERPROCESS) !== 0;
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
        await new Promise<void>((resolve) => setTimeout(resolve, 1));
      }
      return await waitAside(machine, event.record, () => finish(event));
    },
    cuEventElapsedTime(milliseconds, startHandle, endHandle) {
      if (milliseconds === null) refuse("CUDA_ERROR_INVALID_HANDLE");
      const [start, end] = [timedEvent(startHandle), timedEvent(endHandle)];
      if (start.context !== end.context) refuse("CUDA_ERROR_INVALID_HANDLE");
      if (!start.record?.isDone || !end.record?.isDone) return CUresult.CUDA_ERROR_NOT_READY;
      putFloat(
        milliseconds,
        (end.record.finishedAtSeconds - start.record.finishedAtSeconds) * 1000,
      );
      return undefined;
    },
  };
}
