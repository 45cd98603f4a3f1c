// Streams that the garbage collector takes: nothing of the driver's stays, and their work is waited for.

import { assertEquals } from "@std/assert";
import { runWithCollector } from "../../support/collector_program.ts";

Deno.test("a lost stream gives back the mark that other streams waited for", async () => {
  const { result } = await runWithCollector(`
    const api = testDriver();
    const counts = { made: 0, gone: 0 };
    const counted = kit.CudaDevice.open(0, { driver: {
      ...api,
      cuEventCreate: (...args) => { counts.made++; return api.cuEventCreate(...args); },
      cuEventDestroy_v2: (...args) => { counts.gone++; return api.cuEventDestroy_v2(...args); },
    } });
    const x = counted.zeros("uint32", 64);
    for (let i = 0; i < 50; i++) (() => x.fill(i, { stream: counted.createStream() }))();
    x.fill(50);
    await counted.synchronize();
    const isUsed = counts.made >= 50;
    await collect();
    const value = await x.at(0);
    x.dispose();
    counted.dispose();
    return [isUsed, value, counts.made - counts.gone];
  `);
  assertEquals(result, [true, 50, 0]);
});
