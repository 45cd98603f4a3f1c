// Programs that ask for garbage collections: child processes, because the switch for that is Deno's own.

import { assertEquals } from "@std/assert";
import { evaluate } from "./child_deno.ts";
import { ON_GPU } from "./driver.ts";

/** The driver of a program, of the entries alone where that can be: their built files start sooner. */
const DRIVER = ON_GPU
  ? `import { openTestDevice, testDriver } from "./tests/support/driver.ts";`
  : `import { simulateDriver } from "./src/entries/simulated.ts";
     const cudaVersion = Deno.env.get("VRAMKIT_TEST_CUDA");
     const testDriver = () => simulateDriver({ cudaVersion });
     const openTestDevice = () => root.CudaDevice.open(0, { driver: testDriver() });`;

/**
 * Runs the body of a function that has `kit`, `gpu`, `resource` (plain device memory), `testDriver()`,
 * `collect()`, `lost()`, the bytes that are missing on the device since its start, and
 * `growthOf(count, step)`, the bytes by which the heap grows with each of so many steps: the least of
 * several rounds, because what is left of a step is left in all of them. Resolves to the result, and to
 * the lines that the program wrote to stderr.
 */
export async function runWithCollector(
  body: string,
): Promise<{ result: unknown; warnings: string[] }> {
  const { code, stdout, stderr } = await evaluate(
    `import * as root from "./mod.ts";
     import * as memory from "./src/entries/memory.ts";
     ${DRIVER}
     const kit = { ...root, ...memory };
     const gpu = openTestDevice();
     const resource = new kit.CudaMemoryResource(gpu);
     async function collect() { // again and again, as a finalizer lets go of more
       for (let turn = 0; turn < 5; turn++) {
         globalThis.gc();
         await new Promise((resolve) => setTimeout(resolve, 1));
       }
       gpu.synchronizeSync();
       gpu.context.sweep();
     }
     async function growthOf(count, step) {
       const heaps = [];
       for (let round = 0; round < 4; round++) {
         for (let i = 0; i < count; i++) await step(round + " " + i);
         await collect();
         heaps.push(Deno.memoryUsage().heapUsed);
       }
       const growths = heaps.slice(1).map((heap, round) => heap - heaps[round]);
       return Math.round(Math.min(...growths) / count);
     }
     const before = gpu.context.freeBytes();
     const lost = () => before - gpu.context.freeBytes();
     async function body() { ${body} }
     console.log(JSON.stringify(await body()));`,
    { flags: ["--v8-flags=--expose-gc"] },
  );
  assertEquals(code, 0, stderr);
  return { result: JSON.parse(stdout), warnings: stderr.trim().split("\n").filter(Boolean) };
}
