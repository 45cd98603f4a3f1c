// Checks the safety net of garbage collection, in child processes that can ask for a collection:
// what nobody disposed is given back once, with one warning, and nothing that is in use is.

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { testWithCollector } from "../../support/collector_program.ts";

/** A driver whose context nothing else in the suite keeps open. */
const SIMULATED = import.meta.resolve("../../../src/entries/simulated.ts");

testWithCollector(
  "watch() gives a lost buffer back, with one warning that names it",
  `
    (() => { gpu.alloc("uint8", 2 ** 24, { resource, label: "lost" }); })();
    await collect();
    await collect();
    return [gpu.live().count, lost()];
  `,
  ({ result, warnings }) => {
    assertEquals(result, [0, 0]);
    assertEquals(warnings.length, 1);
    assertMatch(
      warnings[0] ?? "",
      /^vramkit: lost \(16 MiB of device memory\) made at \[eval\]:\d+:\d+ was garbage-collected/,
    );
    assertStringIncludes(warnings[0] ?? "", 'use "using", dispose() or gpu.scope()');
  },
);

testWithCollector(
  "watch() gives lost buffers back after an interrupt that dropped the turn's end",
  `
    const { queueMicrotask } = globalThis;
    globalThis.queueMicrotask = () => {}; // V8 empties the queue when a cell is interrupted
    (() => { gpu.alloc("uint8", 2 ** 24, { resource, label: "lost" }); })();
    globalThis.queueMicrotask = queueMicrotask;
    const { now } = Date;
    Date.now = () => now() + 5000;
    gpu.alloc("uint8", 2 ** 24, { resource }).dispose();
    await collect();
    return [gpu.live().count, lost()];
  `,
  ({ result, warnings }) => {
    assertEquals([result, warnings.length], [[0, 0], 1]);
  },
);

testWithCollector(
  "watch() says nothing about a buffer that was disposed",
  `
    (() => { gpu.alloc("uint8", 2 ** 24, { resource }).dispose(); })();
    await collect();
    return [gpu.live().count, lost()];
  `,
  ({ result, warnings }) => {
    assertEquals([result, warnings], [[0, 0], []]);
  },
);

testWithCollector(
  "watch() keeps a block while only a view of it is left",
  `
    const view = (() => gpu.zeros("uint32", 1024, { resource }).subarray(1000))();
    await collect();
    const alive = view.fill(7).downloadSync()[0];
    return [alive, gpu.live().count];
  `,
  ({ result, warnings }) => {
    assertEquals([result, warnings], [[7, 1], []]);
  },
);

testWithCollector(
  "watch() keeps pinned memory while only its array is left",
  `
    const array = (() => gpu.pinned("uint32", 1024).array.fill(5))();
    await collect();
    return [array[1023], array.length, gpu.live().count];
  `,
  ({ result, warnings }) => {
    assertEquals([result, warnings], [[5, 1024, 1], []]);
  },
);

testWithCollector(
  "watch() gives lost pinned memory back",
  `
    (() => { gpu.pinned("uint32", 2 ** 20, { label: "mirror" }).array.fill(5); })();
    await collect();
    return gpu.live().count;
  `,
  ({ result, warnings }) => {
    assertEquals([result, warnings.length], [0, 1]);
    assertStringIncludes(warnings[0] ?? "", "mirror (4 MiB of pinned memory)");
  },
);

testWithCollector(
  "watch() gives back a buffer whose device was disposed",
  `
    const { simulateDriver } = await import(${JSON.stringify(SIMULATED)});
    const other = kit.CudaDevice.open(0, { driver: simulateDriver() });
    const held = other.context;
    (() => { other.alloc("uint8", 1024); other.dispose(); })();
    await collect();
    return held.released;
  `,
  ({ result }) => {
    assertEquals(result, true);
  },
);

testWithCollector(
  "HandleRecord gives lost streams and events back",
  `
    (() => { gpu.createStream(); gpu.createEvent(); })();
    const made = gpu.live().count;
    await collect();
    return [made, gpu.live().count];
  `,
  ({ result, warnings }) => {
    assertEquals([result, warnings], [[2, 0], []]);
  },
);

testWithCollector(
  "A transfer keeps its arrays and its buffer when the program drops them",
  `
    const pending = (() => {
      const buffer = gpu.alloc("uint32", 2 ** 20, { resource });
      return buffer.upload(new Uint32Array(2 ** 20).fill(3));
    })();
    await collect();
    const buffer = await pending;
    const back = buffer.downloadSync();
    buffer.dispose();
    return [back[0], back.at(-1), gpu.live().count];
  `,
  ({ result }) => {
    assertEquals(result, [3, 3, 0]);
  },
);

testWithCollector(
  "CachingResourceAdaptor that nobody disposed gives its memory back",
  `
    (() => {
      const cache = new kit.CachingResourceAdaptor(resource);
      gpu.alloc("uint8", 2 ** 24, { resource: cache }).dispose();
    })();
    const kept = lost();
    const { caches } = gpu.context.ledger;
    const count = caches.size;
    await collect();
    return [kept, lost() < 2 ** 20, count - caches.size]; // a driver takes some memory of its own
  `,
  ({ result }) => {
    assertEquals(result, [2 ** 24, true, 1]);
  },
);

testWithCollector(
  "PooledPinnedHostMemoryResource and pools that nobody disposed are given back",
  `
    const { caches } = gpu.context.ledger;
    const count = caches.size;
    (() => {
      const pinned = new kit.PooledPinnedHostMemoryResource(gpu);
      gpu.pinned("uint8", 4096, { resource: pinned }).dispose();
      const pool = new kit.CudaAsyncMemoryResource(gpu, { releaseThresholdSize: "1 GiB" });
      gpu.alloc("uint8", 2 ** 24, { resource: pool }).dispose();
    })();
    await collect();
    return [lost() < 2 ** 24, gpu.live().count, caches.size - count];
  `,
  ({ result }) => {
    assertEquals(result, [true, 0, 0]);
  },
);

testWithCollector(
  "CudaDevice.track() that was dropped ends with its collection",
  `
    const kept = gpu.track("kept");
    (() => { gpu.track("dropped"); })();
    const scope = () => {
      using buffer = gpu.alloc("uint8", 64);
      return gpu.live().objects[0].scope;
    };
    const before = scope();
    await collect();
    return [before, scope(), kept.totalCount];
  `,
  ({ result, warnings }) => {
    assertEquals([result, warnings], [["dropped", "kept", 2], []]);
  },
);
