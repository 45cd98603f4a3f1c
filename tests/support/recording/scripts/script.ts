// Sequences that were written by hand, each for one thing that a driver does. A step says what comes
// of it: ` = 1` a status, ` = 0 a+16` outputs as well, ` = ?` anything; without that it succeeds.

import type { Sequence } from "../notation.ts";

/** A sequence that was written by hand. */
export interface Script extends Sequence {
  /** The number of devices it needs. */
  readonly deviceCount: number;
  /** Whether a real driver must not be asked: it could end the process, or do anything. */
  readonly isSimulatedOnly: boolean;
}

/**
 * Reads scripts. Each begins with `# ` and its name; `(fresh)` at the end of that starts it in a new
 * process without contexts, `(two devices)` needs those, `(simulated)` is not for real drivers.
 */
export function readScripts(text: string): Script[] {
  return text.split(/^# /m).slice(1).map((block) => {
    const [title = "", ...lines] = block.split("\n").map((line) => line.trim());
    const marks = [...title.matchAll(/\(([a-z ]+)\)/g)].map(([, mark]) => mark);
    return {
      id: title.replaceAll(/ *\((fresh|two devices|simulated)\)/g, ""),
      isFresh: marks.includes("fresh"),
      deviceCount: marks.includes("two devices") ? 2 : 1,
      isSimulatedOnly: marks.includes("simulated"),
      lines: lines.filter((line) => line !== ""),
    };
  });
}

/** Steps that capture calls on the stream `s` as a graph. */
export function captured(graph: string, ...calls: readonly string[]): string {
  return ["cuStreamBeginCapture_v2 s 2", ...calls, `cuStreamEndCapture s &${graph}`].join("\n");
}
