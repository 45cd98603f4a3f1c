// Options of the kinds of memory beside plain device memory.

import { DTYPE, type DType } from "../dtype.ts";
import type { MappedMemoryOptions } from "../memory/mapped_host_memory_resource.ts";
import { type MemoryResource, RESOURCE } from "../memory/memory_resource.ts";
import type { CudaStream } from "../order/stream.ts";
import { STREAM } from "../order/stream_choice.ts";
import { FLAG, OptionSet, SHAPE, SIZE, TEXT } from "../words/options.ts";
import { ALLOCATE_KINDS, type AllocateOptions } from "./device_allocator.ts";
import type { GrowableOptions } from "./growable_buffer.ts";
import type { RegisterOptions } from "./registered_buffer.ts";

/** Options for allocating memory that only one resource can provide. */
export interface PlaceOptions {
  /**
   * Stream that uses the memory first and on which it is freed; the device's default stream by
   * default.
   */
  readonly stream?: CudaStream | undefined;
  /** Name shown in tables, errors and plots. */
  readonly label?: string | undefined;
}

const PLACE_KINDS = { stream: STREAM, label: TEXT } as const;

/** The options, by name and kind. */
export const PLACE_OPTIONS: OptionSet<PlaceOptions> = new OptionSet(PLACE_KINDS);

/** Options for allocating a staged buffer. */
export interface StagedOptions extends AllocateOptions {
  /** Resource that allocates the page-locked half; the device's default one when left out. */
  readonly pinnedResource?: MemoryResource | undefined;
}

/** The options, by name and kind. */
export const STAGED_OPTIONS: OptionSet<StagedOptions> = new OptionSet({
  ...ALLOCATE_KINDS,
  pinnedResource: RESOURCE,
});

/** Options for allocating a mapped buffer. */
export interface MappedOptions extends PlaceOptions, MappedMemoryOptions {}

/** The options, by name and kind. */
export const MAPPED_OPTIONS: OptionSet<MappedOptions> = new OptionSet({
  ...PLACE_KINDS,
  portable: FLAG,
  writeCombined: FLAG,
});

/** The options, by name and kind. */
export const GROWABLE_OPTIONS: OptionSet<GrowableOptions> = new OptionSet({
  ...PLACE_KINDS,
  reserveSize: SIZE,
  stepSize: SIZE,
  shape: SHAPE,
});

/** The options, by name and kind. */
export const REGISTER_OPTIONS: OptionSet<RegisterOptions<DType>> = new OptionSet({
  ...PLACE_KINDS,
  dtype: DTYPE,
  shape: SHAPE,
  portable: FLAG,
  readOnly: FLAG,
});
