// What the recorder and the processes that it starts say to each other, one line each.

import type { Sequence } from "./notation.ts";
import type { RecordingFacts } from "./recording.ts";

/** What a process is to play: a sequence as it stands, or a random one. */
export type Task = { readonly sequence: Sequence } | {
  readonly seed: number;
  readonly number: number;
};

/** What a process says. */
export type Message =
  /** Which driver it has. */
  | { readonly facts: RecordingFacts }
  /** What it plays from here on. */
  | { readonly sequence: Sequence }
  /** What came of the next step. */
  | { readonly outcome: string }
  /** That all steps are made, and it cleans up. */
  | { readonly isPlayed: true }
  /** That the sequence is over, and whether the process can play another. */
  | { readonly canGoOn: boolean };
