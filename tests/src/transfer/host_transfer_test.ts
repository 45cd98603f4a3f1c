// Awaited transfers: the event loop goes on while a stream still has other work to do.

import { assertEquals } from "@std/assert";
import { HeldStream, testHoldingStream } from "../../support/held_stream.ts";
import { withDevice } from "../../support/with_device.ts";

for (const byteLength of [256, 2 * 2 ** 20, 20 * 2 ** 20]) {
  testHoldingStream(
    `upload() of ${byteLength} bytes waits for earlier work without blocking`,
    async (gpu) => {
      using buffer = gpu.zeros("uint8", byteLength);
      const values = new Uint8Array(byteLength).fill(7);
      const held = new HeldStream(gpu, gpu.stream);
      buffer.fill(1);
      setTimeout(() => held[Symbol.dispose](), 5);
      await buffer.upload(values);
      assertEquals((await buffer.subarray(byteLength - 1).download())[0], 7);
    },
  );

  testHoldingStream(
    `download() of ${byteLength} bytes waits for earlier work without blocking`,
    async (gpu) => {
      using buffer = gpu.zeros("uint8", byteLength);
      const held = new HeldStream(gpu, gpu.stream);
      buffer.fill(3);
      setTimeout(() => held[Symbol.dispose](), 5);
      assertEquals((await buffer.download())[byteLength - 1], 3);
    },
  );
}

Deno.test("upload() in a loop leaves timers their turn", () =>
  withDevice(async (gpu) => {
    using buffer = gpu.zeros("uint8", 4);
    let isOver = false;
    setTimeout(() => isOver = true, 0);
    for (let calls = 0; calls < 100_000 && !isOver; calls++) {
      await buffer.upload(Uint8Array.of(1, 2, 3, 4));
    }
    assertEquals(isOver, true);
  }));
