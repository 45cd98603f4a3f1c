// Options for opening a device and for uploading arrays.

import type { OriginDetail } from "../accounting/origin.ts";
import { DEVICE_KINDS, type DeviceAllocateOptions } from "../buffers/place_options.ts";
import type { Shape } from "../buffers/shape.ts";
import type { DriverChoice } from "../driver/driver.ts";
import { DTYPE, type DType } from "../dtype.ts";
import type { MakeResource } from "../memory/resource_choice.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import { TRANSFER_KINDS } from "../transfer/transfer_choice.ts";
import { TRANSFER_TUNING, type TransferTuning } from "../transfer/ways.ts";
import { ANYTHING, CALLBACK, oneOf, OptionSet, SHAPE, TEXT } from "../words/options.ts";

/** Options for {@link CudaDevice.open}. */
export interface OpenOptions {
  /** Driver to use; NVIDIA's by default. `"auto"` is the simulated one where there is no GPU. */
  readonly driver?: DriverChoice | undefined;
  /** Path of the driver's library, when it lies in an unusual place. */
  readonly libraryPath?: string | undefined;
  /**
   * Order between streams that use the same buffer: kept by the kit (`"automatic"`, the default),
   * or by the program with events (`"manual"`).
   */
  readonly order?: "automatic" | "manual" | undefined;
  /**
   * Amount of detail that `gpu.live()` has about where objects were created: `"sampled"` (large
   * blocks, at a bounded rate, the default), `"line"` (all objects; the default in notebooks),
   * `"stack"`, or `"none"`. The environment variable VRAMKIT_ORIGINS sets the default.
   */
  readonly origins?: OriginDetail | undefined;
  /**
   * Creates the default resource for device memory; the device's stream-ordered pool when left out.
   * The device disposes it, and its upstreams, when it is disposed.
   */
  readonly resource?: MakeResource | undefined;
  /**
   * Creates the default resource for page-locked memory; when left out, each block is pinned and
   * unpinned by itself.
   */
  readonly pinnedResource?: MakeResource | undefined;
  /** Limits of the page-locked memory and the threads that large transfers use. */
  readonly transfers?: TransferTuning | undefined;
}

/** Checks the options above. */
export const OPEN_OPTIONS: OptionSet<OpenOptions> = new OptionSet({
  driver: ANYTHING,
  libraryPath: TEXT,
  order: oneOf("automatic", "manual"),
  origins: oneOf("none", "sampled", "line", "stack"),
  resource: CALLBACK,
  pinnedResource: CALLBACK,
  transfers: TRANSFER_TUNING,
});

/** Options for {@link CudaDevice.upload}. */
export interface UploadOptions<D extends DType> extends DeviceAllocateOptions, TransferOptions {
  /** Element type; that of the array by default, `"float32"` for plain numbers. */
  readonly dtype?: D | undefined;
  /** Size of each axis; one axis by default. */
  readonly shape?: number | Shape | undefined;
}

/** Checks the options above. */
export const UPLOAD_OPTIONS: OptionSet<UploadOptions<DType>> = new OptionSet({
  ...DEVICE_KINDS,
  ...TRANSFER_KINDS,
  dtype: DTYPE,
  shape: SHAPE,
});
