// Occupancy: the share of a GPU's threads that a kernel keeps busy at a time.

import type { Context } from "../driver/context.ts";
import { take32 } from "../driver/driver.ts";
import { describeValue } from "../words/format.ts";
import { NUMBER, OptionSet } from "../words/options.ts";
import { CudaKernel, functionOf } from "./cuda_kernel.ts";

/** Options for {@link CudaDevice.occupancy}. */
export interface OccupancyOptions {
  /** Threads of a block; the size that the driver proposes by default. */
  readonly block?: number | undefined;
  /** Shared memory that each launch requests, in bytes; 0 by default. */
  readonly sharedBytes?: number | undefined;
}

const OCCUPANCY_OPTIONS = new OptionSet<OccupancyOptions>({
  block: NUMBER,
  sharedBytes: NUMBER,
});

/** The share of a GPU that a kernel fills. */
export interface Occupancy {
  /** Threads of a block. */
  readonly block: number;
  /** Blocks that one multiprocessor runs at a time. */
  readonly blocksPerMultiprocessor: number;
  /** Blocks that the whole GPU runs at a time: a grid of fewer leaves a part of it idle. */
  readonly gridToFill: number;
  /** Threads that run at a time, as a fraction of the most possible, from 0 to 1. */
  readonly fraction: number;
}

/**
 * Asks the driver about a kernel (cuOccupancyMaxActiveBlocksPerMultiprocessor).
 *
 * @throws TypeError for a kernel of another device.
 * @throws RangeError for a block that is no whole number.
 */
export function occupancyOf(
  context: Context,
  kernel: CudaKernel,
  options: OccupancyOptions,
): Occupancy {
  const { block, sharedBytes = 0 } = OCCUPANCY_OPTIONS.read(options, "occupancy");
  if (!(kernel instanceof CudaKernel)) {
    throw new TypeError(
      `Cannot call occupancy() with ${describeValue(kernel)}: expected a kernel of gpu.compile()`,
    );
  }
  void kernel.limits; // a disposed one says so
  if (kernel.context !== context) {
    throw new TypeError(
      `Cannot ask device ${context.ordinal} about ${kernel} of device ${kernel.context.ordinal}`,
    );
  }
  for (const [name, value] of Object.entries({ block: block ?? 1, sharedBytes })) {
    const least = name === "block" ? 1 : 0;
    if (Number.isInteger(value) && value >= least && value < 2 ** 31) continue;
    throw new RangeError(
      `Cannot call occupancy(): option "${name}" is ${value}, expected a whole number from ${least}`,
    );
  }
  const { handle } = functionOf(kernel);
  const shared = BigInt(sharedBytes);
  const size = block ?? proposedBlock(context, handle, shared);
  const call = "cuOccupancyMaxActiveBlocksPerMultiprocessor";
  const resident = take32(context, call, handle, size, shared);
  const threads = context.attribute("CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR");
  return {
    block: size,
    blocksPerMultiprocessor: resident,
    gridToFill: resident * context.attribute("CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT"),
    fraction: threads === 0 ? 0 : Math.min(1, resident * size / threads),
  };
}

function proposedBlock(context: Context, handle: bigint, shared: bigint): number {
  const [grid, block] = [new Int32Array(1), new Int32Array(1)];
  context.call("cuOccupancyMaxPotentialBlockSize", grid, block, handle, null, shared, 0);
  return block[0] ?? 0;
}
