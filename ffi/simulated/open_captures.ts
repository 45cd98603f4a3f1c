// The captures of a machine that have not ended, and what their modes forbid meanwhile: calls that
// wait, allocate at once or change what a recording goes by. Relaxed captures forbid nothing.

import { CUstreamCaptureMode as Mode } from "../constants.ts";
import type { DriverFunction } from "../cuda.ts";
import type { Capture } from "./capture.ts";

/** Functions that a capture which is not relaxed forbids, before anything else is looked at. */
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
    "cuStreamQuery",
    "cuStreamSynchronize",
    "cuGraphExecDestroy",
  ] satisfies DriverFunction[],
);

/** Thread of a call: the one that captures, or another. */
export type CallingThread = "capturing" | "other";

/** Keeps the captures that have not ended. */
export class OpenCaptures {
  #captures = new Set<Capture>();

  /** Adds a capture that begins. */
  add(capture: Capture): void {
    this.#captures.add(capture);
  }

  /** Removes a capture that has ended. */
  delete(capture: Capture): void {
    this.#captures.delete(capture);
  }

  /** Tells whether a call disturbs a capture; one that is disturbed comes to nothing. */
  disturb(thread: CallingThread): boolean {
    const disturbed = [...this.#captures].filter(({ mode }) =>
      mode === Mode.CU_STREAM_CAPTURE_MODE_GLOBAL ||
      (mode === Mode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && thread === "capturing")
    );
    for (const capture of disturbed) capture.spoil();
    return disturbed.length > 0;
  }
}
