// set() of memory that the CPU reaches keeps the order of calls: it writes when earlier calls on the
// same memory, and on the array that the values come from, are done.

import { assert, assertEquals } from "@std/assert";
import type { HostBuffer } from "../../../src/buffers/host_buffer.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { testOnDevice } from "../../support/with_device.ts";

/** More than moves within a call. */
const LARGE = 40 * 2 ** 20;

const KINDS: Readonly<Record<string, (gpu: CudaDevice, length: number) => HostBuffer<"uint8">>> = {
  pinned: (gpu, length) => gpu.pinned("uint8", length),
  mapped: (gpu, length) => gpu.mapped("uint8", length),
  managed: (gpu, length) => gpu.managed("uint8", length),
  registered: (gpu, length) => gpu.register(new Uint8Array(length)),
};

for (const [kind, make] of Object.entries(KINDS)) {
  testOnDevice(
    `HostBuffer.set() of ${kind} memory comes after an upload that is not awaited`,
    async (gpu) => {
      using x = make(gpu, LARGE);
      const uploaded = x.upload(new Uint8Array(LARGE).fill(1));
      x.set([7], LARGE - 1);
      await uploaded;
      assertEquals([...x.array.subarray(LARGE - 2)], [1, 7]);
    },
  );

  testOnDevice(
    `HostBuffer.set() of ${kind} memory comes after a download into its source`,
    async (gpu) => {
      using values = gpu.alloc("uint8", LARGE).fill(5);
      using x = make(gpu, LARGE);
      const array = new Uint8Array(LARGE);
      const downloaded = values.download(array);
      x.set(array);
      await downloaded;
      assertEquals([x.array[0], x.array[LARGE - 1]], [5, 5]);
    },
  );

  testOnDevice(
    `HostBuffer.set() of ${kind} memory comes after copies of all streams`,
    async (gpu) => {
      using first = gpu.createStream();
      using second = gpu.createStream();
      using x = make(gpu, LARGE).set(new Uint8Array(LARGE).fill(1));
      using read = gpu.alloc("uint8", LARGE);
      using written = gpu.alloc("uint8", LARGE).fill(3);
      x.copyTo(read, { stream: first });
      x.set([9], 0);
      x.copyFrom(written, { stream: second });
      x.set([8], LARGE - 1);
      assertEquals([x.array[0], x.array[LARGE - 1]], [3, 8]);
      assertEquals((await read.download())[0], 1);
    },
  );

  testOnDevice(
    `HostBuffer.set() of ${kind} memory comes after copies of a stream that ended`,
    async (gpu) => {
      using x = make(gpu, LARGE).set(new Uint8Array(LARGE).fill(1));
      using read = gpu.alloc("uint8", LARGE);
      {
        using stream = gpu.createStream();
        x.copyTo(read, { stream });
      }
      x.set([9], LARGE - 1);
      assertEquals((await read.download())[LARGE - 1], 1);
    },
  );
}

testHolding("HostBuffer.set() does not wait for work on other memory", (gpu) => {
  using x = gpu.zeros("uint8", 4);
  using flag = gpu.mapped("uint8", 1);
  using other = gpu.mapped("uint8", 4).set([1, 2, 3, 4]);
  gpu.synchronizeSync();
  using _held = new HeldStream(gpu, gpu.stream);
  x.copyFrom(other); // waits on the default stream
  flag.set([1]);
  assertEquals(flag.array[0], 1);
});

testOnDevice(
  "HostBuffer.set() reads its iterable before it waits, and writes nothing when that fails",
  async (gpu) => {
    using x = gpu.pinned("uint8", LARGE);
    const uploaded = x.upload(new Uint8Array(LARGE).fill(1));
    let isCaught = false;
    try {
      x.set((function* () {
        yield 2;
        throw new Error("no more values");
      })());
    } catch {
      isCaught = true;
    }
    await uploaded;
    assert(isCaught);
    assertEquals(x.array[0], 1);
  },
);
