// Calls that take a body refuse generator functions: to call one runs none of its lines.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { CudaDevice, type CudaGraph } from "../../mod.ts";
import { simulateDriver } from "../../src/entries/simulated.ts";
import { withoutLeaks } from "../../src/entries/testing.ts";
import { testDriver } from "../support/driver.ts";

/** Calls that take a body, each given one that the compiler would refuse. */
const CALLS: Record<string, (gpu: CudaDevice, body: never) => unknown> = {
  scope: (gpu, body) => gpu.scope(body),
  slot: (gpu, body) => gpu.slot("a", body),
  capture: (gpu, body) => gpu.capture(body),
  update: (gpu, body) => {
    using graph: CudaGraph = gpu.capture(() => {});
    graph.update(body);
  },
  time: (gpu, body) => gpu.time(body),
  withResource: (gpu, body) => gpu.withResource(gpu.memoryResource, body),
  withPinnedResource: (gpu, body) => gpu.withPinnedResource(gpu.pinnedMemoryResource, body),
  traceOverlap: (gpu, body) => gpu.traceOverlap(body),
  withoutLeaks: (gpu, body) => withoutLeaks(gpu, body),
  batch: async (_, body) => {
    using gpus = CudaDevice.openMany([0], { driver: simulateDriver() });
    await using group = await gpus.group();
    await group.batch(body);
  },
  map: (_, body) => {
    using gpus = CudaDevice.openMany([0], { driver: testDriver() });
    return gpus.map(body);
  },
};

for (const [name, call] of Object.entries(CALLS)) {
  Deno.test(`${name}() refuses a body that is a generator function`, async () => {
    const ran: string[] = [];
    const bodies = [
      function* body() {
        ran.push("a line");
        yield;
      },
      async function* body() {
        ran.push("a line");
        yield await Promise.resolve();
      },
    ];
    for (const body of bodies) {
      using gpu = CudaDevice.open(0, { driver: testDriver() });
      let message = "nothing was thrown";
      try {
        await call(gpu, body as never);
      } catch (error) {
        if (error instanceof TypeError) ({ message } = error);
      }
      assertStringIncludes(message, `Cannot call ${name}() with generator function body`);
      assertStringIncludes(message, "whose call runs nothing: expected a function");
      assertEquals(ran, []);
    }
  });
}
