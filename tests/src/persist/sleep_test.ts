// Memory that sleeps: it leaves the device and comes back, to the same addresses and with the same bytes,
// and every use of it wakes it first or is told.

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import "../../../src/cards/shown.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import type { GrowableBuffer } from "../../../src/buffers/growable_buffer.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { FileTurn } from "../../../src/disk/file_turns.ts";
import { LockedFile } from "../../../src/disk/locked_file.ts";
import { saveSafetensors } from "../../../src/interop/safetensors/save.ts";
import { withoutLeaks } from "../../../src/entries/testing.ts";
import { VirtualMemoryResource } from "../../../src/memory/virtual_memory_resource.ts";
import { PersistError } from "../../../src/persist/persist_error.ts";
import { CachingResourceAdaptor } from "../../../src/resources/caching_resource_adaptor.ts";
import { CudaError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { patternBytes } from "../../support/contents.ts";
import { openTestDevice, testDriver } from "../../support/driver.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { until } from "../../support/in_time.ts";
import { heldCount, KeeperScene, untilOver } from "../../support/persist/keeper_scene.ts";
import { cardOf } from "../../support/display.ts";
import type { PersistAnswer } from "../../support/persist/peer.ts";
import { shareOf } from "../../support/random.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { inTurn, takingTurns, testOnLinux } from "../../support/test_unless.ts";
import { checkNothingLeft, checkSteady, freeBytes, withDevice } from "../../support/with_device.ts";

const MIB = 2 ** 20;

/** Runs a test on a device whose memory can sleep, and checks that nothing is left. */
function testAsleep(name: string, body: (gpu: CudaDevice) => unknown): void {
  Deno.test(name, async () => {
    const resource = (gpu: ConstructorParameters<typeof VirtualMemoryResource>[0]) => {
      return new VirtualMemoryResource(gpu);
    };
    using gpu = CudaDevice.open(0, { driver: testDriver(), resource });
    await checkNothingLeft(gpu, () => body(gpu));
    gpu.trim();
  });
}

const COUNT = 10 * MIB;

testAsleep(
  "sleep() frees the device, and wake() brings bytes back to their addresses",
  async (gpu) => {
    const before = freeBytes(gpu);
    const numbers = new Int32Array(patternBytes(4 * COUNT).buffer);
    using x = await gpu.upload(numbers);
    using view = x.subarray(5, 8);
    const address = x.ptr;
    await gpu.sleep(x);
    checkSteady(gpu, before);
    assertEquals([x.byteLength, x.shape, x.disposed], [4 * COUNT, [COUNT], false]);
    assertEquals(gpu.memory.liveBytes, 0);
    const words = "asleep, 40 MiB in host memory";
    assertEquals(gpu.live({ kind: "device" }).objects[0]?.asleep, words);
    assertStringIncludes(`${gpu.live()}`, "device, asleep");
    assertStringIncludes(Deno.inspect(x), words);
    assertStringIncludes((await cardOf(x)).html, words);
    assertStringIncludes((await cardOf(view)).html, words);
    checkSteady(gpu, before); // looking at it has not woken it
    await gpu.wake(x);
    assertEquals(gpu.memory.liveBytes, 4 * COUNT);
    assertEquals(x.ptr, address);
    assertEquals(await x.download(), numbers);
    assertEquals(await view.download(), numbers.slice(5, 8));
    await gpu.wake(x); // is awake already
  },
);

testAsleep(
  "sleep() comes after what was queued, and a use after it wakes the memory",
  async (gpu) => {
    using x = gpu.zeros("uint8", 33 * MIB);
    using stream = gpu.createStream();
    const upload = x.upload(new Uint8Array(33 * MIB).fill(1));
    const asleep = gpu.sleep(x);
    await upload;
    await asleep;
    assertEquals(await x.at(-1), 1); // woken by its use
    x.fill(2, { stream });
    await gpu.sleep(x);
    x.fill(3, { stream }); // before the wake has ended
    assertEquals(await x.at(0), 3);
    const under = gpu.sleep(x);
    x.fill(4); // while it goes to sleep
    await under;
    assertEquals(await x.at(0), 4);
  },
);

testAsleep(
  "a use ends a sleep into a file on every stream, and the file stays as it was",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.write("asleep.safetensors", "as it was");
    using x = byteBuffer(gpu, 34 * MIB);
    using stream = gpu.createStream();
    const names = () => [...Deno.readDirSync(folder.path)].map(({ name }) => name);
    for (const options of [{ stream }, {}]) {
      const asleep = gpu.sleep(x, { to: "file", path });
      while (names().length === 1) await delay(0); // until the save has begun
      x.fill(1, options);
      await asleep;
      assertEquals([names(), await x.at(-1)], [["asleep.safetensors"], 1]);
      assertEquals(Deno.readTextFileSync(path), "as it was");
    }
  },
);

testAsleep("a use does not wait for a sleep into a file that others write", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.write("asleep.safetensors", "as it was");
  using x = byteBuffer(gpu, 34 * MIB);
  const ways = [
    () => new FileTurn(path, "change"),
    () => LockedFile.tryOpen(path, { check: () => {} }),
  ];
  for (const write of ways) {
    using _other = write();
    const asleep = gpu.sleep(x, { to: "file", path });
    for (let turns = 0; turns < 10; turns++) await delay(0);
    x.fill(2);
    await asleep;
    assertEquals(await x.at(-1), 2);
  }
});

const USES: Readonly<
  Record<string, (x: ReturnType<typeof byteBuffer>, gpu: CudaDevice) => unknown>
> = {
  "fill()": (x) => x.fill(1),
  "download()": (x) => x.download(),
  "downloadSync()": (x) => x.downloadSync(),
  "upload()": (x) => x.upload(new Uint8Array(x.length)),
  "uploadSync()": (x) => x.uploadSync(new Uint8Array(x.length)),
  "copyFrom()": (x, gpu) => x.copyFrom(gpu.zeros("uint8", x.length)),
  "copyTo()": (x, gpu) => x.copyTo(gpu.alloc("uint8", x.length)),
  "at()": (x) => x.at(0),
  "setAt()": (x) => x.setAt(0, 1),
  "checksum()": (x) => x.checksum(),
  "slice()": (x) => x.slice(0, 2),
  "astype()": (x) => x.subarray(0, 1000).astype("float32"),
  "transpose()": (x) => x.subarray(0, 1000).reshape([2, 500]).transpose().contiguous(),
  "downloadAll()": (x, gpu) => gpu.downloadAll([x]),
  "uploadAll()": (x, gpu) => gpu.uploadAll([new Uint8Array(x.length)], { into: [x] }),
  "downloadPinned()": (x, gpu) => gpu.downloadPinned(x),
  "readable": async (x) => await new Response(x.readable).bytes(),
  "writable": async (x) => await new Blob([new Uint8Array(x.length)]).stream().pipeTo(x.writable),
  "toDLPack()": (x) => x.toDLPack().dispose(),
};

function byteBuffer(gpu: CudaDevice, length: number) {
  return gpu.alloc("uint8", length).fill(9);
}

for (const [name, use] of shareOf(Object.entries(USES), { least: 6 })) {
  testAsleep(`${name} of memory that sleeps wakes it, or throws`, async (gpu) => {
    using _x = gpu.zeros("uint8", 1); // an awake one
    using x = byteBuffer(gpu, 34 * MIB);
    await gpu.sleep(x, { onUse: "throw" });
    const free = gpu.memory.freeBytes;
    const error = await assertRejects(async () => await use(x, gpu), PersistError, "asleep");
    assertEquals(error.reason, "asleep");
    assert(gpu.memory.freeBytes <= free); // what the use made for itself
    gpu.disposeSince({ id: Number.MAX_SAFE_INTEGER });
    await gpu.wake(x);
    assertEquals(await x.at(-1), 9);
    await gpu.sleep(x);
    if (name === "toDLPack()") await gpu.wake(x); // which no queued copy can precede for another library
    await use(x, gpu);
    await gpu.synchronize();
    gpu.disposeAll();
  });
}

testAsleep("ptr of memory that sleeps throws", async (gpu) => {
  using x = byteBuffer(gpu, 100);
  await gpu.sleep(x);
  assertThrows(() => x.ptr, PersistError, "it is asleep; await gpu.wake() it first");
  await gpu.wake(x);
  assert(x.ptr !== 0n);
});

testAsleep("launch() of a graph wakes its memory, or throws", async (gpu) => {
  using x = byteBuffer(gpu, 40 * MIB);
  using y = gpu.zeros("uint8", 40 * MIB);
  using graph = gpu.capture(() => {
    y.copyFrom(x);
    x.subarray(0, 10).fill(7);
  });
  graph.launch();
  await gpu.sleep({ x, y });
  graph.launch();
  assertEquals([await y.at(0), await y.at(-1), await x.at(9)], [7, 9, 7]);
  await gpu.sleep(x, { onUse: "throw" });
  assertThrows(() => graph.launch(), PersistError, "asleep");
  await gpu.wake(x);
  graph.launch();
  assertEquals(await x.at(10), 9);
  await gpu.sleep(x);
  assertThrows(() => gpu.capture(() => x.fill(1)), PersistError, "during a capture");
  await gpu.wake(x);
});

testAsleep("sleep() puts contents into a file, whole, and wake() reads them", async (gpu) => {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("asleep.safetensors");
  const before = freeBytes(gpu);
  const numbers = new Int32Array(patternBytes(4 * COUNT).buffer);
  using x = await gpu.upload(numbers);
  await gpu.sleep(x, { to: "file", path });
  checkSteady(gpu, before);
  assert(Deno.statSync(path).size >= 4 * COUNT);
  assertThrows(() => x.fill(1), PersistError, "its contents are in a file");
  const hidden = folder.pathOf("hidden");
  Deno.renameSync(path, hidden);
  await assertRejects(() => gpu.wake(x), Deno.errors.NotFound);
  checkSteady(gpu, before); // asleep and whole
  Deno.renameSync(hidden, path);
  await gpu.wake(x);
  assertEquals(await x.download(), numbers);
  await assertRejects(() => gpu.sleep(x, { to: "file", path: folder.pathOf("none/x") }), Error);
  assertEquals(await x.download(), numbers);
  await assertRejects(() => gpu.sleep(x, { to: "file" }), TypeError, '"path"');
});

testAsleep(
  "contents in host memory are a part of the block, and no object of their own",
  async (gpu) => {
    using x = byteBuffer(gpu, 100);
    const { hostBytes } = gpu.memory;
    const mark = gpu.mark();
    await withoutLeaks(gpu, () => gpu.sleep(x));
    assertEquals([gpu.live().count, gpu.memory.hostBytes > hostBytes], [1, true]);
    gpu.disposeSince(mark);
    assertEquals(await x.at(-1), 9);
  },
);

testAsleep("sleep() does not write over a file in which others sleep", async (gpu) => {
  using folder = new TemporaryFolder();
  const options = { to: "file", path: folder.pathOf("asleep.safetensors") } as const;
  using x = gpu.alloc("uint8", 33 * MIB, { label: "x" }).fill(1);
  using y = gpu.alloc("uint8", 33 * MIB).fill(2);
  const isAway = gpu.sleep(x, options);
  await assertRejects(() => gpu.sleep(y, options), PersistError, "x sleeps in");
  await isAway;
  await assertRejects(() => gpu.sleep(y, options), PersistError, "pass another path");
  await gpu.wake(x);
  await gpu.sleep(y, options);
  await gpu.wake(y);
  assertEquals([await x.at(0), await y.at(0)], [1, 2]);
});

testAsleep("sleep() to nothing keeps addresses only", async (gpu) => {
  const before = freeBytes(gpu);
  using x = byteBuffer(gpu, 64 * MIB);
  const address = x.ptr;
  await gpu.sleep(x, { to: "nothing" });
  checkSteady(gpu, before);
  x.fill(5);
  assertEquals([await x.at(-1), x.ptr], [5, address]);
});

testAsleep("dispose() of memory that sleeps frees its addresses and contents", async (gpu) => {
  const hostBefore = gpu.memory.hostBytes;
  const x = byteBuffer(gpu, 40 * MIB);
  await gpu.sleep(x);
  assert(gpu.memory.hostBytes >= 40 * MIB);
  x.dispose();
  await gpu.synchronize();
  gpu.trim();
  assertEquals([gpu.memory.hostBytes, gpu.live().count], [hostBefore, 0]);
  assertEquals(gpu.memory.liveBytes, 0);
  await assertRejects(() => gpu.wake(x), Error, "disposed");
});

takingTurns(testAsleep)(
  "dispose() of a part of what sleeps leaves the rest to be woken",
  async (gpu) => {
    using folder = new TemporaryFolder();
    for (const to of ["host", "file", "nothing"] as const) {
      const x = byteBuffer(gpu, 40 * MIB);
      using y = gpu.alloc("uint8", 41 * MIB).fill(5);
      const cache = gpu.growable("uint8", { reserveSize: "16 MiB", shape: 3 * MIB }).fill(7);
      await gpu.sleep({ x, y, cache }, { to, path: folder.pathOf("asleep") });
      x.dispose();
      cache.dispose();
      assertEquals(
        gpu.live().objects.find(({ id }) => id === y.storageId)?.asleep?.slice(0, 14),
        "asleep, 41 MiB",
      );
      await gpu.wake(y);
      if (to !== "nothing") assertEquals([await y.at(0), await y.at(-1)], [5, 5]);
      assertEquals(gpu.memory.liveBytes, 41 * MIB);
      y.fill(1);
      const z = byteBuffer(gpu, 40 * MIB);
      const going = gpu.sleep({ y, z });
      z.dispose();
      await going.catch(() => {}); // it was disposed, or goes to sleep
      assertEquals(await y.at(-1), 1);
    }
  },
);

testAsleep("wake() stays within the limit that the memory was made in", async (gpu) => {
  gpu.limit("100 MiB");
  using x = byteBuffer(gpu, 80 * MIB);
  await gpu.sleep(x);
  await gpu.wake(x);
  assertEquals(await x.at(0), 9);
  gpu.limit(undefined);
});

testAsleep("sleep() takes all memory of a tag, and refuses what shares a chunk", async (gpu) => {
  const resource = new VirtualMemoryResource(gpu, { tag: "weights" });
  const before = freeBytes(gpu);
  using one = gpu.alloc("uint8", 100, { resource }).fill(1);
  using two = gpu.alloc("uint8", 40 * MIB, { resource, label: "two" }).fill(2);
  using three = gpu.alloc("uint8", 100, { resource, label: "three" }).fill(3);
  const error = await assertRejects(
    () => gpu.sleep(one),
    PersistError,
    "chunk of memory with three",
  );
  assertEquals(error.reason, "elsewhere");
  assertEquals(await one.at(0), 1);
  await gpu.sleep({ tag: "weights" });
  checkSteady(gpu, before);
  await gpu.sleep({ tag: "weights" }); // is asleep
  await gpu.wake(one); // and all that sleeps with it
  assertEquals([await one.at(99), await two.at(-1), await three.at(0)], [1, 2, 3]);
  await gpu.sleep({ one, three });
  using four = gpu.alloc("uint8", 100, { resource }).fill(4); // in another chunk, for one is away
  assertEquals([await four.at(0), await three.at(1)], [4, 3]);
  await gpu.sleep({ tag: "no such" });
});

testAsleep("A growable buffer sleeps while a graph knows it", async (gpu) => {
  using cache = gpu.growable("uint8", { reserveSize: "64 MiB" });
  cache.grow("8 MiB").fill(6);
  using graph = gpu.capture(() => cache.subarray(0, MIB).fill(7));
  const before = freeBytes(gpu);
  await gpu.sleep(cache);
  assertEquals(freeBytes(gpu), before + 8 * MIB);
  graph.launch();
  assertEquals([await cache.at(0), await cache.at(MIB), await cache.at(-1)], [7, 6, 6]);
  await gpu.sleep(cache);
  assertThrows(() => cache.grow("8 MiB"), TypeError, "asleep");
  await gpu.wake(cache);
  cache.grow("8 MiB");
  assertEquals(await cache.at(8 * MIB - 1), 6);
});

testAsleep("sleep() refuses memory that others use, or that cannot leave", async (gpu) => {
  using x = byteBuffer(gpu, 100);
  {
    using _struct = x.toDLPack();
    await assertRejects(() => gpu.sleep(x), TypeError, "another library");
    assertEquals(await x.at(0), 9);
  }
  await gpu.synchronize();
  using pinned = gpu.pinned("uint8", 4);
  await assertRejects(() => gpu.sleep(pinned), PersistError, "cannot leave its addresses");
  await assertRejects(() => gpu.sleep(5 as never), TypeError, "Cannot sleep the number 5");
  await assertRejects(() => gpu.sleep({ a: 5 }), TypeError, "expected a buffer");
  await assertRejects(() => gpu.sleep(x, { to: "disk" as never }), TypeError, '"to"');
  const gone = byteBuffer(gpu, 4);
  gone.dispose();
  await assertRejects(() => gpu.sleep(gone), Error, "disposed");
});

const LATE_BYTES = 40 * MIB;

/** Memory that can sleep. */
const SLEEPING: Record<
  string,
  (gpu: CudaDevice) => DeviceBuffer<"uint8"> | GrowableBuffer<"uint8">
> = {
  "a block": (gpu) => gpu.alloc("uint8", LATE_BYTES),
  "a growable buffer": (gpu) =>
    gpu.growable("uint8", { shape: LATE_BYTES, reserveSize: LATE_BYTES }),
};

for (const [name, make] of Object.entries(SLEEPING)) {
  for (const action of ["sleep", "wake"] as const) {
    testAsleep(
      `${action}() keeps the memory of ${name} that is disposed meanwhile`,
      async (gpu) => {
        using folder = new TemporaryFolder();
        const options = { to: "file", path: folder.pathOf("asleep.safetensors") } as const;
        for (const turns of [1, 2, 5]) {
          const x = make(gpu).fill(1);
          if (action === "wake") await gpu.sleep(x, options);
          const isOver = action === "wake" ? gpu.wake(x) : gpu.sleep(x, options);
          for (let turn = 0; turn < turns; turn++) await delay(0);
          x.dispose();
          using other = make(gpu).fill(2);
          await isOver;
          assertEquals(await other.at(LATE_BYTES / 2), 2);
          assertEquals(gpu.context.ledger.asleepBytes, 0);
        }
      },
    );
  }
}

testAsleep("sleep() takes no block along that is made meanwhile", async (gpu) => {
  using x = gpu.alloc("uint8", MIB).fill(1);
  for (let moments = 0; moments < 30; moments++) {
    const isAway = gpu.sleep(x);
    for (let moment = 0; moment < moments; moment++) await undefined;
    using y = gpu.alloc("uint8", MIB).fill(2);
    await isAway.catch(() => {}); // they may share a chunk
    assertEquals([await y.at(0), await x.at(0)], [2, 1], `after ${moments} moments`);
  }
});

testAsleep("sleep() takes no block along that is made where a disposed one was", async (gpu) => {
  using neighbour = gpu.alloc("uint8", MIB).fill(1);
  for (let moments = 0; moments < 30; moments++) {
    const x = gpu.alloc("uint8", MIB).fill(3);
    const uploading = x.upload(patternBytes(MIB));
    const isAway = gpu.sleep({ x, neighbour });
    await undefined;
    x.dispose();
    await uploading.catch(() => {});
    for (let moment = 0; moment < moments; moment++) await undefined;
    using y = gpu.alloc("uint8", MIB).fill(2);
    await isAway.catch(() => {}); // x is gone, or y shares the chunk
    assertEquals([await y.at(0), await neighbour.at(0)], [2, 1], `after ${moments} moments`);
  }
});

testAsleep("a call that was postponed wakes memory before it uses that", async (gpu) => {
  using x = gpu.alloc("uint8", MIB).fill(1);
  using other = gpu.alloc("uint8", LATE_BYTES);
  await gpu.sleep(x);
  const uploading = other.upload(new Uint8Array(LATE_BYTES));
  other.fill(3);
  x.fill(2);
  await uploading;
  assertEquals([await x.at(0), await other.at(0)], [2, 3]);
});

testAsleep(
  "a call that was postponed wakes memory that is disposed before its turn",
  async (gpu) => {
    const x = gpu.alloc("uint8", MIB).fill(1);
    using other = gpu.alloc("uint8", LATE_BYTES);
    await gpu.sleep(x);
    const uploading = other.upload(new Uint8Array(LATE_BYTES));
    other.subarray(0, MIB).copyFrom(x);
    x.dispose();
    await uploading;
    assertEquals([await other.at(0), await other.at(-1)], [1, 0]);
    assertEquals([gpu.context.ledger.asleepBytes, gpu.live().count], [0, 1]);
  },
);

testAsleep(
  "a graph wakes memory that was disposed, or tells where its contents are",
  async (gpu) => {
    using folder = new TemporaryFolder();
    using other = gpu.zeros("uint8", 64);
    const hostBefore = gpu.memory.hostBytes;
    for (const to of ["host", "file"] as const) {
      const x = gpu.alloc("uint8", 40 * MIB).fill(1);
      using graph = gpu.capture(() => void other.copyFrom(x.subarray(0, 64)));
      await gpu.sleep(x, { to, path: folder.pathOf("asleep.safetensors") });
      x.dispose();
      assertEquals(gpu.context.ledger.asleepBytes, 0);
      if (to === "file") {
        assertThrows(() => graph.launch(), PersistError, "its contents are in a file");
      } else graph.launch();
      assertEquals(await other.at(-1), 1);
    }
    gpu.trim();
    assertEquals(gpu.memory.hostBytes, hostBefore);
  },
);

testAsleep(
  "wake() keeps memory that a graph lets go of while it is read from a file",
  async (gpu) => {
    using folder = new TemporaryFolder();
    for (const turns of [0, 1, 2, 4]) {
      const x = gpu.alloc("uint8", 40 * MIB).fill(1);
      using y = gpu.alloc("uint8", 40 * MIB).fill(2);
      const graph = gpu.capture(() => void x.fill(3));
      await gpu.sleep({ x, y }, { to: "file", path: folder.pathOf("asleep.safetensors") });
      x.dispose();
      const isAwake = gpu.wake(y);
      for (let turn = 0; turn < turns; turn++) await delay(0);
      graph.dispose();
      await isAwake;
      assertEquals([await y.at(0), await y.at(-1)], [2, 2]);
    }
  },
);

testAsleep("GrowableBuffer.reserve() refuses a buffer that wakes", async (gpu) => {
  using folder = new TemporaryFolder();
  using x = gpu.growable("uint8", { shape: LATE_BYTES, reserveSize: 2 * LATE_BYTES }).fill(1);
  await gpu.sleep(x, { to: "file", path: folder.pathOf("asleep.safetensors") });
  const isAwake = gpu.wake(x);
  await delay(0);
  assertThrows(() => x.reserve(LATE_BYTES + 1), TypeError, "await gpu.wake() it first");
  await isAwake;
  x.reserve(LATE_BYTES + 1);
  assertEquals(gpu.context.ledger.asleepBytes, 0);
});

testAsleep("GrowableBuffer.shrinkToFit() refuses a buffer that is asleep", async (gpu) => {
  using x = gpu.growable("uint8", { shape: 4 * MIB, reserveSize: "4 MiB" }).fill(1);
  x.resize(MIB);
  await gpu.sleep(x);
  assertThrows(() => x.shrinkToFit(), TypeError, "await gpu.wake() it first");
  const { length } = x;
  assertThrows(() => x.shrink("1 B"), TypeError, "await gpu.wake() it first");
  assertEquals(x.length, length, "a call that is refused changes nothing");
  await gpu.wake(x);
  assertEquals(x.shrinkToFit().capacityBytes, 2 * MIB);
  assertEquals(await x.at(-1), 1);
});

Deno.test("wake() without memory leaves it asleep and whole", async () => {
  const driver = simulateDriver({ memoryBytes: 200 * MIB });
  const resource = (gpu: ConstructorParameters<typeof VirtualMemoryResource>[0]) => {
    return new VirtualMemoryResource(gpu);
  };
  using gpu = CudaDevice.open(0, { driver, resource });
  using a = byteBuffer(gpu, 64 * MIB);
  using b = gpu.alloc("uint8", 64 * MIB).fill(8);
  await gpu.sleep({ a, b });
  const full = gpu.alloc("uint8", 130 * MIB);
  const free = gpu.memory.freeBytes;
  await assertRejects(() => gpu.wake({ a, b }), OutOfMemoryError);
  assertThrows(() => a.fill(1), OutOfMemoryError);
  assertEquals(gpu.memory.freeBytes, free);
  full.dispose();
  await gpu.wake(a);
  assertEquals([await a.at(-1), await b.at(-1)], [9, 8]);
});

Deno.test(
  inTurn("Every driver call that fails while memory sleeps or wakes leaves it whole"),
  async () => {
    const calls = [
      "cuMemHostAlloc",
      "cuMemcpyAsync",
      "cuMemCreate",
      "cuMemMap",
      "cuMemSetAccess",
    ] as const;
    for (const call of calls) {
      for (const failing of shareOf([0, 1, 2, 3])) {
        const real = simulateDriver();
        let [count, isOn] = [0, false];
        const driver = {
          ...real,
          [call]: (...args: never[]) => {
            if (isOn && count++ === failing) return 304;
            return (real[call] as (...args: never[]) => number)(...args);
          },
        };
        const resource = (gpu: ConstructorParameters<typeof VirtualMemoryResource>[0]) => {
          return new VirtualMemoryResource(gpu);
        };
        using gpu = CudaDevice.open(0, { driver, resource });
        using a = byteBuffer(gpu, 32 * MIB);
        using b = gpu.alloc("uint8", 32 * MIB).fill(8);
        await gpu.synchronize();
        isOn = true;
        await gpu.sleep({ a, b }).catch(() => {});
        await gpu.wake({ a, b }).catch(() => {});
        isOn = false;
        await gpu.wake({ a, b });
        assertEquals([await a.at(-1), await b.at(0)], [9, 8], `${call} ${failing}`);
      }
    }
  },
);

testAsleep(
  "sleep() refuses memory that a cache keeps, or cuts into blocks",
  async (gpu) => {
    for (const byteLength of [1000, 32 * MIB]) {
      using resource = new CachingResourceAdaptor(new VirtualMemoryResource(gpu));
      using x = gpu.alloc("uint8", byteLength, { resource }).fill(1);
      using y = gpu.alloc("uint8", byteLength, { resource }).fill(2);
      const words = "its memory comes from a CachingResourceAdaptor";
      await assertRejects(() => gpu.sleep(x), PersistError, words);
      assertEquals([await x.at(-1), await y.at(-1)], [1, 2]);
    }
  },
);

/** Runs a test with memory that sleeps, on a driver that can fail. */
function testFailing(
  name: string,
  body: (gpu: CudaDevice, setFault: ReturnType<typeof faultyDriver>["setFault"]) => unknown,
): void {
  Deno.test(name, () => {
    const { driver, setFault } = faultyDriver();
    return withDevice((gpu) => body(gpu, setFault), { driver });
  });
}

testFailing(
  "a wake needs no event, and leaves nothing where none can be had",
  async (gpu, setFault) => {
    using stream = gpu.createStream();
    using x = gpu.alloc("uint8", MIB, { resource: new VirtualMemoryResource(gpu) });
    x.fill(1, { stream });
    await gpu.sleep(x);
    setFault({ name: ["cuStreamWaitEvent", "cuEventCreate"] });
    await gpu.wake(x);
    setFault(undefined);
    x.fill(2, { stream }); // behind the copies
    assertEquals(await x.at(-1), 2);
  },
);

testFailing(
  "a wake that fails leaves the failures of other calls to be told",
  async (gpu, setFault) => {
    using x = gpu.alloc("uint8", MIB, { resource: new VirtualMemoryResource(gpu) }).fill(1);
    using y = gpu.zeros("uint8", LATE_BYTES);
    await gpu.sleep(x);
    const upload = y.upload(new Uint8Array(LATE_BYTES));
    y.fill(2);
    setFault({ name: "cuMemsetD8Async", times: 1 });
    await upload;
    setFault({ name: "cuMemcpyAsync", times: 1 });
    assertThrows(() => x.fill(3), CudaError, "cuMemcpyAsync");
    await assertRejects(() => gpu.synchronize(), CudaError, "cuMemsetD8Async");
    assertEquals(await x.at(0), 1);
  },
);

takingTurns(testOnLinux)(
  "A persisted model sleeps and wakes, with the keeper's descriptors",
  async () => {
    await using scene = new KeeperScene();
    using gpu = openTestDevice();
    const path = scene.pathOf("model.safetensors");
    {
      using w = gpu.zeros("float32", 10 * MIB).fill(2);
      await saveSafetensors(path, { w });
    }
    using model = await gpu.persist("m", () => gpu.loadSafetensors(path));
    const free = gpu.memory.freeBytes;
    await gpu.sleep(model);
    const pid = await scene.pid();
    assertEquals(heldCount(pid), 0);
    assert(gpu.memory.freeBytes >= free + 40 * MIB);
    const [row] = await gpu.persisted();
    assertEquals([row?.asleepIn, row?.byteLength], ["host memory", 0]);
    assertEquals(model.persistence.asleepIn, "host memory");
    {
      await using peer = scene.peer();
      const error = await assertRejects(
        () => peer.tell({ do: "persist", name: "m" }),
        Error,
        "asleep",
      );
      assert(error.message.includes(`process ${Deno.pid}`));
    }
    await gpu.wake(model);
    assertEquals(await model.tensor("w").at(-1), 2);
    assertEquals([heldCount(pid), model.persistence.asleepIn], [1, undefined]);
    {
      await using peer = scene.peer();
      const shape = { do: "persist", name: "m" } as const;
      await assertRejects(() => peer.tell(shape)); // it expects other contents, and has it open
      const error = await assertRejects(
        () => gpu.sleep(model),
        PersistError,
        `process ${peer.pid}`,
      );
      assertEquals(error.reason, "open");
      assertEquals(await model.tensor("w").at(0), 2);
    }
    await until(() => model.persistence.openedBy.length === 1, "the other has let go");
    await gpu.sleep(model);
    await gpu.forget("m");
    await gpu.wake(model); // it is this program's alone now
    assertEquals([await model.tensor("w").at(7), heldCount(pid)], [2, 0]);
    await gpu.sleep(model);
    assertEquals([await model.tensor("w").at(7), heldCount(pid)], [2, 0]);
    model.dispose();
    using again = await gpu.persist("m", () => gpu.loadSafetensors(path));
    assertEquals(again.persistence.wasThere, false);
    await gpu.sleep(again);
    again.dispose();
    await gpu.synchronize();
    assertEquals((await gpu.persisted()).count, 0); // asleep it ends with who has its contents
  },
);

/** The bytes of what the peers persist for the tests of files. */
const BYTES = 3 * MIB + 1;

/** Runs a test with memory that a process has persisted, put to sleep in a file, and left. */
function testAsleepInFile(
  name: string,
  body: (
    place: { readonly gpu: CudaDevice; readonly scene: KeeperScene; readonly path: string },
  ) => Promise<void>,
): void {
  testOnLinux(name, async () => {
    await using scene = new KeeperScene();
    using gpu = openTestDevice();
    const before = freeBytes(gpu);
    const path = scene.pathOf("asleep");
    {
      await using peer = scene.peer();
      await peer.tell({ do: "persist", name: "w", value: 7, byteLength: BYTES });
      await peer.tell({ do: "sleep", to: "file", path });
      await peer.kill();
    }
    assertEquals([heldCount(await scene.pid()), freeBytes(gpu)], [0, before]);
    await body({ gpu, scene, path });
    await gpu.synchronize();
    assertEquals(gpu.live().count, 0);
    await gpu.forget("w");
    assertEquals([heldCount(await scene.pid()), freeBytes(gpu)], [0, before]);
  });
}

/** Opens what the peer has persisted. */
function openW(gpu: CudaDevice) {
  return gpu.persist("w", (): { x: DeviceBuffer<"uint8"> } => {
    throw new Error("is there already");
  });
}

takingTurns(testAsleepInFile)(
  "Persisted memory in a file outlives its process",
  async ({ gpu, scene, path }) => {
    const [row] = await gpu.persisted();
    assertEquals([row?.asleepIn, row?.byteLength, row?.openedBy], [path, 0, []]);
    await using peer = scene.peer();
    const told = peer.tell<PersistAnswer>({ do: "persist", name: "w" });
    {
      using here = await openW(gpu); // both at once: one reads the file, the other waits
      assertEquals([here.x.length, here.persistence.state], [BYTES, "clean"]);
      assertEquals(new Set(await here.x.download()), new Set([7]));
      assertEquals([here.persistence.wasThere, here.persistence.asleepIn], [true, undefined]);
      assertEquals((await told).bytes, [7, 7]);
      await peer.tell({ do: "fill", value: 8, waits: true });
      assertEquals([await here.x.at(0), await here.x.at(-1)], [8, 8]); // one memory
      assertEquals(heldCount(await scene.pid()), 1);
    }
    await gpu.synchronize();
    await peer.tell({ do: "sleep", to: "file", path: scene.pathOf("again") });
    await peer.tell({ do: "dispose" });
    using here = await openW(gpu);
    assertEquals(await here.x.at(5), 8);
  },
);

testAsleepInFile("Persisted memory is told to be lost with its file", async ({ gpu, path }) => {
  const bytes = await Deno.readFile(path);
  await Deno.remove(path);
  await assertRejects(() => openW(gpu), Deno.errors.NotFound, "asleep");
  bytes[bytes.length - 1] = 1;
  await Deno.writeFile(path, bytes); // another file of the same size
  const error = await assertRejects(() => openW(gpu), PersistError);
  assertEquals(
    [error.reason, error.message],
    ["gone", `Cannot open "w": ${path} is another file than was written; it is lost`],
  );
  using anew = await gpu.persist("w", () => gpu.zeros("uint8", 4), { replace: true });
  assertEquals(await anew.at(0), 0);
});

takingTurns(testAsleepInFile)(
  "A death while a file is read leaves it asleep there",
  async ({ gpu, scene }) => {
    for (const round of shareOf([0, 1, 2, 3, 4], { least: 2 })) {
      await using peer = scene.peer();
      await peer.tell({ do: "free bytes" });
      peer.tell({ do: "persist", name: "w" }).catch(() => {});
      await delay(4 * round);
      await peer.kill();
    }
    using here = await openW(gpu);
    assertEquals(new Set(await here.x.download()), new Set([7]));
  },
);

takingTurns(testOnLinux)(
  "A death on the way to sleep leaves the memory with the keeper",
  async () => {
    await using scene = new KeeperScene();
    using gpu = openTestDevice();
    for (const round of shareOf([0, 1, 2, 3, 4], { least: 2 })) {
      await using peer = scene.peer();
      await peer.tell({ do: "persist", name: "w", value: 7, byteLength: 32 * MIB });
      peer.tell({ do: "sleep", to: "file", path: scene.pathOf("asleep") }).catch(() => {});
      await delay(3 * round);
      await peer.kill();
      using here = await openW(gpu);
      assertEquals([await here.x.at(0), await here.x.at(-1)], [7, 7]);
      await gpu.forget("w");
    }
  },
);

takingTurns(testOnLinux)("A part of persisted memory does not sleep without the rest", async () => {
  await using _scene = new KeeperScene();
  using gpu = openTestDevice();
  const make = () => ({ x: gpu.zeros("uint8", 40 * MIB), y: gpu.zeros("uint8", 40 * MIB) });
  using kept = await gpu.persist("both", make);
  using other = await gpu.persist("other", () => gpu.zeros("uint8", 4));
  using z = gpu.zeros("uint8", 4);
  for (const part of [kept.x, { x: kept.x }, { x: kept.x, y: kept.y, z }, { x: kept.x, other }]) {
    const error = await assertRejects(() => gpu.sleep(part), PersistError);
    assertStringIncludes(error.message, "sleeps alone and as a whole");
  }
  await gpu.sleep({ x: kept.x, y: kept.y }); // is the whole
  assertEquals(kept.persistence.asleepIn, "host memory");
  await gpu.wake(kept.x);
  await gpu.sleep(kept, { onUse: "throw" });
  await Promise.all([gpu.persist("both", make), gpu.wake(kept), gpu.persist("both", make)]);
  assertEquals(await kept.y.at(-1), 0);
  gpu.disposeAll();
});

testOnLinux("An error for want of memory names the keeper and its bytes", async () => {
  await using scene = new KeeperScene();
  {
    using small = CudaDevice.open(0, { driver: simulateDriver({ machine: "keeper" }) });
    using _kept = await small.persist("w", () => small.alloc("uint8", 70 * MIB));
  }
  using gpu = CudaDevice.open(0, {
    driver: simulateDriver({ memoryBytes: 128 * MIB, machine: "keeper" }),
  });
  assertEquals(gpu.memory.freeBytes, 58 * MIB);
  const error = assertThrows(() => gpu.alloc("uint8", 64 * MIB), OutOfMemoryError);
  const pid = await scene.pid();
  assertStringIncludes(error.message, `70 MiB persisted by the keeper, process ${pid}`);
  assertStringIncludes(error.hint, "gpu.forget() persisted memory that is no longer needed");
  await gpu.forget("w");
  gpu.alloc("uint8", 64 * MIB).dispose();
  using _x = await gpu.persist("x", () => gpu.alloc("uint8", 40 * MIB));
  Deno.kill(pid, "SIGKILL");
  await untilOver(pid);
  const later = assertThrows(() => gpu.alloc("uint8", 100 * MIB), OutOfMemoryError);
  assertEquals(later.message.includes("keeper"), false);
});
