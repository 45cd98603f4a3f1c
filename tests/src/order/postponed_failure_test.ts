// Calls that come after a transfer are made when it is over: where one of them fails then, nobody has
// awaited it, and whatever waits for its stream next tells the program.

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import type { CudaStream } from "../../../src/order/stream.ts";
import { CudaError } from "../../../src/words/errors.ts";
import { type Fault, faultyDriver } from "../../support/faulty_driver.ts";
import { LATE_BYTES, requireUnderWay } from "../../support/under_way.ts";
import { withDevice } from "../../support/with_device.ts";

/** A device, a stream, and a call on that which is to fail behind a transfer. */
interface FailureScene {
  readonly gpu: CudaDevice;
  readonly stream: CudaStream;
  readonly x: DeviceBuffer<"uint8">;
  /** Makes the call wait for the stream of the transfer, in vain. */
  readonly setFault: (fault: Fault | undefined) => void;
}

/** What fails: the wait for the stream of the transfer. */
const FAULT = { name: "cuStreamWaitEvent" } as const;

/** Runs a test with a transfer under way. */
async function withUpload(body: (scene: FailureScene) => unknown): Promise<void> {
  const { driver, setFault } = faultyDriver();
  await withDevice(async (gpu) => {
    using stream = gpu.createStream();
    using x = gpu.alloc("uint8", LATE_BYTES);
    const upload = x.upload(new Uint8Array(LATE_BYTES).fill(7));
    requireUnderWay(gpu.stream);
    await body({ gpu, stream, x, setFault });
    await upload;
    setFault(undefined);
  }, { driver });
}

/** Ways to wait for a stream, each of which has an error to tell. */
const WAITS: Readonly<Record<string, (scene: FailureScene) => unknown>> = {
  "CudaStream.synchronize()": ({ stream }) => stream.synchronize(),
  "CudaStream.synchronizeSync()": ({ stream }) => stream.synchronizeSync(),
  "CudaDevice.synchronize()": ({ gpu }) => gpu.synchronize(),
  "CudaDevice.synchronizeSync()": ({ gpu }) => gpu.synchronizeSync(),
  "CudaEvent.synchronize()": async ({ stream }) => {
    using event = stream.record();
    await event.synchronize();
  },
  "CudaEvent.synchronizeSync()": ({ stream }) => {
    using event = stream.record();
    event.synchronizeSync();
  },
  "CudaEvent.isComplete": async ({ stream, x }) => {
    using event = stream.record();
    await x.at(0); // the upload is over
    return event.isComplete;
  },
};

for (const [name, wait] of Object.entries(WAITS)) {
  Deno.test(`${name} tells of a call behind a transfer that failed, once`, () =>
    withUpload(async (scene) => {
      const { gpu, stream, x, setFault } = scene;
      using y = gpu.zeros("uint8", LATE_BYTES);
      y.copyFrom(x, { stream });
      setFault(FAULT);
      await assertRejects(async () => await wait(scene), CudaError, FAULT.name);
      setFault(undefined);
      await wait(scene);
      await gpu.synchronize();
    }));
}

Deno.test("CudaEvent that could not be recorded behind a transfer says so, and is not complete", () =>
  withUpload(async ({ stream, x, setFault }) => {
    x.subarray(0, 8).fill(1, { stream });
    using event = stream.record();
    setFault({ name: "cuEventRecord" });
    await assertRejects(() => event.synchronize(), CudaError, "cuEventRecord");
    setFault(undefined);
    stream.record(event);
    await event.synchronize();
  }));

Deno.test("CudaEvent tells of what failed before it, and of nothing behind it", () =>
  withUpload(async ({ gpu, stream, x, setFault }) => {
    using early = stream.record();
    using y = gpu.zeros("uint8", LATE_BYTES);
    y.copyFrom(x, { stream });
    using late = stream.record();
    setFault(FAULT);
    await x.at(0);
    assertEquals(early.isComplete, true);
    assertThrows(() => late.isComplete, CudaError, FAULT.name);
    setFault(undefined);
    await stream.synchronize();
  }));

Deno.test("CudaDevice.downloadPinned() fails when its copy behind a transfer does, and leaves nothing", () =>
  withUpload(async ({ gpu, stream, x, setFault }) => {
    const download = gpu.downloadPinned(x, { stream });
    setFault(FAULT);
    await assertRejects(() => download, CudaError, FAULT.name);
    setFault(undefined);
    using host = await gpu.downloadPinned(x, { stream });
    assertEquals(host.array[LATE_BYTES - 1], 7);
  }));
