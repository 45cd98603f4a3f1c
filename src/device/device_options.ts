// How a device is opened and how arrays are uploaded: the options of the front door.

import type { AllocateOptions } from "../buffers/device_allocator.ts";
import type { Shape } from "../buffers/shape.ts";
import type { DriverChoice } from "../driver.ts";
import type { DType } from "../dtype.ts";
import type { MakeResource } from "../memory/resource_choice.ts";
import type { OriginDetail } from "../accounting/origin.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import type { TransferTuning } from "../transfer/tuning.ts";

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

/** How to upload into new memory. */
export interface UploadOptions<D extends DType> extends AllocateOptions, TransferOptions {
  /** The element type; that of the array by default. */
  readonly dtype?: D;
  /** Sizes along each axis; one axis by default. */
  readonly shape?: number | Shape;
}

/**
 * Whether `order` lets streams order themselves; undefined leaves it as it is.
 *
 * @throws TypeError when it is neither `"automatic"` nor `"manual"`.
 */
export function ordersStreams(order: OpenOptions["order"]): boolean | undefined {
  if (order === undefined || order === "automatic") return order && true;
  if (order === "manual") return false;
  throw new TypeError(
    `Cannot open a device with order ${String(order)}: expected "automatic" or "manual"`,
  );
}
