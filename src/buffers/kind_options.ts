// Options for the kinds of memory other than plain device memory.

import { DTYPE, type DType } from "../dtype.ts";
import type { MappedMemoryOptions } from "../memory/mapped_host_memory_resource.ts";
import { type MemoryResource, RESOURCE } from "../memory/memory_resource.ts";
import { FLAG, OptionSet, SHAPE, SIZE } from "../words/options.ts";
import { ALLOCATE_KINDS, type AllocateOptions } from "./device_allocator.ts";
import type { GrowableOptions } from "./growable_buffer.ts";
import { PLACE_KINDS, type PlaceOptions } from "./place_options.ts";
import type { RegisterOptions } from "./registered_buffer.ts";

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
