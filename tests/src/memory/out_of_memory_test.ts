// Drills of a full device: what is said, what is tried first, and that everything goes on afterwards.

import {
  assertEquals,
  assertGreater,
  assertInstanceOf,
  assertLess,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { CudaAsyncMemoryResource } from "../../../src/memory/cuda_async_memory_resource.ts";
import { CudaMemoryResource } from "../../../src/memory/cuda_memory_resource.ts";
import { CachingResourceAdaptor } from "../../../src/resources/caching_resource_adaptor.ts";
import {
  type CudaError,
  type MemoryLimitError,
  OutOfMemoryError,
} from "../../../src/words/errors.ts";
import { TIMERS } from "../../../src/words/timer.ts";
import { evaluate } from "../../support/child_deno.ts";
import { ON_GPU } from "../../support/driver.ts";
import { LedgerResource } from "../../support/ledger_resource.ts";
import { inTurn } from "../../support/test_unless.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const MIB = 2 ** 20;

/** A device that a test fills in no time. */
const SMALL = { memoryBytes: 256 * MIB };

testOnDevice("CudaDevice.alloc() that fails adds nothing to the report", (gpu) => {
  const before = gpu.report().toJSON().caches;
  assertThrows(() => gpu.alloc("uint8", 2 ** 45), OutOfMemoryError);
  assertEquals(
    gpu.report().toJSON().caches.map(({ name }) => name),
    before.map(({ name }) => name),
  );
});

testOnDevice("CudaDevice.alloc() on a full device fails until a block is free", (gpu) => {
  const blockBytes = Math.floor(gpu.memory.freeBytes / 8 / MIB) * MIB;
  using blocks = new DisposableStack();
  const held = fill(gpu, blocks, blockBytes);
  const error = assertThrows(() => gpu.alloc("uint8", blockBytes), OutOfMemoryError);
  assertEquals([error.requestedBytes, error.liveCount], [blockBytes, held.length]);
  assertEquals([error.liveBytes, error.largest.length], [held.length * blockBytes, 5]);
  held[3]?.dispose();
  using again = gpu.alloc("uint8", blockBytes);
  again.clear();
  assertEquals(again.byteLength, blockBytes);
});

testOnDevice("CudaDevice.alloc() on a full device leaves counters as they were", (gpu) => {
  using track = gpu.track("drill");
  const before = gpu.memory;
  assertThrows(() => gpu.alloc("uint8", 4 * gpu.info.totalBytes), OutOfMemoryError);
  assertEquals([gpu.memory.liveBytes, gpu.memory.peakBytes], [
    before.liveBytes,
    before.peakBytes,
  ]);
  assertEquals([track.totalCount, gpu.live().count], [0, 0]);
});

Deno.test("OutOfMemoryError of a full device names who holds it and what would help", () =>
  withDevice((gpu) => {
    using _weights = gpu.alloc("uint8", 200 * MIB, { label: "weights" });
    const error = assertThrows(() => gpu.alloc("uint8", 100 * MIB), OutOfMemoryError);
    assertEquals(error.largestLive, { name: "weights", byteLength: 200 * MIB });
    assertEquals(
      error.message,
      "Cannot allocate 100 MiB on device 0: CUDA_ERROR_OUT_OF_MEMORY (2), 32 MiB of 256 MiB " +
        "free, 200 MiB in 1 live buffer (largest: weights 200 MiB); dispose what is no longer " +
        "needed, see gpu.live()",
    );
    assertEquals([error.totalBytes, error.freeBytes, (error.cause as CudaError).call], [
      256 * MIB,
      32 * MIB,
      "cuMemAllocAsync",
    ]);
  }, { driver: simulateDriver(SMALL) }));

Deno.test("OutOfMemoryError of a full device blames no pool that has room", () =>
  withDevice((gpu) => {
    using _weights = gpu.alloc("uint8", 200 * MIB, { label: "weights" });
    using resource = new CudaAsyncMemoryResource(gpu, { maxSize: "128 MiB" });
    const error = assertThrows(() => gpu.alloc("uint8", 100 * MIB, { resource }), OutOfMemoryError);
    assertEquals([error.limitBytes, error.hint], [
      undefined,
      "dispose what is no longer needed, see gpu.live()",
    ]);
  }, { driver: simulateDriver(SMALL) }));

Deno.test("CudaDevice.alloc() trims caches and tries again before it fails", () =>
  withDevice((gpu) => {
    const resource = new CudaMemoryResource(gpu);
    const kept = resource.allocate(200 * MIB);
    let keptBytes = 200 * MIB;
    const cache = {
      name: "test cache",
      kind: "device" as const,
      get byteLength() {
        return keptBytes;
      },
      trim: () => {
        resource.deallocate(kept);
        keptBytes = 0;
      },
    };
    gpu.context.ledger.caches.add(cache);
    assertEquals(gpu.memory.cachedBytes, 200 * MIB);
    using buffer = gpu.alloc("uint8", 100 * MIB);
    gpu.context.ledger.caches.delete(cache);
    assertEquals([keptBytes, buffer.byteLength], [0, 100 * MIB]);
  }, { driver: simulateDriver(SMALL) }));

Deno.test("CudaDevice.alloc() tries twice and no more", () => {
  const real = simulateDriver();
  let tries = 0;
  const driver = {
    ...real,
    cuMemAllocAsync: () => {
      tries++;
      return 2;
    },
  };
  return withDevice((gpu) => {
    assertThrows(() => gpu.alloc("uint8", 8), OutOfMemoryError);
    assertEquals(tries, 2);
  }, { driver });
});

Deno.test("CudaDevice.limit() refuses what would pass it without asking the driver", () => {
  const real = simulateDriver();
  let asked = 0;
  const { cuMemAllocAsync } = real;
  const driver = {
    ...real,
    cuMemAllocAsync: (...args: Parameters<NonNullable<typeof cuMemAllocAsync>>) => {
      asked++;
      return cuMemAllocAsync === null ? 801 : cuMemAllocAsync(...args);
    },
  };
  return withDevice((gpu) => {
    gpu.limit("2 MiB");
    using _first = gpu.alloc("uint8", 1.5 * MIB);
    const error = assertThrows(() => gpu.alloc("uint8", MIB), OutOfMemoryError);
    assertEquals([asked, error.limitBytes], [1, 2 * MIB]);
    assertEquals((error.cause as MemoryLimitError).holder, "gpu.limit()");
    assertEquals(error.hint.startsWith("raise gpu.limit()"), true);
    using _fits = gpu.alloc("uint8", 0.5 * MIB);
    gpu.limit(undefined);
    using _more = gpu.alloc("uint8", 8 * MIB);
    assertEquals([asked, gpu.memory.limitBytes], [3, undefined]);
  }, { driver });
});

Deno.test("CudaDevice.limit() lets a cache hand out what it keeps, and trims it for the rest", () =>
  withDevice((gpu) => {
    const upstream = new LedgerResource(gpu);
    using resource = new CachingResourceAdaptor(upstream);
    gpu.limit("96 MiB");
    gpu.alloc("uint8", 64 * MIB, { resource }).dispose();
    gpu.alloc("uint8", 64 * MIB, { resource }).dispose();
    assertEquals([upstream.allocationCount, resource.cachedBytes], [1, 64 * MIB]);
    gpu.alloc("uint8", 66 * MIB, { resource }).dispose();
    assertEquals([upstream.allocationCount, resource.reservedBytes], [2, 66 * MIB]);
    const other = new LedgerResource(gpu);
    gpu.alloc("uint8", 60 * MIB, { resource: other }).dispose();
    assertEquals([other.liveBytes, resource.reservedBytes], [0, 0]);
    assertThrows(() => gpu.alloc("uint8", 97 * MIB, { resource }), OutOfMemoryError);
    gpu.limit(undefined);
  }));

Deno.test("CudaDevice.limit() counts what buffers hold, not what the device's pool takes for them", () =>
  withDevice((gpu) => {
    gpu.limit("3 MiB");
    using _first = gpu.alloc("uint8", MIB);
    using _second = gpu.alloc("uint8", MIB);
    assertThrows(() => gpu.alloc("uint8", 2 * MIB), OutOfMemoryError, "limit");
    gpu.limit(undefined);
  }));

testOnDevice("CudaDevice.limit() leaves host memory alone", (gpu) => {
  gpu.limit(0);
  using pinned = gpu.pinned("uint8", 1024);
  assertEquals(pinned.length, 1024);
  gpu.limit(undefined);
});

testOnDevice("CudaDevice.limit() reads sizes and shares, and refuses anything else", (gpu) => {
  gpu.limit("50%");
  assertEquals(gpu.memory.limitBytes, Math.floor(gpu.info.totalBytes / 2));
  for (const size of ["64k", "-1 MiB", "101%", "much"]) {
    assertThrows(() => gpu.limit(size), RangeError);
  }
  assertEquals(gpu.memory.limitBytes, Math.floor(gpu.info.totalBytes / 2));
  gpu.limit(undefined);
});

Deno.test("CudaDevice.pinned() that fails speaks of host memory", () => {
  const driver = { ...simulateDriver(), cuMemHostAlloc: () => 2 };
  return withDevice((gpu) => {
    using _held = gpu.alloc("uint8", MIB, { label: "on the device" });
    const error = assertThrows(() => gpu.pinned("uint8", MIB), OutOfMemoryError);
    assertEquals([error.liveBytes, error.largest], [0, []]);
    assertEquals(
      error.message.startsWith("Cannot allocate 1 MiB of page-locked host memory"),
      true,
    );
  }, { driver });
});

Deno.test("CudaDevice.upload() on a full device rejects and leaves nothing", () =>
  withDevice(async (gpu) => {
    using _held = gpu.alloc("uint8", 250 * MIB);
    const error = await assertRejects(() => gpu.upload(new Uint8Array(16 * MIB)));
    assertInstanceOf(error, OutOfMemoryError);
    assertEquals(gpu.live().count, 1);
  }, { driver: simulateDriver(SMALL) }));

Deno.test("CudaDevice.upload() has dropped buffers collected before it gives up", async () => {
  const { code, stdout, stderr } = await evaluate(`
    import { CudaDevice } from "./mod.ts";
    import { simulateDriver } from "./src/entries/simulated.ts";
    const gpu = CudaDevice.open(0, { driver: simulateDriver({ memorySize: ${256 * MIB} }) });
    function drop() {
      for (let i = 0; i < 15; i++) gpu.alloc("uint8", ${16 * MIB});
    }
    drop();
    const buffer = await gpu.upload(new Uint8Array(${64 * MIB}));
    console.log(buffer.byteLength, gpu.live().count, gpu.report().data.undisposed.count);
  `);
  assertEquals([code, stdout.trim()], [0, `${64 * MIB} 1 15`], stderr);
  assertEquals(stderr.split("garbage-collected, not disposed").length, 2);
});

const MADE = {
  "ordinary": `new Uint8Array(${64 * MIB})`,
  "page-locked": `gpu.pinned("uint8", ${64 * MIB}).array`,
};

for (const [kind, made] of Object.entries(MADE)) {
  for (const call of ["upload(array)", "uploadAll([array])"]) {
    Deno.test(
      inTurn(`CudaDevice.${call} of ${kind} memory keeps its place while it waits for memory`),
      async () => {
        const { code, stdout, stderr } = await evaluate(`
        import { CudaDevice } from "./mod.ts";
        import { simulateDriver } from "./src/entries/simulated.ts";
        const gpu = CudaDevice.open(0, { driver: simulateDriver({ memorySize: ${256 * MIB} }) });
        using ones = gpu.alloc("uint8", 1000).fill(1);
        using nines = gpu.alloc("uint8", 1000).fill(9);
        function drop() {
          for (let i = 0; i < 15; i++) gpu.alloc("uint8", ${16 * MIB});
        }
        drop();
        const array = ${made};
        const part = array.subarray(0, 1000);
        const before = ones.download(part);
        const coming = gpu.${call};
        const after = nines.download(part);
        await Promise.all([before, after]);
        const [buffer] = [await coming].flatMap((made) => "buffers" in made ? [...made] : [made]);
        const [first] = await buffer.subarray(0, 1).download();
        console.log(first, array[0]);
      `);
        assertEquals([code, stdout.trim()], [0, "1 9"], stderr);
      },
    );
  }
}

Deno.test("CudaDevice.upload() waits for collections only where they could help", () =>
  withDevice(async (gpu) => {
    using held = gpu.alloc("uint8", 200 * MIB);
    const waits = async (byteLength: number): Promise<number> => {
      using counted = new CountedTimers();
      await assertRejects(() => gpu.upload(new Uint8Array(byteLength)), OutOfMemoryError);
      return counted.count;
    };
    assertEquals(await waits(300 * MIB), 0); // more than the device has
    assertGreater(await waits(100 * MIB), 0); // what is held could be lost
    // It was not, and nothing was made since: each wait in vain makes the rest behind it longer.
    for (let again = 0; await waits(100 * MIB) > 0; again++) assertLess(again, 10);
    held.dispose();
    using _buffer = await gpu.upload(new Uint8Array(100 * MIB));
  }, { driver: simulateDriver(SMALL) }));

/** Counts the timers that are set until it is disposed. */
class CountedTimers implements Disposable {
  count = 0;
  readonly #setTimeout = TIMERS.setTimeout;

  constructor() {
    const counting = (...args: Parameters<typeof setTimeout>) => {
      this.count++;
      return setTimeout(...args);
    };
    TIMERS.setTimeout = Object.assign(counting, this.#setTimeout);
  }

  [Symbol.dispose](): void {
    TIMERS.setTimeout = this.#setTimeout;
  }
}

/** Allocates blocks until none fits. */
function fill(gpu: CudaDevice, stack: DisposableStack, blockBytes: number): DeviceBuffer[] {
  const held: DeviceBuffer[] = [];
  for (;;) {
    try {
      held.push(stack.use(gpu.alloc("uint8", blockBytes)));
    } catch (error) {
      if (error instanceof OutOfMemoryError) return held;
      throw error;
    }
  }
}

Deno.test(
  inTurn("CudaDevice.alloc() waits for memory of another kind that was freed and is in use"),
  () =>
    withDevice((gpu) => {
      const plain = new CudaMemoryResource(gpu);
      const kinds = {
        pool: () => gpu.alloc("uint8", 200 * MIB),
        plain: () => gpu.alloc("uint8", 200 * MIB, { resource: plain }),
        virtual: () => gpu.growable("uint8", { reserveSize: 256 * MIB, shape: 200 * MIB }),
        pitched: () => gpu.pitched("uint8", [200, MIB]),
      };
      for (const first of Object.values(kinds)) {
        for (const second of Object.values(kinds)) {
          using stream = gpu.createStream();
          {
            using one = first();
            // On the simulated driver the block is in use until work on any of its bytes is done.
            const used = ON_GPU || !("rows" in one) ? one : one.rows(0, 1);
            for (let i = 0; i < (ON_GPU ? 20 : 2); i++) used.fill(i, { stream });
          }
          using two = second();
          assertEquals(two.byteLength, 200 * MIB);
        }
      }
    }, { driver: simulateDriver(SMALL) }),
);

Deno.test("CudaDevice.memory counts what was freed and is in use as cached, not as another's", () =>
  withDevice((gpu) => {
    gpu.alloc("uint8", MIB).dispose();
    gpu.synchronizeSync();
    const { otherBytes } = gpu.memory;
    gpu.alloc("uint8", 64 * MIB).fill(1).dispose();
    const { liveBytes, cachedBytes, otherBytes: others } = gpu.memory;
    assertEquals([liveBytes, cachedBytes, others], [0, 64 * MIB, otherBytes]);
    const { message, otherBytes: told } = assertThrows(
      () => gpu.alloc("uint8", 255 * MIB).dispose() ?? gpu.alloc("uint8", 257 * MIB),
      OutOfMemoryError,
    );
    assertEquals([message.includes("other programs"), told], [false, otherBytes]);
  }, { driver: simulateDriver(SMALL) }));

Deno.test("OutOfMemoryError says that memory lies in pieces only where a smaller block is there", () => {
  for (
    const [isFull, words] of [[false, "but in pieces"], [true, "the driver refuses it"]] as const
  ) {
    const driver = simulateDriver();
    const cuMemAlloc_v2: typeof driver.cuMemAlloc_v2 = (address, byteLength) => {
      const refuses = isFull || Number(byteLength) > 1000;
      return refuses ? 2 : driver.cuMemAlloc_v2(address, byteLength);
    };
    const api = { ...driver, cuMemAlloc_v2 };
    using gpu = CudaDevice.open(0, { driver: api });
    const resource = new CudaMemoryResource(gpu);
    const before = gpu.memory.freeBytes;
    assertThrows(() => gpu.alloc("uint8", 1500, { resource }), OutOfMemoryError, words);
    assertEquals([gpu.live().count, gpu.memory.freeBytes], [0, before]);
  }
});
