// Streams that the garbage collector takes: nothing of the driver's stays, and they are not asked anything.

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

Deno.test("a lost stream of another library's is not asked for anything, as it may be gone", async () => {
  const { result, warnings } = await runWithCollector(`
    const api = testDriver();
    const asked = [];
    const note = (name) => (...args) => { asked.push(args[0]); return api[name](...args); };
    const counts = { made: 0, gone: 0 };
    const counted = kit.CudaDevice.open(0, { driver: {
      ...api,
      cuStreamQuery: note("cuStreamQuery"),
      cuStreamSynchronize: note("cuStreamSynchronize"),
      cuEventCreate: (...args) => { counts.made++; return api.cuEventCreate(...args); },
      cuEventDestroy_v2: (...args) => { counts.gone++; return api.cuEventDestroy_v2(...args); },
    } });
    const x = counted.zeros("uint32", 64);
    const theirs = counted.createStream();
    const handle = theirs.handle;
    (() => x.fill(1, { stream: kit.CudaStream.fromHandle(handle, { gpu: counted }) }))();
    x.fill(2);
    await counted.synchronize();
    theirs.dispose();
    asked.length = 0;
    await collect();
    const streams = counted.live({ kind: "stream" }).count;
    x.dispose();
    await counted.synchronize();
    counted.dispose();
    return [streams, asked.includes(handle), counts.made - counts.gone];
  `);
  assertEquals([result, warnings], [[0, false, 0], []]);
});

Deno.test("a lost stream has a pool wait for the frees on it", async () => {
  const { result, warnings } = await runWithCollector(`
    const word = gpu.pinned("uint32", 1);
    const streams = () => gpu.live({ kind: "stream" }).count;
    const ends = [];
    for (const ofLibrary of [false, true]) {
      const owner = gpu.createStream();
      const pool = new kit.CudaAsyncMemoryResource(gpu, {});
      word.array[0] = 0;
      (() => {
        const stream = ofLibrary
          ? kit.CudaStream.fromHandle(owner.handle, { gpu })
          : gpu.createStream();
        const x = gpu.alloc("uint8", 4096, { resource: pool, stream });
        gpu.context.driver.call("cuStreamWaitValue32_v2", stream.handle, word.ptr, 1, 1);
        x.dispose();
        pool.dispose();
      })();
      while (streams() > 1) {
        globalThis.gc();
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      const { awaitedCount } = gpu.context.freed;
      word.array[0] = 1;
      gpu.synchronizeSync();
      owner.dispose();
      ends.push([awaitedCount, gpu.context.freed.awaitedCount]);
    }
    word.dispose();
    return ends;
  `);
  assertEquals([result, warnings], [[[1, 0], [1, 0]], []]);
});
