// Loads into new memory that the program gives back meanwhile, by disposeAll() or disposeSince(): what is
// on its way arrives in memory that is still there, and then that goes back.

import { assert, assertEquals, assertRejects } from "@std/assert";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import type { TransferOptions } from "../../../src/transfer/pending_transfer.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { freeBytes, withDevice } from "../../support/with_device.ts";

/** Enough for several pieces of the ring. */
const LENGTH = 24 * 2 ** 20;

/** Each load of a file, as a promise of what it made. */
const LOADS: Record<string, (gpu: CudaDevice, folder: string, o: TransferOptions) => unknown> = {
  "uploadFile()": (gpu, folder, o) => gpu.uploadFile(`${folder}/x.bin`, o),
  "loadNpy()": (gpu, folder, o) => gpu.loadNpy(`${folder}/x.npy`, o),
  "loadSafetensors()": (gpu, folder, o) => gpu.loadSafetensors(`${folder}/x.safetensors`, o),
};

for (const [name, load] of Object.entries(LOADS)) {
  Deno.test(`CudaDevice.${name} keeps its memory until it is over, when all is disposed meanwhile`, () =>
    withDevice(async (gpu) => {
      using folder = new TemporaryFolder();
      await save(gpu, folder.path);
      const mark = gpu.mark();
      const before = freeBytes(gpu);
      let callCount = 0;
      const onProgress = () => {
        if (callCount++ === 0) gpu.disposeSince(mark);
      };
      try {
        const made = await load(gpu, folder.path, { onProgress });
        assert((made as DeviceBuffer).disposed);
      } catch (error) {
        assert(error instanceof DisposedError, String(error));
      }
      assert(callCount > 0);
      assertEquals(freeBytes(gpu), before);
    }));
}

Deno.test("LazyBuffer.load() rejects when its new memory is disposed meanwhile, and loads again", () =>
  withDevice(async (gpu) => {
    using folder = new TemporaryFolder();
    await save(gpu, folder.path);
    using lazy = gpu.lazy("uint8", LENGTH, { file: `${folder.path}/x.bin` });
    const mark = gpu.mark();
    await assertRejects(
      () => lazy.load({ onProgress: () => gpu.disposeSince(mark) }),
      DisposedError,
      "x.bin",
    );
    await lazy.load();
    assertEquals(await lazy.at(LENGTH - 1), 7);
  }));

for (const [what, source] of [["a blob", (blob: Blob) => blob], ["a stream", streamOf]] as const) {
  Deno.test(`CudaDevice.from() of ${what} says that its memory was disposed meanwhile`, () =>
    withDevice(async (gpu) => {
      const mark = gpu.mark();
      const blob = new Blob([new Uint8Array(LENGTH)]);
      // A few microtasks later a part of the chunk is queued, and the rest waits for a turn.
      const dispose = async () => {
        for (let count = 0; count < 4; count++) await undefined;
        gpu.disposeSince(mark);
      };
      const options = { onProgress: () => void dispose() };
      await assertRejects(() => gpu.from(source(blob), options), DisposedError, "was disposed");
    }));
}

async function save(gpu: CudaDevice, folder: string): Promise<void> {
  using x = gpu.alloc("uint8", LENGTH).fill(7);
  await x.writeFile(`${folder}/x.bin`);
  await x.saveNpy(`${folder}/x.npy`);
  await gpu.saveSafetensors(`${folder}/x.safetensors`, { x });
}

/** All of it in one chunk, which is longer than a block of staging memory. */
function streamOf(blob: Blob): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(await blob.bytes());
      controller.close();
    },
  });
}
