// Host values into a part of a buffer, by TypedArray.set's rules.

import type { DType } from "../dtype.ts";
import { isKernelMemory } from "../launch/kernel_memory.ts";
import type { HostMemory } from "../transfer/host_memory.ts";
import { TRANSFER_CHOICE, type TransferChoice } from "../transfer/transfer_choice.ts";
import { DisposedError } from "../words/errors.ts";
import { describeNumber, describeValue } from "../words/format.ts";
import { elementCountOf, hostSource } from "./host_elements.ts";
import { type HostValues, isHostMemory, packValues } from "./host_values.ts";

/** A buffer, as far as it matters here. */
interface Settable {
  readonly dtype: DType;
  readonly length: number;
  readonly disposed: boolean;
  subarray(start: number, end: number): {
    upload(source: never, options: TransferChoice): Promise<unknown>;
  };
  toString(): string;
}

/** The values, and where they go. */
export interface ElementSetting {
  /** A typed array or bytes, or plain numbers. */
  readonly source: HostMemory | HostValues;
  /** Index of the first element that is written. */
  readonly offset: number;
}

/**
 * Copies host values into the elements from an offset on; resolves when they are there.
 *
 * @throws RangeError when they do not fit in, also a number that the element type does not hold.
 * @throws TypeError for an array of another type, and for a buffer.
 */
export async function setElements(
  buffer: Settable,
  { source, offset }: ElementSetting,
  options: TransferChoice,
): Promise<void> {
  TRANSFER_CHOICE.read(options, "set");
  if (buffer.disposed) throw new DisposedError(buffer.toString());
  const action = { toString: () => `set elements of ${buffer}` };
  if (isKernelMemory(source)) {
    throw new TypeError(`Cannot ${action} to ${source}: use x.subarray(offset, end).copyFrom(y)`);
  }
  const { dtype, length } = buffer;
  const values = isHostMemory(source)
    ? source
    : packValues(requireIterable(source, action), dtype).array;
  const count = elementCountOf(dtype, values, action);
  hostSource({ dtype, length: count }, values, action); // says first when the type is another
  const isWhole = Number.isInteger(offset) && Number.isInteger(count);
  if (!isWhole || offset < 0 || offset + count > length) {
    throw new RangeError(
      `Cannot ${action} from ${describeNumber(offset)} on: it has ${length}, the source ${count}`,
    );
  }
  await buffer.subarray(offset, offset + count).upload(values as never, options);
}

function requireIterable(source: HostValues, action: { toString(): string }): HostValues {
  if (typeof source === "object" && typeof source?.[Symbol.iterator] === "function") return source;
  throw new TypeError(
    `Cannot ${action} to ${describeValue(source)}: expected a typed array, an array or an ` +
      `iterable of numbers`,
  );
}
