// A stream that is being captured by raw driver calls, on whichever driver the suite runs.
// What the driver answers is compared by name, so that a difference says what it is.

import { assertEquals } from "@std/assert";
import { CUresult, CUstreamCaptureMode } from "../../ffi/constants.ts";
import type { DeviceBuffer } from "../../src/buffers/device_buffer.ts";
import type { PinnedBuffer } from "../../src/buffers/pinned_buffer.ts";
import type { CudaDevice } from "../../src/device/device.ts";
import type { CudaStream } from "../../src/order/stream.ts";
import { statusName } from "../../src/words/errors.ts";
import type { CompleteApi } from "./simulated_gpu.ts";

/** The status of a call that succeeds. */
export const OK = "CUDA_SUCCESS";

/** The mode in which captures begin: other threads may do what they like meanwhile. */
export const CAPTURE_MODE = CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED;

/** Names a status. */
export function nameOf(status: number): string {
  return status === CUresult.CUDA_SUCCESS ? OK : statusName(status);
}

/** A stream that is being captured, and what a call may need beside it. */
export class CaptureScene implements Disposable {
  readonly api: CompleteApi;
  readonly gpu: CudaDevice;
  readonly block: DeviceBuffer<"uint32">;
  readonly host: PinnedBuffer<"uint32">;
  readonly captured: CudaStream;
  readonly other: CudaStream;
  readonly #things = new DisposableStack();
  readonly #cell = new BigUint64Array(1);

  constructor(gpu: CudaDevice) {
    this.gpu = gpu;
    this.api = gpu.context.driver.api as CompleteApi;
    this.block = this.#things.use(gpu.zeros("uint32", 64));
    this.host = this.#things.use(gpu.pinned("uint32", 64));
    this.captured = this.#things.use(gpu.createStream());
    this.other = this.#things.use(gpu.createStream());
    gpu.synchronizeSync();
  }

  /** The handle of the stream that is being captured. */
  get stream(): bigint {
    return this.captured.handle;
  }

  /** An event that is destroyed with the scene. */
  event(): bigint {
    return this.#things.use(this.gpu.createEvent({ timing: false })).handle;
  }

  /** An event that was recorded on a stream. */
  recorded(stream: CudaStream): bigint {
    const event = this.event();
    assertEquals(this.api.cuEventRecord(event, stream.handle), 0);
    return event;
  }

  /** Lets the other stream take part. */
  fork(): void {
    const event = this.recorded(this.captured);
    assertEquals(this.api.cuStreamWaitEvent(this.other.handle, event, 0), 0);
  }

  /** Fills the block on a stream, and returns the status. */
  fill(stream = this.stream): number {
    return this.api.cuMemsetD32Async(this.block.ptr, 1, 64n, stream);
  }

  /** Returns the value that a call writes into a cell. */
  out(call: (cell: BigUint64Array<ArrayBuffer>) => number): bigint {
    this.#cell[0] = 0n;
    assertEquals(call(this.#cell), 0);
    return this.#cell[0];
  }

  /** Begins the capture, and returns the status. */
  begin(): number {
    return this.api.cuStreamBeginCapture_v2(this.stream, CAPTURE_MODE);
  }

  /** Ends the capture: its status, and how many nodes its graph has. */
  end(): [status: string, nodeCount: number | undefined] {
    this.#cell[0] = 0n;
    const status = this.api.cuStreamEndCapture(this.stream, this.#cell);
    const [graph = 0n] = this.#cell;
    if (graph === 0n) return [nameOf(status), undefined];
    const count = this.out((cell) => this.api.cuGraphGetNodes(graph, null, cell));
    assertEquals(this.api.cuGraphDestroy(graph), 0);
    return [nameOf(status), Number(count)];
  }

  [Symbol.dispose](): void {
    this.#things.dispose();
  }
}
