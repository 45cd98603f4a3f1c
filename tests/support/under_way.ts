// Transfers that are under way when their call returns. Smaller ones are over by then, and a test of what
// comes after them would test nothing.

import { assertGreater } from "@std/assert";
import { type CudaStream, queueOf } from "../../src/order/stream.ts";

/** A size that no call moves before it returns. */
export const LATE_BYTES = 20 * 2 ** 20;

/** Checks that calls on a stream are still to have their effects. */
export function requireUnderWay(stream: CudaStream): void {
  assertGreater(queueOf(stream).pending.size, 0, `nothing is under way on ${stream}`);
}
