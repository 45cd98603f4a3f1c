// Memory that was freed comes back: to the system after each way of waiting, to every source of memory
// at once, and after a pause when the program waits for nothing.

import { assert, assertEquals, assertGreaterOrEqual, assertLess, assertThrows } from "@std/assert";
import type { CudaDevice } from "../../../src/device/device.ts";
import {
  CudaAsyncMemoryResource,
  CudaMemoryResource,
  VirtualMemoryResource,
} from "../../../src/entries/memory.ts";
import { OutOfMemoryError } from "../../../src/words/errors.ts";
import { ON_GPU } from "../../support/driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { takingTurns } from "../../support/test_unless.ts";
import { testOnDevice } from "../../support/with_device.ts";

const MIB = 2 ** 20;

/** Steps in which a pool takes memory, and whatever a real driver takes for itself meanwhile. */
const SLACK_BYTES = 96 * MIB;

/** Ways to wait that the guides teach. */
const WAITS: Readonly<Record<string, (gpu: CudaDevice) => unknown>> = {
  "await gpu.synchronize()": (gpu) => gpu.synchronize(),
  "gpu.synchronizeSync()": (gpu) => gpu.synchronizeSync(),
  "await stream.synchronize()": (gpu) => gpu.stream.synchronize(),
  "stream.synchronizeSync()": (gpu) => gpu.stream.synchronizeSync(),
  "await another stream's synchronize()": async (gpu) => {
    using other = gpu.createStream();
    other.wait(gpu.stream);
    await other.synchronize();
  },
  "await event.synchronize()": async (gpu) => {
    using event = gpu.stream.record();
    await event.synchronize();
  },
  "await upload()": async (gpu) => {
    using small = await gpu.upload(new Float32Array(4));
    assert(small.length === 4);
  },
  "await download()": async (gpu) => {
    using small = gpu.zeros("float32", 4);
    await small.download();
  },
  "await download() of 4 MiB": async (gpu) => {
    using large = gpu.zeros("float32", MIB);
    await large.download();
  },
  "downloadSync()": (gpu) => {
    using small = gpu.zeros("float32", 4);
    small.downloadSync();
  },
  "a pause": () => new Promise((resolve) => setTimeout(resolve, 1500)),
};

for (const [name, wait] of Object.entries(WAITS)) {
  testOnDevice(`Memory that was disposed is back with the system after ${name}`, async (gpu) => {
    useMost(gpu); // a driver takes memory of its own at the first use
    gpu.synchronizeSync();
    const before = gpu.memory.freeBytes;
    const usedBefore = usedFromOutside();
    useMost(gpu);
    await wait(gpu);
    assertGreaterOrEqual(gpu.memory.freeBytes, before - SLACK_BYTES);
    assertLess(gpu.memory.cachedBytes, SLACK_BYTES);
    assertLess(usedFromOutside(), usedBefore + SLACK_BYTES);
  });
}

/** Sources of memory, each of which takes some and gives it back. */
const SOURCES: Readonly<Record<string, (gpu: CudaDevice, byteLength: number) => void>> = {
  "the device's pool": (gpu, byteLength) => gpu.alloc("uint8", byteLength).dispose(),
  "another stream": (gpu, byteLength) => {
    using stream = gpu.createStream();
    using _buffer = gpu.alloc("uint8", byteLength, { stream });
  },
  "a pool of its own": (gpu, byteLength) => {
    using resource = new CudaAsyncMemoryResource(gpu, { releaseThresholdSize: "1 GiB" });
    using _buffer = gpu.alloc("uint8", byteLength, { resource });
  },
  "CudaMemoryResource": (gpu, byteLength) => {
    using _buffer = gpu.alloc("uint8", byteLength, { resource: new CudaMemoryResource(gpu) });
  },
  "VirtualMemoryResource": (gpu, byteLength) => {
    const size = byteLength - byteLength % (2 * MIB);
    using _buffer = gpu.alloc("uint8", size, { resource: new VirtualMemoryResource(gpu) });
  },
  "a growable buffer": (gpu, byteLength) => {
    using buffer = gpu.growable("uint8", { reserveSize: byteLength });
    buffer.resize(byteLength);
  },
  "rows with a pitch": (gpu, byteLength) => {
    using _rows = gpu.pitched("uint8", [Math.floor(byteLength / 2 ** 20), 2 ** 20]);
  },
  "a graph": (gpu, byteLength) => {
    using stream = gpu.createStream();
    using graph = gpu.capture(() => {
      using _buffer = gpu.zeros("uint8", byteLength, { stream });
    }, { stream });
    graph.launch();
    stream.synchronizeSync();
  },
};

/** One source for each way in which the driver gives memory. */
const TAKERS = ["the device's pool", "CudaMemoryResource", "a growable buffer", "a graph"]
  .flatMap((name) => SOURCES[name] ?? []);

for (const [first, use] of Object.entries(SOURCES)) {
  testOnDevice(`Memory that ${first} gave back serves all sources at once`, (gpu) => {
    for (const take of TAKERS) {
      const mostBytes = gpu.memory.freeBytes + gpu.memory.cachedBytes;
      use(gpu, Math.floor(0.62 * mostBytes));
      take(gpu, Math.floor(0.6 * mostBytes)); // more than the rest
    }
  });
}

testHolding("A shortage is told beside a stream that does not end", (gpu) => {
  using busy = gpu.createStream();
  using used = gpu.zeros("uint8", MIB, { stream: busy });
  busy.synchronizeSync();
  using held = new HeldStream(gpu, busy);
  used.fill(1, { stream: busy });
  gpu.alloc("uint8", MIB).dispose();
  const size = Math.floor(0.7 * gpu.memory.freeBytes);
  using _most = gpu.alloc("uint8", size);
  const error = assertThrows(() => gpu.alloc("uint8", size), OutOfMemoryError);
  assertEquals(error.message.includes("partly in use"), false);
  held.release();
});

testOnDevice("A shortage waits for memory that a busy stream frees, if that is enough", (gpu) => {
  using busy = gpu.createStream();
  const size = Math.floor(0.7 * gpu.memory.freeBytes);
  const most = gpu.zeros("uint8", size, { stream: busy });
  const pinned = gpu.pinned("uint8", MIB);
  most.subarray(0, MIB).copyTo(pinned, { stream: busy });
  most.dispose();
  pinned.dispose();
  gpu.alloc("uint8", size, { resource: new CudaMemoryResource(gpu) }).dispose();
});

takingTurns(testOnDevice)(
  "A loop of small buffers leaves little in the pool, and nothing after a pause",
  async (gpu) => {
    const before = (gpu.synchronizeSync(), gpu.memory.freeBytes);
    for (let round = 0; round < 300; round++) {
      using buffer = await gpu.upload(new Uint8Array(MIB));
      assertEquals((await buffer.download()).length, MIB);
    }
    assertGreaterOrEqual(gpu.memory.freeBytes, before - SLACK_BYTES);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    assertEquals(gpu.context.freed.byteLength, 0);
  },
);

testOnDevice("A stream that ends while it is busy gives its memory back", async (gpu) => {
  const before = (gpu.synchronizeSync(), gpu.memory.freeBytes);
  {
    using stream = gpu.createStream();
    using _buffer = gpu.zeros("uint8", 512 * MIB, { stream });
  }
  await gpu.synchronize();
  assertGreaterOrEqual(gpu.memory.freeBytes, before - SLACK_BYTES);
});

/** Takes most of the device's memory, uses some of it, and disposes it. */
function useMost(gpu: CudaDevice): void {
  const buffer = gpu.alloc("uint8", Math.floor(0.65 * gpu.memory.freeBytes));
  buffer.subarray(0, MIB).fill(1);
  buffer.dispose();
}

/** The memory that is used on all GPUs as another program sees it; 0 without a GPU. */
function usedFromOutside(): number {
  if (!ON_GPU) return 0;
  const args = ["--query-gpu=memory.used", "--format=csv,noheader,nounits"];
  const { stdout } = new Deno.Command("nvidia-smi", { args }).outputSync();
  const lines = new TextDecoder().decode(stdout).trim().split("\n");
  return lines.reduce((sum, line) => sum + MIB * Number(line), 0);
}
