// Host values into a part of a buffer, by TypedArray.set's rules.

import type { MemorySpan } from "../copies/copy.ts";
import type { Context } from "../driver/context.ts";
import { type DType, elementBytes, type HostArray, insideByte } from "../dtype.ts";
import { isKernelMemory } from "../launch/kernel_memory.ts";
import { type HostMemory, isHostMemory, moving } from "../memory/host_memory.ts";
import { finishUses } from "../memory/in_order.ts";
import { defaultStreamOf } from "../order/stream.ts";
import { finishWritesInto } from "../transfer/host_transfer.ts";
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
interface ElementSetting {
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

/** Checks values and their place, and packs them; throws as {@link setElements} does. */
function checkedSetting(
  buffer: Omit<Settable, "subarray">,
  { source, offset }: ElementSetting,
): { readonly values: HostMemory; readonly start: number; readonly end: number } {
  if (buffer.disposed) throw new DisposedError(buffer.toString());
  const action = moving("set elements of", buffer);
  if (isKernelMemory(source)) {
    throw new TypeError(`Cannot ${action} to ${source}: use x.subarray(offset, end).copyFrom(y)`);
  }
  const { dtype, length } = buffer;
  const values = isHostMemory(source)
    ? source
    : packValues(requireIterable(source, action), dtype).array;
  const count = elementCountOf(dtype, values, action);
  hostSource({ dtype, length: count }, values, action); // says first when the type is another
  const each = elementBytes(dtype);
  if (!Number.isInteger(count)) {
    const words = `they do not divide into elements of ${each} bytes`;
    throw new RangeError(`Cannot ${action} to ${count * each} bytes: ${words}`);
  }
  if (!Number.isInteger(offset) || offset < 0 || offset + count > length) {
    throw new RangeError(
      `Cannot ${action} from ${describeNumber(offset)} on: it has ${length}, the source ${count}`,
    );
  }
  if (offset * each % 1 !== 0 || count * each % 1 !== 0) throw insideByte(dtype, `${action}`);
  return { values, start: offset, end: offset + count };
}

/**
 * Writes host values into memory of the CPU once earlier calls, and the GPU, are done with it and with the
 * array that they come from; reads none of it. Throws as {@link setElements} does.
 *
 * @throws TypeError when such a call needs the event loop.
 */
export function writeElements(
  buffer: Omit<Settable, "subarray"> & { readonly context: Context; readonly span: MemorySpan },
  setting: ElementSetting & {
    /** The elements as the CPU sees them. */
    readonly array: HostArray;
  },
): void {
  const { values, start, end } = checkedSetting(buffer, setting);
  const { dtype } = buffer;
  const each = elementBytes(dtype);
  const length = end - start;
  const action = moving("set elements of", buffer);
  const { memory, convert = () => memory } = hostSource({ dtype, length }, values, action);
  const { buffer: to, byteOffset, byteLength: shownBytes } = setting.array;
  if (shownBytes < buffer.length * each) throw new DisposedError(buffer.toString()); // by what gave values
  if (length === 0) return;
  const { allocation, address } = buffer.span;
  const stream = defaultStreamOf(buffer.context);
  const place = { address: address + BigInt(start * each), byteLength: length * each };
  finishUses({ allocation, ...place, access: "write" }, stream, action);
  finishWritesInto(memory, stream, action);
  const bytes = convert();
  new Uint8Array(to, byteOffset + start * each, bytes.byteLength).set(bytes);
}

function requireIterable(source: HostValues, action: { toString(): string }): HostValues {
  if (isIterable(source)) return source;
  throw new TypeError(
    `Cannot ${action} to ${describeValue(source)}: expected a typed array, an array or an ` +
      `iterable of numbers`,
  );
}
