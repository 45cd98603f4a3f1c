// The kit's kernels that copy between strided layouts, as the simulated driver runs them.

import type { SimulatedKernel } from "../options.ts";
import type { Launch } from "./kernel.ts";
import { gather, scatter } from "./strided_memory.ts";

/** The kernels by name; one of them does on a GPU what another does slowly. */
export const STRIDED_KERNELS: Readonly<Record<string, SimulatedKernel>> = {
  vramkit_strided_copy: stridedCopy(8),
  vramkit_strided_transpose: stridedCopy(8),
  vramkit_strided_axes: stridedCopy(64),
};

/** Makes a kernel for layouts of so many axes. Behind their sizes and distances come the first elements. */
function stridedCopy(axisCount: number): SimulatedKernel {
  const layoutBytes = (3 * axisCount + 2) * 8;
  return {
    parameterBytes: [8, 8, 8, 4, layoutBytes],
    run(launch: Launch) {
      const { parameters } = launch;
      const layout = parameters[4] ?? new DataView(new ArrayBuffer(layoutBytes));
      const numbers = Array.from(
        { length: layoutBytes / 8 },
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
}
