// Awaited transfers: the event loop goes on while a stream still has other work to do, and small ones
// are over in the call.

import { assertEquals, assertGreater } from "@std/assert";
import { CudaDevice } from "../../../src/device/device.ts";
import { nextTurn } from "../../../src/order/waiting.ts";
import { arraysInUse } from "../../../src/transfer/array_uses.ts";
import { engineOf } from "../../../src/transfer/context_engine.ts";
import { sleep } from "../../../src/words/timer.ts";
import { assertSameBytes, patternBytes } from "../../support/contents.ts";
import { testDriver } from "../../support/driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { shareOf } from "../../support/random.ts";
import { takingTurns, testOnLinux } from "../../support/test_unless.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

/** A transfer that is one driver call, or lands. */
const BRIEF_BYTES = 2 ** 21;

for (const byteLength of [256, 2 * 2 ** 20, 20 * 2 ** 20]) {
  testHolding(`upload() of ${byteLength} bytes waits for work without blocking`, async (gpu) => {
    using buffer = gpu.zeros("uint8", byteLength);
    const values = new Uint8Array(byteLength).fill(7);
    const held = new HeldStream(gpu, gpu.stream);
    buffer.fill(1);
    setTimeout(() => held[Symbol.dispose](), 5);
    await buffer.upload(values);
    assertEquals((await buffer.subarray(byteLength - 1).download())[0], 7);
  });

  testHolding(`download() of ${byteLength} bytes waits for work, not blocking`, async (gpu) => {
    using buffer = gpu.zeros("uint8", byteLength);
    const held = new HeldStream(gpu, gpu.stream);
    buffer.fill(3);
    setTimeout(() => held[Symbol.dispose](), 5);
    assertEquals((await buffer.download())[byteLength - 1], 3);
  });
}

testOnDevice("upload() in a loop leaves timers their turn", async (gpu) => {
  using buffer = gpu.zeros("uint8", 4);
  let isOver = false;
  setTimeout(() => isOver = true, 0);
  for (let calls = 0; calls < 100_000 && !isOver; calls++) {
    await buffer.upload(Uint8Array.of(1, 2, 3, 4));
  }
  assertEquals(isOver, true);
});

Deno.test("upload() and download() of up to 16 MiB are over in the call, whatever came before", () =>
  withDevice(async (gpu) => {
    for (const byteLength of [2 ** 20, 4 * 2 ** 20, 2 ** 24, 2 ** 24 + 1]) {
      const values = patternBytes(byteLength);
      const used = new Uint8Array(byteLength).fill(1);
      using buffer = gpu.zeros("uint8", byteLength);
      await gpu.synchronize();
      const uploading = buffer.upload(values);
      assertEquals(arraysInUse.size === 0, byteLength <= 2 ** 24);
      await uploading;
      await nextTurn();
      const downloading = buffer.download(used);
      assertEquals(arraysInUse.size === 0, byteLength <= 2 ** 24);
      await downloading;
      assertSameBytes(used, values);
    }
  }));

testOnDevice(
  "transfers that nobody awaits leave the event loop a turn after some MiB",
  async (gpu) => {
    using buffer = gpu.zeros("uint8", 3 * 2 ** 20);
    const values = patternBytes(3 * 2 ** 20);
    await nextTurn();
    const uploading = Array.from({ length: 40 }, () => buffer.upload(values));
    assertGreater(arraysInUse.size, 0); // the later ones wait for turns
    await Promise.all(uploading);
    assertSameBytes(await buffer.download(), values);
  },
);

testOnDevice("transfers of 8 MiB that are called in one breath move side by side", async (gpu) => {
  const arrays = [1, 2, 3].map((seed) => patternBytes(2 ** 23, seed));
  using buffer = gpu.zeros("uint8", 2 ** 23);
  for (let round = 0; round < 3; round++) {
    const uploading = arrays.map((array) => buffer.upload(array));
    assertGreater(arraysInUse.size, 0);
    await Promise.all(uploading);
    assertSameBytes(await buffer.download(), patternBytes(2 ** 23, 3));
  }
});

Deno.test("a program's first transfers are driver calls, and make no page-locked memory for large ones", () =>
  withDevice(async (gpu) => {
    const hasEngine = () =>
      [...gpu.context.ledger.caches].some(({ name }) => name === "transfer ring");
    for (const byteLength of [2 ** 22, 2 ** 23 + 5, 2 ** 24]) {
      const values = patternBytes(byteLength);
      using buffer = await gpu.upload(values);
      assertSameBytes(await buffer.download(), values);
      const into = new Uint8Array(byteLength);
      assertSameBytes(buffer.downloadSync(into), values);
      assertEquals([buffer.downloadSync().length, hasEngine()], [byteLength, false]);
    }
    // Three downloads and an upload of each: 112 MiB; from 128 MiB on threads pay.
    using buffer = gpu.zeros("uint8", 2 ** 24);
    await buffer.upload(patternBytes(2 ** 24));
    assertEquals(hasEngine(), true);
    assertSameBytes(await buffer.download(), patternBytes(2 ** 24));
  }));

for (const isNew of shareOf([false, true])) {
  const what = isNew ? "new arrays" : "an array";
  takingTurns(testOnLinux)(
    `lanes start once two GiB have moved in brief transfers into ${what}`,
    async () => {
      using gpu = CudaDevice.open(0, { driver: testDriver(), transfers: { laneCount: 7 } });
      using x = gpu.zeros("uint8", BRIEF_BYTES);
      const { lanes } = engineOf(gpu.context);
      const array = new Uint8Array(BRIEF_BYTES);
      for (let moved = 0; moved <= 2 ** 31; moved += BRIEF_BYTES) {
        if (isNew) x.downloadSync();
        else x.downloadSync(array);
      }
      const end = performance.now() + 60_000;
      while (lanes.runningCount === 0 && performance.now() < end) await sleep(5);
      assertGreater(lanes.runningCount, 0);
    },
  );
}
