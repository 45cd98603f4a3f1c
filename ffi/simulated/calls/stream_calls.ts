// Driver calls for streams, simulated. Work runs only when a call needs it: a wait runs all of it,
// a query runs one operation.

import {
  CUevent_flags,
  CUevent_wait_flags,
  CUresult,
  CUstreamWaitValue_flags as Condition,
} from "../../constants.ts";
import { hex, refuse, requireValue } from "../errors.ts";
import { Allocation } from "../model/allocation.ts";
import { StreamEvent } from "../model/event.ts";
import type { Machine } from "../model/machine.ts";
import type { Region } from "../model/region.ts";
import { Stream } from "../model/stream.ts";
import { submit } from "../work/submission.ts";
import { waitAside } from "../work/wait_aside.ts";
import type { CallGroup } from "./calls.ts";
import { put64, requireCell } from "./cells.ts";

/** Conditions for the end of a wait, by flags; the driver treats words and values as signed. */
const CONDITIONS: ReadonlyMap<number, (word: number, value: number) => boolean> = new Map([
  // The driver compares by the sign of the difference, so that counters may wrap.
  [Condition.CU_STREAM_WAIT_VALUE_GEQ, (word: number, value: number) => ((word - value) | 0) >= 0],
  [Condition.CU_STREAM_WAIT_VALUE_EQ, (word: number, value: number) => word === value],
  [Condition.CU_STREAM_WAIT_VALUE_AND, (word: number, value: number) => (word & value) !== 0],
  [Condition.CU_STREAM_WAIT_VALUE_NOR, (word: number, value: number) => ~(word | value) !== 0],
]);

type StreamCalls = CallGroup<
  | "cuStreamCreateWithPriority"
  | "cuStreamDestroy_v2"
  | "cuStreamQuery"
  | `cuStreamSynchronize${string}`
  | `cuStreamWait${string}`
>;

/** Makes the calls for a machine. */
export function streamCalls(machine: Machine): StreamCalls {
  const { captures, contexts, scheduler } = machine;

  function drain(stream: Stream): void {
    const { context, timeline: { latest } } = stream; // with all that it follows, before it is waited for
    scheduler.drain(stream);
    machine.noticeFrees(context, latest);
  }

  function requireOwn(stream: Stream, event: StreamEvent): void {
    if (event.context === stream.context) return;
    machine.site.fail(
      "endsProcess",
      "the event is for other processes and belongs to another context",
    );
  }

  return {
    cuStreamCreateWithPriority(handle, flags) {
      requireCell(handle);
      requireValue(flags === 0 || flags === 1);
      const context = contexts.current;
      const role = flags === 0 ? "blocking" : "nonblocking";
      const group = machine.streamsOf(context);
      const stream = machine.register((handle) => new Stream(group, handle, role), context);
      group.add(stream);
      put64(handle, stream.handle);
    },
    cuStreamDestroy_v2(handle) {
      const stream = machine.find(Stream, handle);
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
      drain(stream);
    },
    async cuStreamSynchronizeNonblocking(handle) {
      // The default streams are those of the current context, and the thread that waits has none.
      if (handle <= 2n) return CUresult.CUDA_ERROR_INVALID_CONTEXT;
      const stream = machine.stream(handle);
      captures.requireUncaptured(stream);
      if (captures.disturb("other")) return CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
      const { tail } = stream;
      return await waitAside(machine, tail, () => drain(machine.plainStream(handle)));
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
      if ((waited.flags & CUevent_flags.CU_EVENT_INTERPROCESS) !== 0) {
        captures.requireUncaptured(queue);
        requireOwn(queue, waited);
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
        return `the word at ${hex(address)} is ${word} and does not fit ${value} ` +
          `(flags ${flags}),`;
      }
      submit(machine, queue, {
        regions: [region],
        queue: (target) => scheduler.enqueue(target, scheduler.nextMoment(target), { blocked }),
      });
    },
  };
}

function isManaged({ segments }: Region): boolean {
  return segments.some(({ owner }) => owner instanceof Allocation && owner.kind === "managed");
}
