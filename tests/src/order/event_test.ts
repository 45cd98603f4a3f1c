// Checks marks in streams: when they are passed, what time they tell, how they end.

import {
  assert,
  assertEquals,
  assertFalse,
  assertGreater,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { CUresult } from "../../../ffi/constants.ts";
import { createEvent, type CudaEvent } from "../../../src/order/event.ts";
import { CudaError, DisposedError } from "../../../src/words/errors.ts";
import { openTestDevice, testOnTwoDevices } from "../../support/driver.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { HeldStream, testHolding, testHoldingWatched } from "../../support/held_stream.ts";
import { LATE_BYTES, requireUnderWay } from "../../support/under_way.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

testOnDevice("CudaEvent.isComplete is true before it was recorded", (gpu) => {
  using event = gpu.createEvent();
  assert(event.isComplete);
});

testHolding("CudaEvent.isComplete is false until the work before it is done", (gpu) => {
  using stream = gpu.createStream();
  using held = new HeldStream(gpu, stream);
  using event = stream.record();
  assertFalse(event.isComplete);
  held.release();
  event.synchronizeSync();
  assert(event.isComplete);
});

Deno.test("CudaEvent.isComplete throws what the work before it failed with", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice((gpu) => {
    using event = gpu.stream.record();
    setFault({ name: "cuEventQuery", status: CUresult.CUDA_ERROR_LAUNCH_FAILED });
    const error = assertThrows(() => event.isComplete, CudaError, "CUDA_ERROR_LAUNCH_FAILED");
    assertEquals(error.call, "cuEventQuery");
    setFault(undefined);
  }, { driver });
});

testHolding("CudaEvent.synchronize() resolves once the work before it is done", async (gpu) => {
  using stream = gpu.createStream();
  using held = new HeldStream(gpu, stream);
  using event = stream.record();
  let isDone = false;
  const waiting = event.synchronize().then(() => isDone = true);
  await delay(2);
  assertFalse(isDone);
  held.release();
  await waiting;
  assert(event.isComplete);
});

Deno.test("CudaEvent.synchronize() rejects with what the driver reports", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice(async (gpu) => {
    using event = gpu.stream.record();
    setFault({ name: "cuEventQuery", status: CUresult.CUDA_ERROR_ILLEGAL_ADDRESS });
    await assertRejects(() => event.synchronize(), CudaError, "CUDA_ERROR_ILLEGAL_ADDRESS");
    setFault(undefined);
  }, { driver });
});

testOnDevice("CudaEvent.secondsSince() tells the GPU time between two marks", (gpu) => {
  using a = gpu.zeros("uint8", 2 ** 20);
  using b = gpu.alloc("uint8", 2 ** 20);
  using start = gpu.stream.record();
  b.copyFrom(a);
  using end = gpu.stream.record();
  end.synchronizeSync();
  const seconds = end.secondsSince(start);
  assertGreater(seconds, 0);
  assertEquals(start.secondsSince(end), -seconds);
});

testOnDevice("CudaEvent.secondsSince() refuses events that record no time", (gpu) => {
  using timed = gpu.stream.record();
  using plain = gpu.stream.record({ timing: false });
  gpu.synchronizeSync();
  assertThrows(() => plain.secondsSince(timed), TypeError, "made with timing: false");
  assertThrows(() => timed.secondsSince(plain), TypeError, "made with timing: false");
});

testOnDevice("CudaEvent.secondsSince() fails for an event that was never recorded", (gpu) => {
  using start = gpu.createEvent();
  using end = gpu.stream.record();
  end.synchronizeSync();
  assertThrows(
    () => end.secondsSince(start),
    CudaError,
    "CUDA_ERROR_INVALID_HANDLE (400); stream.record() both events first",
  );
});

testHolding("CudaEvent.secondsSince() fails for a mark that is still ahead", (gpu) => {
  using stream = gpu.createStream();
  using start = stream.record();
  using _held = new HeldStream(gpu, stream);
  using end = stream.record();
  assertThrows(
    () => end.secondsSince(start),
    CudaError,
    "CUDA_ERROR_NOT_READY (600); await the later event's synchronize() first",
  );
});

testOnTwoDevices("CudaEvent.secondsSince() refuses events of two devices", (first, second) => {
  using start = first.stream.record();
  using end = second.stream.record();
  first.synchronizeSync();
  second.synchronizeSync();
  assertThrows(() => end.secondsSince(start), TypeError, "each device has a clock of its own");
});

testOnDevice("CudaEvent.dispose() frees once when called twice", (gpu) => {
  const event = gpu.createEvent({ label: "mark" });
  assertEquals(gpu.live().count, 1);
  event.dispose();
  event.dispose();
  assert(event.disposed);
  assertEquals(gpu.live().count, 0);
});

const USES: Record<string, (event: CudaEvent, other: CudaEvent) => unknown> = {
  "handle": (event) => event.handle,
  "isComplete": (event) => event.isComplete,
  "synchronize()": (event) => event.synchronize(),
  "synchronizeSync()": (event) => event.synchronizeSync(),
  "secondsSince()": (event, other) => event.secondsSince(other),
  "secondsSince() of another": (event, other) => other.secondsSince(event),
};

for (const [use, run] of Object.entries(USES)) {
  testOnDevice(`CudaEvent.${use} names the event when it was disposed`, async (gpu) => {
    using other = gpu.stream.record();
    const event = gpu.createEvent({ label: "mark" });
    event.dispose();
    await assertRejects(
      async () => await run(event, other),
      DisposedError,
      "Cannot use CudaEvent(mark): it was disposed",
    );
  });
}

testOnDevice("CudaEvent.toString() shows the label or the number", (gpu) => {
  using labelled = createEvent(gpu.context, { label: "mark" });
  using plain = createEvent(gpu.context);
  assertEquals(String(labelled), "CudaEvent(mark)");
  assert(/^CudaEvent\(#\d+\)$/.test(String(plain)));
  assertEquals(Deno.inspect(labelled), "CudaEvent(mark)");
  labelled.dispose();
  assertEquals(Deno.inspect(labelled), "CudaEvent(mark) disposed");
});

Deno.test("CudaEvent keeps its context when the device is disposed first", async () => {
  const gpu = openTestDevice();
  const event = gpu.stream.record();
  gpu.dispose();
  await event.synchronize();
  assert(event.isComplete);
  event.dispose();
  assert(event.context.released);
});

/** Ways to wait for an event, after which it is recorded, and the work before it done. */
const WAITS: Readonly<Record<string, (event: CudaEvent) => unknown>> = {
  "synchronize()": (event) => event.synchronize(),
  "synchronizeSync()": (event) => event.synchronizeSync(),
  handle: (event) => event.context.driver.call("cuEventSynchronize", event.handle),
};

for (const [name, wait] of Object.entries(WAITS)) {
  testOnDevice(`CudaEvent.${name} comes after a transfer that is under way`, async (gpu) => {
    using x = gpu.alloc("uint8", LATE_BYTES).fill(7);
    using before = gpu.stream.record();
    const array = new Uint8Array(LATE_BYTES);
    const download = x.download(array);
    using event = gpu.stream.record();
    requireUnderWay(gpu.stream);
    assertFalse(event.isComplete);
    assertThrows(() => event.secondsSince(before), CudaError, "event's synchronize() first");
    await wait(event);
    assertEquals(array.at(-1), 7);
    assert(event.isComplete);
    assertGreater(event.secondsSince(before), 0);
    await download;
  });
}

Deno.test("CudaEvent disposed behind a transfer is still waited for, and leaves nothing", () =>
  withDevice(async (gpu) => {
    using other = gpu.createStream();
    using x = gpu.alloc("uint8", LATE_BYTES);
    using y = gpu.zeros("uint8", 8);
    const upload = x.upload(new Uint8Array(LATE_BYTES).fill(7));
    using before = gpu.createEvent();
    const event = gpu.stream.record();
    other.wait(event);
    y.fill(1, { stream: other });
    requireUnderWay(other);
    event.dispose();
    assertThrows(() => event.secondsSince(before), DisposedError);
    await assertRejects(() => event.synchronize(), DisposedError);
    await upload;
    assertEquals(await y.at(0), 1);
  }));

testHoldingWatched(
  "CudaEvent.synchronize() keeps an event that its thread waits for",
  async (gpu, { untilCalled }) => {
    using stream = gpu.createStream();
    using held = new HeldStream(gpu, stream);
    const event = stream.record();
    const waiting = event.synchronize();
    await untilCalled("cuEventSynchronizeNonblocking");
    event.dispose();
    held.release();
    await waiting;
  },
);
