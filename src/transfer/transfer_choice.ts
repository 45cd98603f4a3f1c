// The options of a transfer: on which stream it is, and how to follow or end it.

import { CALLBACK, OptionSet, SIGNAL } from "../options.ts";
import { STREAM, type StreamChoice } from "../stream_choice.ts";
import type { TransferOptions } from "./pending_transfer.ts";

/** On which stream to transfer, and how to follow or end it. */
export interface TransferChoice extends StreamChoice, TransferOptions {}

/** Kinds of the options of a transfer. */
export const TRANSFER_KINDS = { stream: STREAM, onProgress: CALLBACK, signal: SIGNAL } as const;

/** The options of calls that only transfer. */
export const TRANSFER_CHOICE: OptionSet<TransferChoice> = new OptionSet(TRANSFER_KINDS);

/** Those of a call's options that say how to transfer. */
export function transferOf({ stream, onProgress, signal }: TransferChoice): TransferChoice {
  return { stream, onProgress, signal };
}
