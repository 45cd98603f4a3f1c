// What the recorder and the processes that it starts say to each other, one line each.

import type { Sequence } from "./notation.ts";
import type { RecordingFacts } from "./recording.ts";

/** The sequence that a process is to play: one as it stands, or a random one. */
export type Task = { readonly sequence: Sequence } | {
  readonly seed: number;
  readonly number: number;
};

/** A message of a process. */
export type Message =
  /** The driver it has. */
  | { readonly facts: RecordingFacts }
  /** The sequence it plays from here on. */
  | { readonly sequence: Sequence }
  /** The outcome of the next step. */
  | { readonly outcome: string }
  /** That all steps are made, and it cleans up. */
  | { readonly isPlayed: true }
  /** That the sequence is over, and whether the process can play another. */
  | { readonly canGoOn: boolean };
