// Host values into a part of a buffer, by TypedArray.set's rules.

import { type DType, elementBytes, type HostArray } from "../dtype.ts";
import { isKernelMemory } from "../launch/kernel_memory.ts";
import { type HostMemory, isHostMemory, Moving } from "../memory/host_memory.ts";
import { TRANSFER_CHOICE, type TransferChoice } from "../transfer/transfer_choice.ts";
import { DisposedError } from "../words/errors.ts";
import { describeNumber, describeValue } from "../words/format.ts";
import { isIterable } from "../words/options.ts";
import { elementCountOf, hostSource } from "./host_elements.ts";
import { type HostValues, packValues } from "./host_values.ts";

/** The parts of a buffer that are used here. */
interface Settable {
  readonly dtype: DType;
  readonly length: number;
  readonly disposed: boolean;
  subarray(start: number, end: number): {
    upload(source: never, options: TransferChoice): Promise<unknown>;
  };
  toString(): string;
}

/** Values to write, and their place. */
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
  setting: ElementSetting,
  options: TransferChoice,
): Promise<void> {
  options = TRANSFER_CHOICE.read(options, "set");
  const { values, start, end } = checkedSetting(buffer, setting);
  await buffer.subarray(start, end).upload(values as never, options);
}

/** Values that were checked, and the elements that they become. */
interface CheckedSetting {
  /** The values, packed. */
  readonly values: HostMemory;
  /** The first element. */
  readonly start: number;
  /** The element after the last. */
  readonly end: number;
}

/** Checks values and their place; throws as {@link setElements} does. */
function checkedSetting(
  buffer: Omit<Settable, "subarray">,
  { source, offset }: ElementSetting,
): CheckedSetting {
  if (buffer.disposed) throw new DisposedError(buffer.toString());
  const action = new Moving("set elements of", buffer);
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
  return { values, start: offset, end: offset + count };
}

/** Writes host values into memory of the CPU, reading none; throws as {@link setElements} does. */
export function writeElements(
  buffer: Omit<Settable, "subarray"> & { readonly array: HostArray },
  setting: ElementSetting,
): void {
  const { values, start, end } = checkedSetting(buffer, setting);
  const { dtype } = buffer;
  const length = end - start;
  const { memory, convert = () => memory } = hostSource({ dtype, length }, values, "set elements");
  const { buffer: to, byteOffset, length: shownLength } = buffer.array;
  if (shownLength < buffer.length) throw new DisposedError(buffer.toString()); // by what gave values
  const bytes = convert();
  new Uint8Array(to, byteOffset + start * elementBytes(dtype), bytes.byteLength).set(bytes);
}

function requireIterable(source: HostValues, action: { toString(): string }): HostValues {
  if (isIterable(source)) return source;
  throw new TypeError(
    `Cannot ${action} to ${describeValue(source)}: expected a typed array, an array or an ` +
      `iterable of numbers`,
  );
}
