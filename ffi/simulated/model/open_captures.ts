// The captures of a machine that have not ended, and what their modes forbid meanwhile: calls that
// wait, allocate at once or change what a recording goes by. Relaxed captures forbid nothing.

import { CUstreamCaptureMode as Mode } from "../../constants.ts";
import type { DriverFunction } from "../../cuda.ts";
import type { Capture, CapturedMark } from "./capture.ts";
import type { Stream } from "./stream.ts";

/** Functions that any capture but a relaxed one forbids, before anything else is checked. */
export const DISTURBING: ReadonlySet<string> = new Set(
  [
    "cuMemFree_v2",
    "cuMemFreeHost",
    "cuMemHostUnregister",
    "cuMemPoolTrimTo",
    "cuMemPoolSetAttribute",
    "cuMemPoolGetAttribute",
    "cuMemPoolSetAccess",
    "cuMemPoolGetAccess",
    "cuMemPoolCreate",
    "cuMemPoolDestroy",
    "cuMemPoolExportToShareableHandle",
    "cuMemPoolExportPointer",
    "cuMemPoolImportPointer",
    "cuGraphExecDestroy",
  ] satisfies DriverFunction[],
);

/** Thread of a call: the one that captures, or another. */
export type CallingThread = "capturing" | "other";

/** Keeps the captures that have not ended. */
export class OpenCaptures {
  #captures = new Set<Capture>();

  add(capture: Capture): void {
    this.#captures.add(capture);
  }

  delete(capture: Capture): void {
    this.#captures.delete(capture);
  }

  /** Finds the capture that a stream takes part in. */
  of(stream: Stream): Capture | undefined {
    for (const capture of this.#captures) if (capture.has(stream)) return capture;
    return undefined;
  }

  /** Rejects a call that a stream's capture cannot record, and invalidates the capture. */
  requireUncaptured(stream: Stream): void {
    this.of(stream)?.invalidate("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
  }

  /** Rejects work on a stream that would wait for a captured one, even work of no bytes. */
  requireNoneBefore(stream: Stream): void {
    if (this.#captures.size === 0) return;
    const met = [...stream.predecessors].map((other) => this.of(other));
    for (const capture of met) capture?.spoil();
    met.find((capture) => capture !== undefined)?.invalidate("CUDA_ERROR_STREAM_CAPTURE_IMPLICIT");
  }

  /** Orders the later work of a stream after a mark; the stream then takes part in its capture. */
  follow(stream: Stream, mark: CapturedMark): void {
    const own = this.of(stream);
    if (own !== undefined && own !== mark.capture) {
      own.requireValid();
      own.spoil();
      mark.capture.invalidate("CUDA_ERROR_STREAM_CAPTURE_MERGE");
    }
    mark.capture.wait(stream, mark);
  }

  /** Tells whether a call disturbs a capture, which becomes invalid then. */
  disturb(thread: CallingThread): boolean {
    const disturbed = [...this.#captures].filter(({ mode }) =>
      mode === Mode.CU_STREAM_CAPTURE_MODE_GLOBAL ||
      (mode === Mode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && thread === "capturing")
    );
    for (const capture of disturbed) capture.spoil();
    return disturbed.length > 0;
  }
}
