// Two streams and one buffer: the second waits for the first by itself, unless told not to.
// The simulated driver throws when two streams touch the same bytes in no order.

import { assertEquals, assertFalse, assertLess, assertThrows } from "@std/assert";
import { simulateDriver, SimulationError } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { queueOf } from "../../../src/order/stream.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { assertHoldsOnly } from "../../support/contents.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { testOnDevice } from "../../support/with_device.ts";

testHolding("GpuBuffer.dispose() frees after a stream that was disposed while busy", (gpu) => {
  const stream = gpu.createStream();
  using gate = gpu.createStream();
  using held = new HeldStream(gpu, gate);
  const buffer = gpu.zeros("uint8", 4096);
  stream.wait(gate);
  buffer.fill(1, { stream });
  stream.dispose();
  buffer.dispose();
  held.release();
});

testOnDevice("GpuBuffer.fill() refuses a disposed stream before any call", (gpu) => {
  using buffer = gpu.zeros("uint8", 8);
  using other = gpu.zeros("uint8", 8);
  const stream = gpu.createStream();
  stream.dispose();
  assertThrows(() => buffer.fill(1, { stream }), DisposedError, "CudaStream");
  assertThrows(() => buffer.copyFrom(other, { stream }), DisposedError, "CudaStream");
  assertThrows(() => buffer.strided().fill(1, { stream }), DisposedError, "CudaStream");
  assertThrows(() => buffer.close(stream), DisposedError, "CudaStream");
});

Deno.test("CudaDevice.open() with manual order leaves two streams to the program", () => {
  const driver = simulateDriver();
  using gpu = CudaDevice.open(0, { driver, order: "manual" });
  using stream = gpu.createStream();
  using buffer = gpu.alloc("uint8", 64);
  stream.wait(gpu.stream);
  buffer.fill(1, { stream });
  assertThrows(() => buffer.fill(2), SimulationError, "race");
});

Deno.test("CudaDevice.open() with manual order is right with events of the program", async () => {
  const driver = simulateDriver();
  using gpu = CudaDevice.open(0, { driver, order: "manual" });
  using stream = gpu.createStream();
  using buffer = gpu.zeros("uint8", 64);
  stream.wait(gpu.stream);
  buffer.fill(1, { stream });
  using written = stream.record();
  gpu.stream.wait(written);
  buffer.fill(2);
  assertHoldsOnly(await buffer.download(), 2);
});

Deno.test("GpuBuffer.dispose() with manual order still frees after every stream", () => {
  const driver = simulateDriver();
  using gpu = CudaDevice.open(0, { driver, order: "manual" });
  using stream = gpu.createStream();
  using other = gpu.createStream();
  const buffer = gpu.zeros("uint8", 64);
  stream.wait(gpu.stream);
  other.wait(gpu.stream);
  buffer.subarray(0, 32).fill(1, { stream });
  buffer.subarray(32).fill(2, { stream: other });
  buffer.dispose();
  gpu.synchronizeSync();
  assertEquals(gpu.live().objects.map(({ kind }) => kind), ["stream", "stream"]);
});

Deno.test("CudaDevice.open() refuses another order while the device is open", () => {
  const driver = simulateDriver();
  using _gpu = CudaDevice.open(0, { driver, order: "manual" });
  assertThrows(
    () => CudaDevice.open(0, { driver, order: "automatic" }),
    TypeError,
    "Cannot open device 0 with automatic order: it is open with manual order",
  );
  using same = CudaDevice.open(0, { driver });
  assertEquals(same.context.ordersStreams, false);
  const order = "none" as "manual";
  assertThrows(() => CudaDevice.open(0, { driver, order }), TypeError, 'expected "automatic"');
});

testOnDevice("StreamUsage forgets streams that are gone, however many read a buffer", (gpu) => {
  using source = gpu.zeros("uint8", 64);
  using target = gpu.zeros("uint8", 64);
  for (let round = 0; round < 100; round++) {
    using stream = gpu.createStream();
    target.copyFrom(source, { stream });
    stream.synchronizeSync();
  }
  assertLess(source.span.allocation.usage.streams().length, 20);
});

testHolding("StreamQueue.lend() lets others wait for what came before, later for all", (gpu) => {
  using lent = gpu.createStream();
  using reader = gpu.createStream();
  using shared = gpu.zeros("uint32", 256, { stream: lent });
  using target = gpu.zeros("uint32", 256, { stream: reader });
  gpu.synchronizeSync();
  shared.fill(1, { stream: lent });
  {
    const loan = queueOf(lent).lend();
    using held = new HeldStream(gpu, lent);
    target.copyFrom(shared, { stream: reader });
    reader.synchronizeSync(); // would never end behind what is queued during the loan
    loan[Symbol.dispose]();
    shared.fill(2, { stream: lent });
    target.copyFrom(shared, { stream: reader });
    assertFalse(reader.isIdle);
    held.release();
  }
  assertEquals(target.downloadSync()[255], 2);
});
