// Transfers that lanes and the caller copy together: random programs beside a model, calls that fail,
// and memory that there is not.

import { assert, assertEquals, assertGreater, assertThrows } from "@std/assert";
import { CUresult } from "../../../ffi/constants.ts";
import type { DriverFunction } from "../../../ffi/cuda.ts";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { CopyLanes } from "../../../src/lanes/copy_lanes.ts";
import type { LaneTask } from "../../../src/lanes/lane_tasks.ts";
import { queueOf } from "../../../src/order/stream.ts";
import { awakeLanes, engineOf } from "../../../src/transfer/context_engine.ts";
import { moveShared } from "../../../src/transfer/shared_transfer.ts";
import { StagingMemory } from "../../../src/transfer/staging_memory.ts";
import { SHARED_BYTES } from "../../../src/transfer/ways.ts";
import { CudaError } from "../../../src/words/errors.ts";
import { assertSameBytes, patternBytes } from "../../support/contents.ts";
import { faultyDriver, watchedDriver } from "../../support/faulty_driver.ts";
import { type Random, type RandomRun, runSeeds, testRandom } from "../../support/random.ts";

const MIB = 2 ** 20;
const LARGEST = SHARED_BYTES.download.largest;

/** A device whose lanes run, are taken for awake, and count the parts that they are given. */
class SharingScene implements Disposable {
  readonly #watched = watchedDriver();
  readonly #faulty = faultyDriver(this.#watched.driver);
  /** Names of the driver's functions that were called. */
  readonly calls = this.#watched.calls;
  readonly gpu = CudaDevice.open(0, {
    driver: this.#faulty.driver,
    transfers: { laneCount: 4 },
  });
  readonly setFault = this.#faulty.setFault;
  readonly #restore: () => void;
  partCount = 0;
  /** Most lanes that are taken for awake. */
  awakeLimit = Infinity;

  constructor() {
    const { prototype } = CopyLanes;
    const { submit } = prototype;
    const awake = Object.getOwnPropertyDescriptor(prototype, "awakeCount");
    assert(awake !== undefined);
    const note = ({ operation }: LaneTask) => {
      if (operation === "copyEach") this.partCount++;
    };
    prototype.submit = function (slot, task) {
      note(task);
      submit.call(this, slot, task);
    };
    // On few cores lanes sleep when they have nothing to do; the first part wakes them.
    const limited = (count: number) => Math.min(count, this.awakeLimit);
    Object.defineProperty(prototype, "awakeCount", {
      configurable: true,
      get(this: CopyLanes) {
        return limited(this.runningCount);
      },
    });
    this.#restore = () => {
      prototype.submit = submit;
      Object.defineProperty(prototype, "awakeCount", awake);
    };
  }

  /** Opens the device, and waits for its lanes. */
  static async open(): Promise<SharingScene> {
    const scene = new SharingScene();
    await engineOf(scene.gpu.context).runLanes();
    return scene;
  }

  [Symbol.dispose](): void {
    this.#restore();
    this.gpu.dispose();
  }
}

/** Sizes around the borders of shared transfers and of their pieces. */
const SIZES = [
  2 ** 18 - 1,
  2 ** 18,
  2 ** 19 - 1,
  2 ** 19,
  2 * MIB - 1,
  4 * MIB + 1,
  LARGEST,
  LARGEST + 1,
];

/** Takes one of these sizes, or any. */
function someSize(random: Random): number {
  return random.pick([...SIZES, random.below(LARGEST), random.below(LARGEST)]) ?? 0;
}

/** Moves bytes between a random part of a buffer and an array, and compares with a model. */
async function moveAtRandom(
  { random, log }: RandomRun,
  { memory, model, host, size }: {
    readonly memory: DeviceBuffer<"uint8">;
    readonly model: Uint8Array;
    readonly host: Uint8Array<ArrayBuffer>;
    readonly size: number;
  },
): Promise<void> {
  const start = random.below(memory.byteLength - size + 1);
  using part = memory.subarray(start, start + size);
  const offset = random.below(64);
  const bytes = random.below(3) === 0
    ? new Uint8Array(size) // without pages
    : host.subarray(offset, offset + size);
  const [isUpload, isSync, isNew] = [random.below(2), random.below(2), random.below(2)];
  log.push(`${isUpload}${isSync}${isNew}: ${size} bytes from ${start}, ${offset}`);
  if (isUpload) {
    bytes.set(patternBytes(size, random.below(250)));
    if (isSync) part.uploadSync(bytes);
    else await part.upload(bytes);
    model.set(bytes, start);
  } else if (isNew) {
    const array = isSync ? part.downloadSync() : await part.download();
    assertSameBytes(array, model.subarray(start, start + size));
  } else {
    if (isSync) part.downloadSync(bytes);
    else await part.download(bytes);
    assertSameBytes(bytes, model.subarray(start, start + size));
  }
}

Deno.test("shared transfers of random parts, types and places agree with a model", async () => {
  using scene = await SharingScene.open();
  using memory = scene.gpu.zeros("uint8", LARGEST + MIB);
  const host = new Uint8Array(memory.byteLength + 64);
  await runSeeds(6, async (run) => {
    const model = new Uint8Array(memory.byteLength);
    memory.fill(0);
    for (let call = 0; call < 12; call++) {
      const size = Math.min(memory.byteLength, someSize(run.random));
      await moveAtRandom(run, { memory, model, host, size });
    }
  });
  assertGreater(scene.partCount, 100);
});

Deno.test("shared transfers convert bfloat16 and leave the bytes around them", async () => {
  using scene = await SharingScene.open();
  const floats = Float32Array.from({ length: MIB }, (_, index) => index % 251);
  using x = await scene.gpu.upload(floats, { dtype: "bfloat16" });
  const around = new Float32Array(floats.length + 2).fill(-1);
  x.downloadSync(around.subarray(1, -1));
  assertEquals([around[0], around.at(-1)], [-1, -1]);
  assertEquals(around.subarray(1, -1), floats);
  assertGreater(scene.partCount, 8);
});

Deno.test("shared transfers come after what their stream and others have queued", async () => {
  using scene = await SharingScene.open();
  const { gpu } = scene;
  using stream = gpu.createStream();
  using x = gpu.alloc("uint8", 3 * MIB);
  for (let round = 0; round < 8; round++) {
    x.fill(round, { stream });
    assertEquals(x.downloadSync().findIndex((byte) => byte !== round), -1);
    x.uploadSync(new Uint8Array(3 * MIB).fill(100 + round), { stream });
    assertEquals((await x.download()).findIndex((byte) => byte !== 100 + round), -1);
  }
});

const FAULTS: readonly DriverFunction[] = ["cuMemcpyAsync", "cuEventRecord", "cuEventQuery"];

for (const name of FAULTS) {
  Deno.test(`a shared transfer in which ${name} fails throws, and the next ones are right`, async () => {
    using scene = await SharingScene.open();
    using x = scene.gpu.zeros("uint8", 6 * MIB);
    const sent = patternBytes(6 * MIB, 3);
    const array = new Uint8Array(6 * MIB);
    x.uploadSync(sent);
    x.downloadSync(array);
    let failedCount = 0;
    for (let after = 0; after < 12; after++) {
      const moves = [
        () => x.uploadSync(sent),
        () => x.downloadSync(array),
        () => assertSameBytes(x.downloadSync(), sent),
      ];
      for (const move of moves) {
        scene.setFault({ name, after, status: CUresult.CUDA_ERROR_LAUNCH_TIMEOUT });
        try {
          move();
        } catch (error) {
          assert(error instanceof CudaError, String(error));
          failedCount++;
        }
        scene.setFault(undefined);
        scene.gpu.synchronizeSync();
      }
      x.uploadSync(sent);
      assertSameBytes(x.downloadSync(array.fill(0)), sent);
    }
    assertGreater(failedCount, 0);
  });
}

Deno.test("a new array is made while the copy engine works, and one that cannot be made leaves nothing", async () => {
  using scene = await SharingScene.open();
  const { gpu } = scene;
  const sent = patternBytes(2 * MIB, 5);
  using x = await gpu.upload(sent);
  using stream = gpu.createStream();
  const staged = StagingMemory.of(gpu.context).take("download", sent.length);
  const lanes = awakeLanes(gpu.context);
  assert(staged !== undefined && lanes !== undefined);
  const move = {
    direction: "download",
    stream: queueOf(stream),
    device: x.ptr,
    byteLength: sent.length,
    lanes,
    slots: lanes.freeSlots,
    staged,
  } as const;
  scene.calls.length = 0;
  const refused = () =>
    moveShared({
      ...move,
      bytes: () => {
        assert(scene.calls.includes("cuMemcpyAsync"));
        throw new RangeError("Array buffer allocation failed");
      },
    });
  assertThrows(refused, RangeError, "allocation failed");
  assertEquals(lanes.freeSlots, move.slots);
  const array = new Uint8Array(sent.length);
  moveShared({ ...move, bytes: () => array });
  assertSameBytes(array, sent);
  const partCount = scene.partCount;
  assertSameBytes(x.downloadSync(), sent);
  assertGreater(scene.partCount, partCount);
});

Deno.test("a download looks once for lanes that sleep, and the next one wakes them", async () => {
  using scene = await SharingScene.open();
  using x = scene.gpu.zeros("uint8", MIB);
  const { prototype } = CopyLanes;
  const { rouse } = prototype;
  const { now } = performance;
  let time = now.call(performance) + 1000;
  let wakeCount = 0;
  const counts: number[] = [];
  scene.awakeLimit = 0;
  prototype.rouse = () => void wakeCount++;
  performance.now = () => time;
  try {
    for (const milliseconds of [0, 1, 100]) {
      time += milliseconds;
      x.downloadSync();
      counts.push(wakeCount);
    }
  } finally {
    performance.now = now;
    prototype.rouse = rouse;
  }
  assertEquals(counts, [0, 1, 1]);
});

Deno.test("without page-locked memory the driver moves the bytes", async () => {
  using scene = await SharingScene.open();
  using x = scene.gpu.alloc("uint8", 2 * MIB);
  const sent = patternBytes(2 * MIB, testRandom().below(200));
  for (const name of ["cuMemHostRegister_v2", "cuMemHostAlloc", "cuEventCreate"] as const) {
    StagingMemory.of(scene.gpu.context).trim();
    scene.setFault({ name, status: CUresult.CUDA_ERROR_OUT_OF_MEMORY });
    x.uploadSync(sent);
    assertSameBytes(x.downloadSync(new Uint8Array(sent.length)), sent);
    scene.setFault(undefined);
  }
});

Deno.test("a shared transfer of an array that is page-locked is one copy", async () => {
  using scene = await SharingScene.open();
  using x = scene.gpu.zeros("uint8", 2 * MIB);
  using pinned = scene.gpu.pinned("uint8", 2 * MIB);
  x.uploadSync(pinned.array);
  await x.download(pinned.array);
  assertEquals(scene.partCount, 0);
  assertThrows(() => x.uploadSync(new Uint8Array(MIB)), RangeError);
});
