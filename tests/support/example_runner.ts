// Runs the examples of a page, each with fresh names, and fails when one leaves anything allocated.

import type { CudaDevice } from "../../mod.ts";

/** Runs the example of one row. */
export type RunExample<N> = (row: string, body: (names: N) => unknown) => Promise<void>;

/** Returns the function that runs examples on some devices, with names that end with each of them. */
export function exampleRunner<N>(
  gpus: readonly CudaDevice[],
  makeNames: (stack: DisposableStack) => N | Promise<N>,
): RunExample<N> {
  const liveNames = () => gpus.flatMap((gpu) => [...gpu.live()].map(({ name }) => name));
  return async (row, body) => {
    const before = liveNames();
    try {
      using stack = new DisposableStack();
      await body(await makeNames(stack));
    } catch (cause) {
      throw new Error(`The example of ${row} failed`, { cause });
    }
    for (const gpu of gpus) await gpu.synchronize();
    const left = liveNames().filter((name) => !before.includes(name));
    if (left.length > 0) throw new Error(`The example of ${row} leaves ${left.join(", ")}`);
  };
}
