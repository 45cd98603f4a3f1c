// Driver calls that fill memory with a pattern, simulated.
// All of them are one fill: a width of element, a number of elements, a number of rows.

import type { Machine } from "../model/machine.ts";
import { queueFill } from "../work/fills.ts";
import type { CallGroup } from "./calls.ts";

type FillCalls = CallGroup<`cuMemset${string}`>;

/** Makes the calls for a machine. */
export function fillCalls(machine: Machine): FillCalls {
  return {
    cuMemsetD8Async(address, value, elementCount, stream) {
      fill({ address, value, elementBytes: 1, elementCount, stream });
    },
    cuMemsetD16Async(address, value, elementCount, stream) {
      fill({ address, value, elementBytes: 2, elementCount, stream });
    },
    cuMemsetD32Async(address, value, elementCount, stream) {
      fill({ address, value, elementBytes: 4, elementCount, stream });
    },
    cuMemsetD2D8Async(address, pitch, value, elementCount, rowCount, stream) {
      fill({ address, pitch, value, elementBytes: 1, elementCount, rowCount, stream });
    },
    cuMemsetD2D16Async(address, pitch, value, elementCount, rowCount, stream) {
      fill({ address, pitch, value, elementBytes: 2, elementCount, rowCount, stream });
    },
    cuMemsetD2D32Async(address, pitch, value, elementCount, rowCount, stream) {
      fill({ address, pitch, value, elementBytes: 4, elementCount, rowCount, stream });
    },
  };

  function fill(options: {
    address: bigint;
    value: number;
    elementBytes: number;
    elementCount: bigint;
    rowCount?: bigint;
    pitch?: bigint;
    stream: bigint;
  }): void {
    const { address, value, elementBytes, rowCount = 1n, pitch } = options;
    queueFill(machine, machine.workStream(options.stream), {
      address,
      value,
      elementBytes,
      elementCount: Number(options.elementCount),
      rowCount: Number(rowCount),
      ...(pitch === undefined ? {} : { pitchBytes: Number(pitch) }),
    });
  }
}
