// Reads and writes of single elements. Each is a transfer of its own and waits for the GPU: fine
// for looking at a result, a thousand times too slow for a loop.

import type { MemorySpan } from "../copies/copy.ts";
import { type DType, elementBytes, packLength, type ScalarOf } from "../dtype.ts";
import type { CudaStream } from "../order/stream.ts";
import { transfer } from "../transfer/host_transfer.ts";
import { scalarsIn } from "./element.ts";

interface ElementPlace<D extends DType> {
  /** The memory of the whole buffer. */
  readonly span: MemorySpan;
  readonly dtype: D;
  readonly index: number;
  /** Stream whose earlier work comes first. */
  readonly stream: CudaStream;
}

export async function readElement<D extends DType>(place: ElementPlace<D>): Promise<ScalarOf<D>> {
  const { dtype, stream, index } = place;
  const span = spanOf(place);
  const memory = new Uint8Array(span.byteLength);
  await transfer({ direction: "download", stream, span, host: { memory } });
  return scalarsIn(dtype, memory)[index % packLength(dtype)] as ScalarOf<D>;
}

/** Writes one element, by its bytes; resolves when it is on the device. */
export async function writeElement(
  place: ElementPlace<DType>,
  memory: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const { stream } = place;
  await transfer({ direction: "upload", stream, span: spanOf(place), host: { memory } });
}

/** The bytes of an element, and of those that share them. */
function spanOf({ span, dtype, index }: ElementPlace<DType>): MemorySpan {
  const length = packLength(dtype);
  const byteLength = length * elementBytes(dtype);
  const { allocation, address } = span;
  const offset = Math.floor(index / length) * byteLength;
  return { allocation, address: address + BigInt(offset), byteLength };
}
