// How a device is opened and how arrays are uploaded: the options of the front door.

import { ALLOCATE_KINDS, type AllocateOptions } from "../buffers/device_allocator.ts";
import type { Shape } from "../buffers/shape.ts";
import type { DriverChoice } from "../driver.ts";
import { DTYPE, type DType } from "../dtype.ts";
import type { MakeResource } from "../memory/resource_choice.ts";
import type { OriginDetail } from "../accounting/origin.ts";
import { ANYTHING, CALLBACK, oneOf, OptionSet, SHAPE, TEXT } from "../options.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import { TRANSFER_KINDS } from "../transfer/transfer_choice.ts";
import { TRANSFER_TUNING, type TransferTuning } from "../transfer/tuning.ts";

/** How to open a device. */
export interface OpenOptions {
  /** Which driver; NVIDIA's by default. `"auto"` uses the simulated one when there is no GPU. */
  readonly driver?: DriverChoice;
  /** The driver library's file, when it lies in an unusual place. */
  readonly libraryPath?: string;
  /**
   * Whether a second stream waits by itself for what the first does with a buffer
   * (`"automatic"`, the default), or the program orders its streams with events (`"manual"`).
   */
  readonly order?: "automatic" | "manual";
  /**
   * How much `gpu.live()` knows of where objects were made: `"sampled"` (large blocks, at a bounded
   * rate, the default), `"line"` (all; the default in notebooks), `"stack"`, or `"none"`. The
   * environment variable VRAMKIT_ORIGINS says the same.
   */
  readonly origins?: OriginDetail;
  /**
   * Makes the resource that device memory comes from unless a call says otherwise; it is disposed,
   * with its upstreams, when the device is. The device's stream-ordered pool by default.
   */
  readonly resource?: MakeResource;
  /** The same for page-locked memory; each block is pinned and unpinned by default. */
  readonly pinnedResource?: MakeResource;
  /** How much page-locked memory and how many threads large transfers may use. */
  readonly transfers?: TransferTuning;
}

/** What they may be. */
export const OPEN_OPTIONS: OptionSet<OpenOptions> = new OptionSet({
  driver: ANYTHING,
  libraryPath: TEXT,
  order: oneOf("automatic", "manual"),
  origins: oneOf("none", "sampled", "line", "stack"),
  resource: CALLBACK,
  pinnedResource: CALLBACK,
  transfers: TRANSFER_TUNING,
});

/** How to upload into new memory. */
export interface UploadOptions<D extends DType> extends AllocateOptions, TransferOptions {
  /** The element type; that of the array by default. */
  readonly dtype?: D;
  /** Sizes along each axis; one axis by default. */
  readonly shape?: number | Shape | undefined;
}

/** What they may be. */
export const UPLOAD_OPTIONS: OptionSet<UploadOptions<DType>> = new OptionSet({
  ...ALLOCATE_KINDS,
  ...TRANSFER_KINDS,
  dtype: DTYPE,
  shape: SHAPE,
});

/** Whether `order` lets streams order themselves; undefined leaves it as it is. */
export function ordersStreams(order: OpenOptions["order"]): boolean | undefined {
  return order === undefined ? undefined : order === "automatic";
}
