// Turns the driver's "out of memory" into an error that says how much, of what, and who holds it.

import { CUresult } from "../../ffi/constants.ts";
import type { Context } from "../context.ts";
import { CudaError, OutOfMemoryError } from "../errors.ts";
import { nameOf } from "../ledger.ts";

/** The five largest live buffers are named when memory runs out. */
const NAMED_BLOCKS = 5;

/**
 * Runs something that takes `byteLength` bytes of a device's memory.
 *
 * @throws OutOfMemoryError with all amounts when the driver says that there is too little.
 */
export function explainShortage<T>(context: Context, byteLength: number, take: () => T): T {
  try {
    return take();
  } catch (error) {
    const isShortage = error instanceof CudaError && !(error instanceof OutOfMemoryError) &&
      error.code === CUresult.CUDA_ERROR_OUT_OF_MEMORY;
    throw isShortage ? outOfMemory(context, byteLength, error.call) : error;
  }
}

/** Describes a lack of memory with the amounts that explain it. */
export function outOfMemory(
  context: Context,
  requestedBytes: number,
  call: string,
): OutOfMemoryError {
  const { ledger, ordinal, totalBytes } = context;
  return new OutOfMemoryError({
    ordinal,
    requestedBytes,
    freeBytes: context.freeBytes(),
    totalBytes,
    liveBytes: ledger.liveBytes,
    liveCount: ledger.liveCount,
    largest: ledger.largest(NAMED_BLOCKS).map((entry) => ({
      name: nameOf(entry),
      byteLength: entry.byteLength,
    })),
  }, call);
}
