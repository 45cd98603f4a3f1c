// The options of a transfer: its stream, its progress and its early end.

import { STREAM, type StreamChoice } from "../order/stream_choice.ts";
import { CALLBACK, OptionSet, SIGNAL } from "../words/options.ts";
import type { TransferOptions } from "./pending_transfer.ts";

/** Options of a transfer: the stream, a progress callback, and a signal that ends it early. */
export interface TransferChoice extends StreamChoice, TransferOptions {}

/** Kinds of the options of a transfer that has its stream. */
export const PROGRESS_KINDS = { onProgress: CALLBACK, signal: SIGNAL } as const;

/** Checks the options of calls that only transfer, and have their stream. */
export const TRANSFER_OPTIONS: OptionSet<TransferOptions> = new OptionSet(PROGRESS_KINDS);

/** Kinds of the options of a transfer. */
export const TRANSFER_KINDS = { stream: STREAM, ...PROGRESS_KINDS } as const;

/** Checks the options of calls that only transfer. */
export const TRANSFER_CHOICE: OptionSet<TransferChoice> = new OptionSet(TRANSFER_KINDS);
