// The kit's kernels that copy between strided layouts, as the simulated driver runs them.

import type { SimulatedKernel } from "../options.ts";
import type { Launch } from "./kernel.ts";
import { gather, scatter } from "./strided_memory.ts";

/** Copies by a layout: sizes and distances of as many axes as fit, then the first words of both sides. */
const strided: SimulatedKernel = {
  run(launch: Launch) {
    const { parameters } = launch;
    const layout = parameters[4] ?? new DataView(new ArrayBuffer(16));
    const axisCount = (layout.byteLength / 8 - 2) / 3;
    const numbers = Array.from(
      { length: layout.byteLength / 8 },
      (_, at) => Number(layout.getBigInt64(8 * at, true)),
    );
    const sideOf = (side: number) => ({
      address: parameters[side]?.getBigUint64(0, true) ?? 0n,
      elementBytes: parameters[3]?.getUint32(0, true) ?? 1,
      start: numbers[3 * axisCount + side] ?? 0,
      sizes: numbers.slice(0, axisCount),
      strides: numbers.slice((1 + side) * axisCount, (2 + side) * axisCount),
    });
    scatter(launch, sideOf(0), gather(launch, sideOf(1)));
  },
};

/** The kernels by name; one of them does on a GPU what another does slowly. */
export const STRIDED_KERNELS: Readonly<Record<string, SimulatedKernel>> = {
  vramkit_strided_copy: strided,
  vramkit_strided_transpose: strided,
  vramkit_strided_axes: strided,
};
