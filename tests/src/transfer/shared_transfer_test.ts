// Transfers that lanes and the caller copy together: random arrays beside a model, behind what is queued,
// and calls that fail.

import { assert, assertEquals, assertGreater, assertThrows } from "@std/assert";
import { CUresult } from "../../../ffi/constants.ts";
import type { DriverFunction } from "../../../ffi/cuda.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { CopyLanes } from "../../../src/lanes/copy_lanes.ts";
import { queueOf } from "../../../src/order/stream.ts";
import type { Direction } from "../../../src/transfer/pieces.ts";
import { moveShared } from "../../../src/transfer/shared_transfer.ts";
import { StagingMemory } from "../../../src/transfer/staging_memory.ts";
import { isShared } from "../../../src/transfer/ways.ts";
import { CudaError } from "../../../src/words/errors.ts";
import { sleep } from "../../../src/words/timer.ts";
import { assertHoldsOnly, assertSameBytes, patternBytes } from "../../support/contents.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { share, testRandom } from "../../support/random.ts";
import { takingTurns, testOnLinux } from "../../support/test_unless.ts";

const MIB = 2 ** 20;
const MAX_BYTES = 8 * MIB;

/** A device, and lanes that share its transfers. */
class SharingScene implements Disposable {
  readonly #faulty = faultyDriver(simulateDriver());
  readonly setFault = this.#faulty.setFault;
  readonly gpu = CudaDevice.open(0, { driver: this.#faulty.driver });
  readonly #lanes = new CopyLanes(0, { laneCount: 2, sharedLaneCount: 2 });

  /** Opens the device, and waits for its lanes unless the caller is to do all by itself. */
  static async open({ hasLanes = true } = {}): Promise<SharingScene> {
    const scene = new SharingScene();
    if (hasLanes) scene.#lanes.start();
    while (hasLanes && scene.#lanes.runningCount < 2) await sleep(5);
    return scene;
  }

  move(
    direction: Direction,
    buffer: DeviceBuffer<"uint8">,
    bytes: Uint8Array | (() => Uint8Array),
  ): void {
    const { byteLength, ptr: device } = buffer;
    const staged = StagingMemory.of(this.gpu.context).take(direction, byteLength);
    assert(staged !== undefined);
    moveShared({
      ...{ direction, staged, device, byteLength, lanes: this.#lanes },
      stream: queueOf(this.gpu.stream),
      bytes: typeof bytes === "function" ? bytes : () => bytes,
    });
  }

  [Symbol.dispose](): void {
    this.#lanes.dispose();
    this.gpu.dispose();
  }
}

for (const hasLanes of [true, false]) {
  const who = hasLanes ? "lanes and the caller" : "the caller alone";
  takingTurns(testOnLinux)(
    `moveShared() by ${who} moves any size to and from any place`,
    async () => {
      using scene = await SharingScene.open({ hasLanes });
      using memory = scene.gpu.zeros("uint8", MAX_BYTES + MIB);
      const model = new Uint8Array(memory.byteLength);
      const random = testRandom();
      const sizes = [
        2 ** 18,
        2 ** 19 - 1,
        2 ** 19,
        MIB + 1,
        2 * MIB - 1,
        4 * MIB + 1,
        MAX_BYTES,
        1,
      ];
      for (let call = 0; call < Math.max(12, share(40)); call++) {
        const size = sizes[call] ?? 1 + random.below(MAX_BYTES);
        const start = random.below(memory.byteLength - size + 1);
        using part = memory.subarray(start, start + size);
        const around = new Uint8Array(size + 64).fill(77);
        const offset = random.below(64);
        const array = around.subarray(offset, offset + size);
        if (call % 2 === 0) {
          array.set(patternBytes(size, call));
          scene.move("upload", part, array);
          array.fill(1); // the call has returned: nothing reads it any more
          model.set(patternBytes(size, call), start);
          assertSameBytes(memory.downloadSync(), model);
        } else {
          scene.move("download", part, array);
          assertSameBytes(array, model.subarray(start, start + size));
          array.fill(77); // nothing writes into it either
          assertHoldsOnly(around, 77);
        }
      }
    },
  );
}

takingTurns(testOnLinux)("moveShared() comes after what its stream has queued", async () => {
  using scene = await SharingScene.open();
  using x = scene.gpu.alloc("uint8", 3 * MIB);
  for (let round = 0; round < 8; round++) {
    x.fill(round);
    const array = new Uint8Array(3 * MIB).fill(100);
    scene.move("download", x, array);
    assertHoldsOnly(array, round);
    x.fill(200);
    scene.move("upload", x, array);
    assertHoldsOnly(x.downloadSync(), round);
  }
});

const FAULTS: readonly DriverFunction[] = ["cuMemcpyAsync", "cuEventRecord", "cuEventQuery"];

for (const name of FAULTS) {
  takingTurns(testOnLinux)(
    `moveShared() in which ${name} fails throws, and the next ones are right`,
    async () => {
      using scene = await SharingScene.open();
      using x = scene.gpu.zeros("uint8", 6 * MIB);
      const sent = patternBytes(6 * MIB, 3);
      let failedCount = 0;
      for (let after = 0; after < 9; after++) {
        for (const direction of ["upload", "download"] as const) {
          const array = sent.slice();
          scene.setFault({ name, after, status: CUresult.CUDA_ERROR_LAUNCH_TIMEOUT });
          try {
            scene.move(direction, x, array);
          } catch (error) {
            assert(error instanceof CudaError, String(error));
            failedCount++;
          }
          scene.setFault(undefined);
          array.fill(9);
          scene.gpu.synchronizeSync();
          assertHoldsOnly(array, 9);
          scene.move("upload", x, sent);
          scene.move("download", x, array);
          assertSameBytes(array, sent);
        }
      }
      assertGreater(failedCount, 0);
    },
  );
}

testOnLinux("moveShared() into an array that cannot be made leaves nothing", async () => {
  using scene = await SharingScene.open();
  const sent = patternBytes(2 * MIB, 5);
  using x = await scene.gpu.upload(sent);
  const refuse = () => {
    throw new RangeError("Array buffer allocation failed");
  };
  assertThrows(() => scene.move("download", x, refuse), RangeError, "allocation failed");
  const array = new Uint8Array(sent.length);
  scene.move("download", x, array);
  assertSameBytes(array, sent);
});

Deno.test("isShared() begins with arrays that have no pages, and ends with large ones", () => {
  const sizes = [2 ** 18, 2 ** 19, 4 * MIB + 1, 8 * MIB, 8 * MIB + 1];
  assertEquals(sizes.map((size) => isShared(size)), [false, true, true, true, false]);
  assertEquals(sizes.map((size) => isShared(size, { isFresh: true })), [
    true,
    true,
    false,
    false,
    false,
  ]);
});
