// A registered array that the program moves away while the GPU uses it: queued work reads and writes the
// memory that it was given, and no other array gets that memory before the work is done.

import { assertEquals, assertThrows } from "@std/assert";
import type { CudaDevice } from "../../../src/device/device.ts";
import type { RegisteredBuffer } from "../../../src/buffers/registered_buffer.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { assertHoldsOnly } from "../../support/contents.ts";
import { testOnDevice } from "../../support/with_device.ts";

/** Ways in which a program gives an array's memory away. */
const MOVES: Readonly<Record<string, (array: Uint8Array<ArrayBuffer>) => void>> = {
  "transfer(0)": ({ buffer }) => void buffer.transfer(0),
  "transfer() to half the size": ({ buffer }) => void buffer.transfer(buffer.byteLength / 2),
  "a clone that is dropped": (array) => void structuredClone(array, { transfer: [array.buffer] }),
  "a port that is closed": ({ buffer }) => {
    const { port1, port2 } = new MessageChannel();
    port1.postMessage(buffer, [buffer]);
    port1.close();
    port2.close();
  },
};

/** Work that the GPU is given, and what it leaves in a buffer on the device. */
const READS: Readonly<
  Record<string, (gpu: CudaDevice, from: RegisteredBuffer<"uint8">) => Promise<Uint8Array>>
> = {
  "a copy on the default stream": async (gpu, from) => {
    using x = gpu.zeros("uint8", from.length);
    x.copyFrom(from);
    return await takeOver(from, () => x.download());
  },
  "a copy on another stream": async (gpu, from) => {
    using stream = gpu.createStream();
    using x = gpu.zeros("uint8", from.length);
    x.copyFrom(from, { stream });
    return await takeOver(from, () => x.download());
  },
  "a launch of a graph": async (gpu, from) => {
    using stream = gpu.createStream();
    using x = gpu.zeros("uint8", from.length);
    using graph = gpu.capture(() => void x.copyFrom(from, { stream }), { stream });
    graph.launch();
    return await takeOver(from, () => x.download());
  },
};

/** The array to move, and how; set by each test. */
const moving = new WeakMap<object, () => void>();

async function takeOver<T>(from: object, read: () => Promise<T>): Promise<T> {
  moving.get(from)?.();
  return await read();
}

for (const size of [4096, 2 ** 20, 20 * 2 ** 20]) {
  for (const [way, move] of Object.entries(MOVES)) {
    for (const [work, read] of Object.entries(READS)) {
      testOnDevice(`${work} reads ${size} registered bytes that leave by ${way}`, async (gpu) => {
        const array = new Uint8Array(size).fill(3);
        using registered = gpu.register(array);
        moving.set(registered, () => {
          move(array);
          assertEquals(array.length, 0);
          for (let other = 0; other < 4; other++) new Uint8Array(size).fill(9);
        });
        const found = await read(gpu, registered);
        assertHoldsOnly(found, 3);
        assertThrows(() => registered.fill(1), DisposedError, "moved away");
      });
    }

    testOnDevice(
      `A copy of ${size} bytes into a registered array writes no other after ${way}`,
      async (gpu) => {
        using stream = gpu.createStream();
        using x = gpu.alloc("uint8", size).fill(7);
        const array = new Uint8Array(size);
        using registered = gpu.register(array);
        x.copyTo(registered, { stream });
        move(array);
        const others = Array.from({ length: 4 }, () => new Uint8Array(size).fill(9));
        await stream.synchronize();
        for (const other of others) assertHoldsOnly(other, 9);
      },
    );
  }
}

testOnDevice("Registered arrays that nothing uses keep no thread and no program", async (gpu) => {
  const arrays = Array.from({ length: 40 }, () => new Uint8Array(4096).fill(1));
  const registered = arrays.map((array) => gpu.register(array));
  using x = gpu.zeros("uint8", 4096);
  for (const from of registered) x.copyFrom(from);
  await gpu.synchronize();
  assertEquals(gpu.context.deferred.works.size, 0);
  for (const from of registered) from.dispose();
});

testOnDevice("CudaGraph.launch() refuses a registered array that was moved away before", (gpu) => {
  using stream = gpu.createStream();
  const array = new Uint8Array(4096).fill(3);
  using registered = gpu.register(array);
  using x = gpu.zeros("uint8", 4096, { stream });
  using graph = gpu.capture(() => void x.copyFrom(registered, { stream }), { stream });
  array.buffer.transfer(0);
  assertThrows(() => graph.launch(), DisposedError, "moved away");
  assertEquals(x.downloadSync()[0], 0);
});
