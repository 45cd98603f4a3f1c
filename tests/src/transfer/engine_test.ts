// Checks the transfer engine at every border of pieces, slots and slabs, and many transfers at once.

import { assertEquals, assertFalse, assertGreater, assertStrictEquals } from "@std/assert";
import type { CudaDevice } from "../../../src/device/device.ts";
import { nextTurn } from "../../../src/order/waiting.ts";
import { engineOf, tuneEngine } from "../../../src/transfer/context_engine.ts";
import { BusyThreads } from "../../support/busy_threads.ts";
import { evaluate } from "../../support/child_deno.ts";
import { assertSameBytes, patternBytes } from "../../support/contents.ts";
import { testDriver } from "../../support/driver.ts";
import { inTime } from "../../support/in_time.ts";
import { inTurn, testOnLinux } from "../../support/test_unless.ts";
import { keepLanes, TINY_LIMITS, TinyEngine } from "../../support/tiny_engine.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

/** A size that the ring is for. */
const LARGE_BYTES = 20 * 2 ** 20 + 5;

/** One driver, whose lanes run from test to test. */
const driver = testDriver();
keepLanes(driver, TINY_LIMITS);

function testOnDriver(name: string, body: (gpu: CudaDevice) => unknown): void {
  Deno.test(name, () => withDevice(body, { driver }));
}

/** Around one piece, one slab, all slots, and several times all slots. */
const SIZES = [1, 4095, 4096, 4097, 8192, 8193, 16383, 16384, 16385, 50_000, 131_072];

for (const [slotBytes, slotCount] of [[1000, 4], [4096, 4], [1000, 64]] as const) {
  const limits = { ...TINY_LIMITS, slotBytes, slotCount };
  const pieces = `${slotCount} slots of ${slotBytes} bytes`;

  testOnDriver(`TransferEngine moves every byte both ways in ${pieces}`, async (gpu) => {
    using engine = new TinyEngine(gpu, limits);
    for (const size of SIZES) {
      using buffer = gpu.alloc("uint8", size);
      await engine.upload(buffer, patternBytes(size, size));
      assertSameBytes(await engine.download(buffer), patternBytes(size, size));
    }
  });

  testOnDriver(`TransferEngine, blocking, moves every byte both ways in ${pieces}`, (gpu) => {
    using engine = new TinyEngine(gpu, limits);
    for (const size of SIZES) {
      using buffer = gpu.alloc("uint8", size);
      engine.uploadSync(buffer, patternBytes(size, size));
      assertSameBytes(engine.downloadSync(buffer), patternBytes(size, size));
    }
  });
}

testOnDriver("TransferEngine serves many transfers both ways at once", async (gpu) => {
  using engine = new TinyEngine(gpu);
  using buffers = new DisposableStack();
  const made = Array.from({ length: 24 }, () => buffers.use(gpu.alloc("uint8", 30_000)));
  for (const [seed, buffer] of made.entries()) buffer.uploadSync(patternBytes(30_000, seed));
  await Promise.all(made.map(async (buffer, seed) => {
    if (seed % 2 === 0) await engine.upload(buffer, patternBytes(30_000, seed + 100));
    else assertSameBytes(await engine.download(buffer), patternBytes(30_000, seed));
  }));
  for (const [seed, buffer] of made.entries()) {
    const expected = patternBytes(30_000, seed % 2 === 0 ? seed + 100 : seed);
    assertSameBytes(buffer.downloadSync(), expected);
  }
});

testOnLinux(
  "threads that kept arrays and are late hold up no small transfer and no stream",
  () =>
    withDevice(async (gpu) => {
      using engine = new TinyEngine(gpu);
      await engineOf(gpu.context).runLanes();
      using large = gpu.alloc("uint8", 100_000);
      using small = gpu.alloc("uint8", 100);
      const busy = new BusyThreads();
      let isLargeOver = false;
      const moving = engine.upload(large, patternBytes(100_000, 1)).then(() => isLargeOver = true);
      try {
        await nextTurn(); // threads keep the array from here on
        assertSameBytes(large.downloadSync(), patternBytes(100_000, 1));
        await inTime(20, small.upload(patternBytes(100, 2)));
        await inTime(20, gpu.stream.synchronize());
        assertFalse(isLargeOver, "no thread was late");
      } finally {
        await busy[Symbol.asyncDispose]();
        await moving;
      }
      assertSameBytes(small.downloadSync(), patternBytes(100, 2));
    }, { driver }),
);

for (const hasLanes of [true, false]) {
  const threads = hasLanes ? "lanes" : "lent threads";

  Deno.test(`TransferEngine, blocking, works while ${threads} serve awaited transfers`, () =>
    withDevice(async (gpu) => {
      using engine = new TinyEngine(gpu, TINY_LIMITS, { hasLanes });
      using first = gpu.alloc("uint8", 60_000);
      using second = gpu.alloc("uint8", 60_000);
      const uploading = engine.upload(first, patternBytes(60_000, 1));
      engine.uploadSync(second, patternBytes(60_000, 2));
      await uploading;
      assertSameBytes(first.downloadSync(), patternBytes(60_000, 1));
      assertSameBytes(second.downloadSync(), patternBytes(60_000, 2));
    }, { driver }));

  testOnDriver(`TransferEngine moves every byte both ways by ${threads}`, async (gpu) => {
    using engine = new TinyEngine(gpu, TINY_LIMITS, { hasLanes });
    using buffer = gpu.alloc("uint8", 131_072);
    for (let seed = 0; seed < 5; seed++) {
      await engine.upload(buffer, patternBytes(131_072, seed));
      assertSameBytes(await engine.download(buffer), patternBytes(131_072, seed));
    }
  });
}

for (const direction of ["upload", "download"] as const) {
  Deno.test(`TransferEngine reports the progress of an ${direction} upwards to the end`, () =>
    withDevice(async (gpu) => {
      using engine = new TinyEngine(gpu);
      using buffer = gpu.zeros("uint8", 50_000);
      const seen: number[] = [];
      const onProgress = (done: number, total: number) => {
        assertEquals(total, 50_000);
        seen.push(done);
      };
      if (direction === "upload") {
        await engine.upload(buffer, new Uint8Array(50_000), { onProgress });
      } else await engine.download(buffer, { onProgress });
      assertGreater(seen.length, 3);
      assertEquals(seen, seen.toSorted((a, b) => a - b));
      assertEquals([new Set(seen).size, seen.at(-1)], [seen.length, 50_000]);
    }, { driver }));
}

testOnDriver("TransferEngine lets timers fire", async (gpu) => {
  using engine = new TinyEngine(gpu);
  using buffer = gpu.alloc("uint8", 4_000_000);
  let ticks = 0;
  const timer = setInterval(() => ticks++, 0);
  await engine.upload(buffer, patternBytes(4_000_000));
  clearInterval(timer);
  assertGreater(ticks, 0);
});

testOnDriver("TransferEngine.dispose() gives the ring's memory back", async (gpu) => {
  const engine = new TinyEngine(gpu);
  using buffer = gpu.alloc("uint8", 50_000);
  await engine.upload(buffer, patternBytes(50_000));
  assertEquals(cachedBytes(gpu), TINY_LIMITS.slotBytes * TINY_LIMITS.slotCount);
  engine[Symbol.dispose]();
  assertEquals(cachedBytes(gpu), 0);
});

Deno.test(inTurn("CopyLanes do not keep a program running"), async () => {
  const { code, stdout, stderr } = await evaluate(`
    import { openTestDevice } from "./tests/support/driver.ts";
    import { TinyEngine } from "./tests/support/tiny_engine.ts";
    const gpu = openTestDevice();
    const engine = new TinyEngine(gpu);
    const buffer = gpu.alloc("uint8", 2 ** 20);
    await engine.upload(buffer, new Uint8Array(2 ** 20).fill(1));
    console.log((await engine.download(buffer)).every((byte) => byte === 1));
  `);
  assertEquals([code, stdout.trim(), stderr], [0, "true", ""]);
});

Deno.test(
  inTurn("large transfers are right before lanes run, while they start, and by lanes"),
  () =>
    withDevice(async (gpu) => {
      tuneEngine(gpu.context, { laneCount: 7, ringFromSize: "4 MiB" });
      using buffer = gpu.alloc("uint8", LARGE_BYTES);
      const array = new Uint8Array(LARGE_BYTES);
      let isStarted = false;
      let after = 0;
      for (let round = 0; after < 3; round++) {
        const [sent, others] = [patternBytes(LARGE_BYTES, round), patternBytes(LARGE_BYTES, 99)];
        await buffer.upload(sent);
        assertSameBytes(await buffer.download(), sent);
        assertSameBytes(buffer.downloadSync(), sent);
        buffer.uploadSync(others);
        assertSameBytes(await buffer.download(array), others);
        const { runningCount } = engineOf(gpu.context).lanes;
        if (round === 2) engineOf(gpu.context).startLanes();
        isStarted ||= runningCount > 0;
        if (runningCount === 7) after++;
      }
      assertEquals(isStarted, true);
    }),
);

testOnDriver("TransferEngine finishes a transfer whose stream is disposed", async (gpu) => {
  const stream = gpu.createStream({ label: "loader" });
  using engine = new TinyEngine(gpu);
  using buffer = gpu.alloc("uint8", 500_000);
  gpu.synchronizeSync();
  let calls = 0;
  const onProgress = () => {
    if (calls++ === 0) stream.dispose();
  };
  await engine.upload(buffer, patternBytes(500_000), { stream, onProgress });
  assertGreater(calls, 1);
  assertSameBytes(buffer.downloadSync(), patternBytes(500_000));
});

testOnDevice("engineOf() is one for a context", ({ context }) => {
  assertStrictEquals(engineOf(context), engineOf(context));
});

function cachedBytes(gpu: CudaDevice): number {
  return gpu.context.ledger.cachedBytes("host");
}
