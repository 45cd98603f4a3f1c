// Reads and writes of single elements. Each is a transfer of its own and waits for the GPU: right
// for looking at a result, a thousand times too slow for a loop.

import { type DType, elementBytes, type ScalarOf } from "../dtype.ts";
import type { CudaStream } from "../stream.ts";
import type { MemorySpan } from "../transfer/copy.ts";
import { transfer } from "../transfer/host_transfer.ts";
import { elementOf, scalarOf } from "./element.ts";

/** One element of a buffer. */
export interface ElementPlace<D extends DType> {
  /** The memory of the whole buffer. */
  readonly span: MemorySpan;
  /** The element type. */
  readonly dtype: D;
  /** Which element. */
  readonly index: number;
  /** The stream whose earlier work comes first. */
  readonly stream: CudaStream;
}

/** Reads one element; resolves when it is there. */
export async function readElement<D extends DType>(place: ElementPlace<D>): Promise<ScalarOf<D>> {
  const { span, dtype, stream } = place;
  const bytes = new Uint8Array(elementBytes(dtype));
  span.allocation.order(stream, "read");
  await transfer({ direction: "download", stream, address: addressOf(place), bytes });
  return scalarOf(dtype, bytes);
}

/**
 * Writes one element; resolves when it is there.
 *
 * @throws TypeError when the value does not fit the element type.
 */
export async function writeElement<D extends DType>(
  place: ElementPlace<D>,
  value: ScalarOf<D> | boolean,
): Promise<void> {
  const { span, dtype, stream } = place;
  const bytes = elementOf(dtype, value);
  span.allocation.order(stream, "write");
  await transfer({ direction: "upload", stream, address: addressOf(place), bytes });
}

function addressOf({ span, dtype, index }: ElementPlace<DType>): bigint {
  return span.address + BigInt(index * elementBytes(dtype));
}
