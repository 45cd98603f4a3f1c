// Page-locked host memory that the GPU uses in place: small results and flags, without a copy.

import { CU_MEMHOSTALLOC } from "../../ffi/constants.ts";
import { take32 } from "../driver/driver.ts";
import type { BitsOf, DType, HostValue, ScalarOf } from "../dtype.ts";
import { addressOf } from "../memory/host_memory.ts";
import type {
  MappedHostMemoryResource,
  MappedMemoryOptions,
} from "../memory/mapped_host_memory_resource.ts";
import { FLAG, OptionSet } from "../words/options.ts";
import { comesFrom } from "../words/parts.ts";
import { warn } from "../words/warning.ts";
import type { Uploadable } from "./gpu_buffer.ts";
import { hostBytesOf } from "./host_buffer.ts";
import type { HostValues } from "./host_values.ts";
import { PinnedBuffer } from "./pinned_buffer.ts";
import { PLACE_KINDS, type PlaceOptions } from "./place_options.ts";
import type { BUFFER_KIND } from "./retyped.ts";
import { writeElements } from "./set_elements.ts";

/** Options for allocating a mapped buffer. */
export interface MappedOptions extends PlaceOptions, MappedMemoryOptions {}

/** The options, by name and kind. */
export const MAPPED_OPTIONS: OptionSet<MappedOptions> = new OptionSet({
  ...PLACE_KINDS,
  portable: FLAG,
  writeCombined: FLAG,
});

/** Blocks for which a warning about slow reads was given. */
const warned = new WeakSet<object>();

/**
 * Page-locked host memory that the GPU uses in place: `array` on the host and `ptr` on the device
 * are the same bytes. Use it for small results and flags; every access by the GPU crosses the bus.
 * {@link CudaDevice.mapped} creates one.
 */
export class MappedBuffer<D extends DType = DType> extends PinnedBuffer<D> {
  /** @ignore Its kind, for types. */
  declare readonly [BUFFER_KIND]: "host pinned mapped";

  /** Resource that allocated the memory; it maps device addresses to host addresses. */
  override get memoryResource(): MappedHostMemoryResource {
    return super.memoryResource as MappedHostMemoryResource;
  }

  /** Tells whether it is write-combined: the CPU writes it fast and reads it many times slower. */
  get isWriteCombined(): boolean {
    return this.memoryResource.isWriteCombined;
  }

  /**
   * The elements as a typed array over the memory itself (bfloat16: its bits); see
   * {@link HostBuffer.array}. Warns once when the memory is write-combined, because the CPU reads it
   * slowly: write with {@link MappedBuffer.set} and read with `download()`, which lets the GPU read
   * it.
   */
  override get array(): BitsOf<D> {
    const array = super.array;
    if (this.isWriteCombined) this.#warn();
    return array;
  }

  /** Copies host values into the elements, without a warning; see {@link HostBuffer.set}. */
  override set(source: Uploadable<D> | HostValues<ScalarOf<D> | HostValue<D>>, offset = 0): this {
    writeElements(this, { source, offset, array: super.array });
    return this;
  }

  /** The flags of the allocation (cuMemHostGetFlags). */
  get flags(): { portable: boolean; mapped: boolean; writeCombined: boolean } {
    const { span, context } = this;
    const flags = span.byteLength === 0
      ? 0
      : take32(context, "cuMemHostGetFlags", addressOf(hostBytesOf(this)));
    const { PORTABLE, DEVICEMAP, WRITECOMBINED } = CU_MEMHOSTALLOC;
    const has = (flag: number) => (flags & flag) !== 0;
    return { portable: has(PORTABLE), mapped: has(DEVICEMAP), writeCombined: has(WRITECOMBINED) };
  }

  #warn(): void {
    const bytes = hostBytesOf(this);
    if (warned.has(bytes)) return;
    warned.add(bytes);
    warn(
      `${this} is write-combined memory: reading its array on the CPU is many times slower ` +
        `than writing it; write with set(), read with download()`,
      { owner: this.context, about: this },
    );
  }
}

comesFrom(MappedBuffer, "gpu.mapped()");
