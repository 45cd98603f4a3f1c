// The kit's kernels that copy between strided layouts, as the simulated driver runs them.

import type { SimulatedKernel } from "../options.ts";
import type { Launch } from "./kernel.ts";
import { gather, scatter } from "./strided_memory.ts";

/** Axes of a layout. Behind their sizes and distances come the first elements of both sides. */
const AXIS_COUNT = 8;
const LAYOUT_BYTES = (3 * AXIS_COUNT + 2) * 8;

const strided: SimulatedKernel = {
  parameterBytes: [8, 8, 8, 4, LAYOUT_BYTES],
  run(launch: Launch) {
    const { parameters } = launch;
    const layout = parameters[4] ?? new DataView(new ArrayBuffer(LAYOUT_BYTES));
    const numbers = Array.from(
      { length: LAYOUT_BYTES / 8 },
      (_, at) => Number(layout.getBigInt64(8 * at, true)),
    );
    const sideOf = (side: number) => ({
      address: parameters[side]?.getBigUint64(0, true) ?? 0n,
      elementBytes: parameters[3]?.getUint32(0, true) ?? 1,
      start: numbers[3 * AXIS_COUNT + side] ?? 0,
      sizes: numbers.slice(0, AXIS_COUNT),
      strides: numbers.slice((1 + side) * AXIS_COUNT, (2 + side) * AXIS_COUNT),
    });
    scatter(launch, sideOf(0), gather(launch, sideOf(1)));
  },
};

/** The kernels by name; one of them does on a GPU what the other does slowly. */
export const STRIDED_KERNELS: Readonly<Record<string, SimulatedKernel>> = {
  vramkit_strided_copy: strided,
  vramkit_strided_transpose: strided,
};
