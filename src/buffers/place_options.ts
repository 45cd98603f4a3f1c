// The options of every call that makes memory: stream and label.

import type { CudaStream } from "../order/stream.ts";
import { STREAM } from "../order/stream_choice.ts";
import { OptionSet, TEXT } from "../words/options.ts";

/** Options of calls that make memory: stream and label. */
export interface PlaceOptions {
  /** Stream that uses the memory first, and frees it; the device's default stream by default. */
  readonly stream?: CudaStream | undefined;
  /** Name shown in tables, errors and plots. */
  readonly label?: string | undefined;
}

/** The kinds of the options above. */
export const PLACE_KINDS = { stream: STREAM, label: TEXT } as const;

/** Checks the options above. */
export const PLACE_OPTIONS: OptionSet<PlaceOptions> = new OptionSet(PLACE_KINDS);
