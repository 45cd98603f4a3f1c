// Driver calls for streams, simulated.
// Work runs only when a call asks for it: waiting runs all of it, asking runs one operation.

import { CUresult, CUstreamWaitValue_flags } from "../../constants.ts";
import { put64 } from "../cells.ts";
import { requireValue } from "../errors.ts";
import type { Machine } from "../machine.ts";
import { submit } from "../submission.ts";
import { Stream, StreamEvent } from "../stream.ts";
import { waitAside } from "../wait_aside.ts";
import type { CallGroup } from "./calls.ts";

type StreamCalls = CallGroup<
  | "cuStreamCreateWithPriority"
  | "cuStreamDestroy_v2"
  | "cuStreamQuery"
  | `cuStreamSynchronize${string}`
  | `cuStreamWait${string}`
>;

/** Makes the calls for a machine. */
export function streamCalls(machine: Machine): StreamCalls {
  const { contexts, scheduler } = machine;

  function synchronizeStream(handle: bigint): void {
    const stream = machine.stream(handle);
    stream.requireUncaptured();
    scheduler.drain(stream);
    machine.settle(stream.context);
  }

  return {
    cuStreamCreateWithPriority(handle, flags) {
      const context = contexts.current;
      requireValue(flags === 0 || flags === 1);
      const role = flags === 0 ? "blocking" : "nonblocking";
      const stream = machine.register((handle) => new Stream(context, handle, role));
      context.streams.add(stream);
      put64(handle, stream.handle);
    },
    cuStreamDestroy_v2(handle) {
      const stream = machine.find(Stream, handle);
      machine.forget(handle);
      // Queued work still runs: the context drops the stream when it is empty.
      if (stream.head === undefined) stream.context.streams.delete(stream);
    },
    cuStreamQuery(handle) {
      const stream = machine.stream(handle);
      const { tail } = stream;
      stream.requireUncaptured();
      if (tail !== undefined && !scheduler.poll(tail)) return CUresult.CUDA_ERROR_NOT_READY;
      scheduler.drain(stream);
      return undefined;
    },
    cuStreamSynchronize: synchronizeStream,
    async cuStreamSynchronizeNonblocking(handle) {
      const { tail } = machine.stream(handle);
      return await waitAside(machine, tail, () => synchronizeStream(handle));
    },
    cuStreamWaitEvent(stream, event, flags) {
      const { record, mark } = machine.find(StreamEvent, event);
      const queue = machine.stream(stream);
      requireValue(flags === 0);
      if (mark !== undefined) {
        requireValue(mark.capture.isOpen);
        return mark.capture.wait(queue, mark);
      }
      if (record === undefined) return;
      queue.capture?.invalidate("CUDA_ERROR_STREAM_CAPTURE_ISOLATION");
      scheduler.follow(queue, record);
    },
    cuStreamWaitValue32_v2(stream, address, value, flags) {
      const queue = machine.stream(stream);
      const { CU_STREAM_WAIT_VALUE_GEQ, CU_STREAM_WAIT_VALUE_EQ } = CUstreamWaitValue_flags;
      requireValue(flags === CU_STREAM_WAIT_VALUE_GEQ || flags === CU_STREAM_WAIT_VALUE_EQ);
      requireValue(address % 4n === 0n);
      const region = machine.memory.resolve(Number(address), 4);
      requireValue(region.kind !== "pageable");
      function blocked(): string | undefined {
        const word = region.span(0, 4, "read");
        const current = new DataView(word.buffer, word.byteOffset, 4).getInt32(0, true);
        const isMet = flags === CU_STREAM_WAIT_VALUE_EQ
          ? current === (value | 0)
          // The driver compares by the sign of the difference, so that counters may wrap.
          : ((current - value) | 0) >= 0;
        if (isMet) return undefined;
        return `the word at 0x${address.toString(16)} is ${current}, not ${
          flags === CU_STREAM_WAIT_VALUE_EQ ? "" : "at least "
        }${value},`;
      }
      submit(machine, queue, {
        regions: [region],
        queue: (target) => scheduler.enqueue(target, scheduler.nextMoment(target), { blocked }),
      });
    },
  };
}
