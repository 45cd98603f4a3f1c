// The simulated driver forgets what is over, so that long programs stay small.

import { assertEquals } from "@std/assert";
import { runWithCollector } from "../../support/collector_program.ts";
import { IOTA_PTX } from "../../support/kernels/kernel_driver.ts";
import { inTurn } from "../../support/test_unless.ts";

/** An entry, so that the program starts from built files. */
const SIMULATED = import.meta.resolve("../../../src/entries/simulated.ts");

/** Steps that a program may repeat for days, and how many make a round: until code is compiled, heaps grow. */
const STEPS: Readonly<Record<string, readonly [count: number, step: string]>> = {
  "streams in a chain, waited for now and then": [
    100,
    `
    const stream = gpu.createStream();
    x.fill(1, { stream });
    await gpu.synchronize();
    stream.dispose();
    lostInTurn();`,
  ],
  "graphs that allocate memory": [
    400,
    `
    using graph = gpu.capture((stream) => {
      using part = gpu.alloc("uint32", 64, { stream });
      part.fill(1, { stream });
      x.copyFrom(part, { stream });
    });
    graph.launch();`,
  ],
  "modules whose kernels are launched": [
    400,
    `
    using module = await gpu.loadModule(IOTA_PTX);
    module.kernel("vramkit_iota_u32").launch({ grid: 1, block: 32, args: [x, 64n, 0n, 1n] });`,
  ],
};

for (const [name, [count, step]] of Object.entries(STEPS)) {
  Deno.test(inTurn(`the simulated driver stays as small after many ${name}`), async () => {
    const { result } = await runWithCollector(`
      const { simulateDriver } = await import(${JSON.stringify(SIMULATED)});
      const IOTA_PTX = ${JSON.stringify(IOTA_PTX)};
      console.warn = () => {}; // streams are lost on purpose
      const gpu = kit.CudaDevice.open(0, { driver: simulateDriver() });
      const x = gpu.zeros("uint32", 64);
      const lostInTurn = () => {
        for (let i = 0; i < 8; i++) (() => x.fill(i, { stream: gpu.createStream() }))();
      };
      return await growthOf(${count}, async (number) => {
        { ${step} }
        if (number.endsWith(" ${count - 1}")) await gpu.synchronize();
      });
    `);
    // Bytes a step: unrelated growth of the heap is some tens.
    assertEquals(Number(result) < 250, true, `${result} bytes a step`);
  });
}
