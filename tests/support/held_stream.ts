// A stream that stands still until the test lets it go, so that "still queued" is a fact and no guess.
// The stream waits for a word of page-locked memory, which both drivers can do; compute-sanitizer
// cannot: under it some calls wait for all streams, also for one that stands still.

import { CUstreamWaitValue_flags } from "../../ffi/constants.ts";
import type { PinnedBuffer } from "../../src/buffers/pinned_buffer.ts";
import type { CudaDevice } from "../../src/device/device.ts";
import type { CudaStream } from "../../src/order/stream.ts";
import { IN_SANITIZER, testDriver } from "./driver.ts";
import { type WatchedDriver, watchedDriver } from "./faulty_driver.ts";
import { testUnless } from "./test_unless.ts";
import { withDevice } from "./with_device.ts";

/** Registers a test that holds a stream; its name says why it is skipped, where it is. */
export function testHolding(name: string, body: (gpu: CudaDevice) => unknown): void {
  testUnless(name, holdingSkip(), () => withDevice(body));
}

/** Registers a test that holds a stream on a driver whose calls are noted. */
export function testHoldingWatched(
  name: string,
  body: (gpu: CudaDevice, watched: WatchedDriver) => unknown,
): void {
  testUnless(name, holdingSkip(), () => {
    const watched = watchedDriver();
    return withDevice((gpu) => body(gpu, watched), watched);
  });
}

/** Tells why a stream cannot be held here, if so. */
export function holdingSkip(): string | undefined {
  if (IN_SANITIZER) return "holds a stream, which the sanitizer waits for";
  if (testDriver().cuStreamWaitValue32_v2 === null) {
    return "this driver has no way to hold a stream";
  }
  return undefined;
}

/** Holds all later work of a stream back; disposing it lets the work go and waits for it. */
export class HeldStream implements Disposable {
  readonly #word: PinnedBuffer<"uint32">;
  readonly #gpu: CudaDevice;

  /** Makes a stream wait from here on, or several for the same word. */
  constructor(gpu: CudaDevice, streams: CudaStream | readonly CudaStream[]) {
    if (IN_SANITIZER) {
      throw new TypeError("Cannot hold a stream under the sanitizer: use testHolding()");
    }
    this.#gpu = gpu;
    this.#word = gpu.pinned("uint32", 1);
    this.#word.array[0] = 0;
    const { CU_STREAM_WAIT_VALUE_EQ } = CUstreamWaitValue_flags;
    const { driver } = gpu.context;
    for (const { handle } of [streams].flat()) {
      driver.call("cuStreamWaitValue32_v2", handle, this.#word.ptr, 1, CU_STREAM_WAIT_VALUE_EQ);
    }
  }

  /** Lets the work go. */
  release(): void {
    if (!this.#word.disposed) Atomics.store(this.#word.array, 0, 1);
  }

  /** Lets the work go, waits until all of it is done, and gives the word back. */
  [Symbol.dispose](): void {
    this.release();
    this.#gpu.synchronizeSync();
    this.#word.dispose();
  }
}
