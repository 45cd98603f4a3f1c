// Arrays of an archive on the GPU, by name.

import type { DeviceBuffer } from "../../buffers/device_buffer.ts";
import type { DType } from "../../dtype.ts";
import { NumpyError } from "../../numpy/npy_header.ts";
import { formatBytes, formatCount, visibleText } from "../../words/format.ts";
import { comesFrom, type Parts, partsOf } from "../../words/parts.ts";
import { LoadedContents } from "../loaded_contents.ts";

/** An archive's contents by name: an array on the GPU, or the error of one not loaded. */
export type NpzContents = ReadonlyMap<string, DeviceBuffer | NumpyError>;

/**
 * Arrays of an archive on the GPU, by name. Disposing it frees all of them. Arrays of types that the
 * kit lacks, such as texts and dates, are named but not loaded.
 */
export class NpzArrays extends LoadedContents<DeviceBuffer | NumpyError, DeviceBuffer> {
  /** @ignore Adopts arrays. */
  constructor(parts: Parts<NpzContents>) {
    super(partsOf(parts, new.target), { whole: "archive", noun: "array" });
  }

  /** The names that were not loaded: {@link NpzArrays.array} throws for them and says why. */
  get unreadable(): readonly string[] {
    return this.names.filter((name) => this.contents.get(name) instanceof NumpyError);
  }

  /**
   * Returns an array by its name; with `dtype` it checks the element type.
   *
   * @throws TypeError when it has another element type.
   * @throws NumpyError when its elements have no type here, or it is no array.
   * @throws RangeError when there is none of that name; the message names some.
   * @throws DisposedError when the arrays were disposed.
   */
  array<D extends DType = DType>(name: string, dtype?: D): DeviceBuffer<NoInfer<D>> {
    const found = this.find(name);
    if (found instanceof NumpyError) throw found;
    return this.checked(name, found, dtype) as DeviceBuffer<D>;
  }

  /** Iterates over the names and arrays that were loaded. */
  *[Symbol.iterator](): IterableIterator<[name: string, array: DeviceBuffer]> {
    for (const [name, found] of this.contents) {
      if (!(found instanceof NumpyError)) yield [name, found];
    }
  }

  /** Returns the name for messages: `NpzArrays(3 arrays, 2 GiB)`. */
  override toString(): string {
    const arrays = [...this];
    const byteLength = arrays.reduce((sum, [, array]) => sum + array.byteLength, 0);
    return `NpzArrays(${formatCount(arrays.length, "array")}, ${formatBytes(byteLength)})`;
  }

  /** Returns the text that the console shows: the arrays by name. */
  [Symbol.for("Deno.customInspect")](): string {
    const texts = [...this.contents].map(([name, found]) =>
      `${visibleText(name)}: ${found instanceof NumpyError ? "unreadable" : found}`
    );
    return `NpzArrays(${texts.join(", ")})${this.disposed ? " disposed" : ""}`;
  }

  /** @ignore Lists the arrays. */
  protected memory(): readonly DeviceBuffer[] {
    return [...this].map(([, array]) => array);
  }
}

comesFrom(NpzArrays, "loadNpz()");
