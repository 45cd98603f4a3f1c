// Checks that queues keep their order, wait for each other, never block JavaScript, and end well.

import {
  assert,
  assertEquals,
  assertFalse,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { CUresult } from "../../../ffi/constants.ts";
import type { DriverApi } from "../../../ffi/cuda.ts";
import { type SimulatedLaunch, simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import {
  type CudaStream,
  defaultStreamOf,
  queueOf,
  type StreamPriority,
} from "../../../src/order/stream.ts";
import { CudaError, DisposedError } from "../../../src/words/errors.ts";
import { testDriver, testOnTwoDevices } from "../../support/driver.ts";
import { faultyDriver, watchedDriver } from "../../support/faulty_driver.ts";
import {
  HeldStream,
  holdingSkip,
  testHolding,
  testHoldingWatched,
} from "../../support/held_stream.ts";
import { testUnless } from "../../support/test_unless.ts";
import { captureWarnings, CaughtWarnings } from "../../support/warnings.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

testOnDevice("CudaStream runs what is queued on it in order", (gpu) => {
  using stream = gpu.createStream();
  using buffer = gpu.alloc("uint32", 1000, { stream });
  for (let value = 0; value <= 50; value++) buffer.fill(value, { stream });
  assertEquals(buffer.downloadSync(undefined, { stream })[999], 50);
});

testHolding("CudaStream.isIdle is false while work is queued", (gpu) => {
  using stream = gpu.createStream();
  assert(stream.isIdle);
  using held = new HeldStream(gpu, stream);
  assertFalse(stream.isIdle);
  held.release();
  stream.synchronizeSync();
  assert(stream.isIdle);
});

testHolding("CudaStream.wait() for an event orders two streams", (gpu) => {
  using first = gpu.createStream();
  using second = gpu.createStream();
  using held = new HeldStream(gpu, first);
  using mark = first.record();
  second.wait(mark);
  assertFalse(second.isIdle);
  held.release();
  second.synchronizeSync();
  assert(mark.isComplete);
});

testHolding("CudaStream.wait() for a stream waits for what it has queued so far", (gpu) => {
  using first = gpu.createStream();
  using second = gpu.createStream();
  using held = new HeldStream(gpu, first);
  second.wait(first);
  assertFalse(second.isIdle);
  held.release();
  second.synchronizeSync();
  assert(first.isIdle);
});

testHolding("CudaStream.wait() for a stream does not wait for what it queues later", (gpu) => {
  using first = gpu.createStream();
  using second = gpu.createStream();
  second.wait(first);
  using _held = new HeldStream(gpu, first);
  second.synchronizeSync();
  assert(second.isIdle);
});

testOnDevice("CudaStream.wait() for itself adds nothing", (gpu) => {
  using stream = gpu.createStream();
  stream.wait(stream);
  assert(stream.isIdle);
});

testHolding("CudaStream.wait() for a disposed stream waits for the work it left", (gpu) => {
  const first = gpu.createStream();
  using second = gpu.createStream();
  using held = new HeldStream(gpu, first);
  first.dispose();
  second.wait(first);
  assertFalse(second.isIdle);
  held.release();
  second.synchronizeSync();
  assert(second.isIdle);
});

testOnTwoDevices("CudaStream.wait() waits for a stream of another device", (first, second) => {
  using a = first.createStream();
  using b = second.createStream();
  {
    using held = new HeldStream(first, a);
    b.wait(a);
    assertFalse(b.isIdle);
    held.release();
    b.synchronizeSync();
  }
  assert(a.isIdle);
});

testHolding("CudaStream.record() moves an event that is given", (gpu) => {
  using stream = gpu.createStream();
  using event = gpu.createEvent();
  using held = new HeldStream(gpu, stream);
  assertEquals(stream.record(event), event);
  assertFalse(event.isComplete);
  held.release();
  event.synchronizeSync();
});

testOnTwoDevices("CudaStream.record() refuses an event of another device", (first, second) => {
  using event = second.createEvent({ label: "there" });
  assertThrows(
    () => first.stream.record(event),
    TypeError,
    "Cannot record CudaEvent(there) on CudaStream(default): it belongs to device 1",
  );
});

testHolding("CudaStream.synchronize() lets timers and promises run meanwhile", async (gpu) => {
  using stream = gpu.createStream();
  using held = new HeldStream(gpu, stream);
  let ticks = 0;
  const timer = setInterval(() => {
    if (++ticks === 5) held.release();
  }, 1);
  await stream.synchronize(); // would never end if the timer could not run
  clearInterval(timer);
  assert(ticks >= 5);
});

testHolding("CudaStream.synchronize() serves many waits at once", async (gpu) => {
  using stream = gpu.createStream();
  using held = new HeldStream(gpu, stream);
  const waits = Promise.all(Array.from({ length: 20 }, () => stream.synchronize()));
  setTimeout(() => held.release(), 1);
  await waits;
  assert(stream.isIdle);
});

testHolding("CudaDevice.synchronize() waits for all streams of the program's", async (gpu) => {
  using first = gpu.createStream();
  using second = gpu.createStream();
  using firstHeld = new HeldStream(gpu, first);
  using held = new HeldStream(gpu, second);
  let isOver = false;
  const waiting = gpu.synchronize().then(() => isOver = true);
  firstHeld.release();
  await delay(5);
  assertFalse(isOver);
  held.release();
  await waiting;
  assert(first.isIdle && second.isIdle);
});

testHolding("CudaDevice.synchronize() passes streams that are disposed meanwhile", async (gpu) => {
  const stream = gpu.createStream();
  using held = new HeldStream(gpu, stream);
  const waiting = gpu.synchronize();
  stream.dispose();
  held.release();
  await waiting;
  await gpu.synchronize();
});

testHoldingWatched(
  "CudaStream.synchronize() keeps a stream that its thread waits for",
  async (gpu, { untilCalled }) => {
    const stream = gpu.createStream();
    using held = new HeldStream(gpu, stream);
    const waiting = stream.synchronize();
    await untilCalled("cuStreamSynchronizeNonblocking");
    stream.dispose();
    held.release();
    await waiting;
    assert(stream.disposed);
  },
);

testUnless(
  "CudaStream.synchronize() keeps a device that its thread waits for",
  holdingSkip(),
  async () => {
    const { driver, untilCalled } = watchedDriver();
    const gpu = CudaDevice.open(0, { driver });
    const { context } = gpu;
    using warnings = new CaughtWarnings();
    const held = new HeldStream(gpu, gpu.stream);
    const waiting = gpu.stream.synchronize();
    await untilCalled("cuStreamSynchronizeNonblocking");
    held[Symbol.dispose]();
    gpu.dispose();
    await waiting;
    assert(context.released);
    assertEquals(warnings.texts, []);
  },
);

testHolding("CudaDevice.synchronize() waits for disposed streams and their memory", async (gpu) => {
  const stream = gpu.createStream();
  using held = new HeldStream(gpu, stream);
  const x = gpu.pinned("float32", 256, { stream });
  x.fill(1, { stream });
  x.dispose();
  stream.dispose();
  let isOver = false;
  const waiting = gpu.synchronize().then(() => isOver = true);
  await delay(5);
  assertFalse(isOver);
  held.release();
  await waiting;
  assertEquals(gpu.context.deferred.works.size, 0);
});

Deno.test("CudaDevice.synchronize() resolves when the device is disposed meanwhile", async () => {
  const gpu = CudaDevice.open(0, { driver: testDriver() });
  const stream = gpu.createStream();
  const x = gpu.pinned("float32", 256, { stream });
  x.fill(1, { stream });
  const waiting = gpu.synchronize();
  x.dispose();
  stream.dispose();
  const { context } = gpu;
  gpu.dispose();
  await waiting;
  assert(context.released);
});

testHolding(
  "CudaDevice.synchronize() waits for what is queued when other streams' work is over",
  async (gpu) => {
    using x = gpu.zeros("float32", 256);
    const stream = gpu.createStream();
    using held = new HeldStream(gpu, stream);
    gpu.context.defer({
      isDue: () => stream.isIdle,
      wait: () => stream.synchronizeSync(),
      run: () => void x.fill(2),
    });
    const waiting = gpu.synchronize();
    await delay(5);
    held.release();
    await waiting;
    assert(queueOf(gpu.stream).isKnownIdle);
    stream.dispose();
  },
);

Deno.test("CudaStream.synchronize() rejects with what the work failed with", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice(async (gpu) => {
    setFault({ name: "cuStreamQuery", status: CUresult.CUDA_ERROR_LAUNCH_FAILED });
    await assertRejects(() => gpu.stream.synchronize(), CudaError, "CUDA_ERROR_LAUNCH_FAILED");
    setFault(undefined);
  }, { driver });
});

Deno.test("CudaStream.synchronize() rejects with what the waiting thread reports", () => {
  const { driver, setFault } = faultyDriver();
  const held = { ...driver, cuStreamSynchronizeNonblocking: () => Promise.resolve(719) };
  return withDevice(async (gpu) => {
    setFault({ name: "cuStreamQuery", status: CUresult.CUDA_ERROR_NOT_READY });
    await assertRejects(() => gpu.stream.synchronize(), CudaError, "CUDA_ERROR_LAUNCH_FAILED");
    setFault(undefined);
  }, { driver: held });
});

for (const priority of ["low", "normal", "high"] as const) {
  Deno.test(`createStream() asks the driver for ${priority} priority`, () => {
    const driver = testDriver();
    let asked: number | undefined;
    const noting: DriverApi = {
      ...driver,
      cuStreamCreateWithPriority(cell, flags, number) {
        asked = number;
        return driver.cuStreamCreateWithPriority(cell, flags, number);
      },
    };
    return withDevice((gpu) => {
      using stream = gpu.createStream({ priority });
      assertEquals(stream.priority, priority);
      const [least, greatest] = [new Int32Array(1), new Int32Array(1)];
      gpu.context.call("cuCtxGetStreamPriorityRange", least, greatest);
      assertEquals(asked, { low: least[0], normal: 0, high: greatest[0] }[priority]);
    }, { driver: noting });
  });
}

testOnDevice("createStream() refuses a priority that there is not", (gpu) => {
  assertThrows(
    () => gpu.createStream({ priority: "urgent" as StreamPriority }),
    TypeError,
    'option "priority" is "urgent", expected "low", "normal" or "high"',
  );
});

testOnDevice("defaultStreamOf() is one stream for a device", (gpu) => {
  assertEquals(defaultStreamOf(gpu.context), gpu.stream);
  assertEquals(String(gpu.stream), "CudaStream(default)");
});

testOnDevice("CudaStream.dispose() refuses the default stream", (gpu) => {
  assertThrows(() => gpu.stream.dispose(), TypeError, "dispose the device");
  assertFalse(gpu.stream.disposed);
});

Deno.test("CudaStream.disposed is true for the default stream when all is gone", async () => {
  let stream: CudaStream | undefined;
  await withDevice((gpu) => stream = gpu.stream);
  assertEquals(stream?.disposed, true);
  assertThrows(() => stream?.handle, DisposedError, "CudaStream(default)");
});

testOnDevice("CudaStream.dispose() frees once when called twice", (gpu) => {
  const stream = gpu.createStream();
  assertEquals(gpu.live().count, 1);
  stream.dispose();
  stream.dispose();
  assertEquals(gpu.live().count, 0);
});

testHolding("CudaStream.dispose() lets queued work finish and memory stay until then", (gpu) => {
  const stream = gpu.createStream();
  using source = gpu.pinned("uint32", 1000);
  source.array.fill(7);
  using target = gpu.zeros("uint32", 1000, { stream });
  {
    using _held = new HeldStream(gpu, stream);
    target.copyFrom(source, { stream });
    stream.dispose();
  }
  assertEquals(target.downloadSync()[999], 7);
});

testHolding("CudaStream.dispose() keeps later users of its buffers behind its work", (gpu) => {
  const stream = gpu.createStream();
  using buffer = gpu.zeros("uint32", 1000);
  {
    using held = new HeldStream(gpu, stream);
    buffer.fill(1, { stream });
    stream.dispose();
    buffer.fill(2);
    assertFalse(gpu.stream.isIdle);
    held.release();
  }
  assertEquals(buffer.downloadSync()[0], 2);
});

testOnDevice("CudaStream.dispose() frees its buffers later, on the default stream", (gpu) => {
  const stream = gpu.createStream();
  const buffer = gpu.zeros("uint32", 1000, { stream });
  stream.dispose();
  assertEquals(captureWarnings(() => buffer.dispose()), []);
});

Deno.test("CudaStream.dispose() reports a failure and does not throw", () => {
  const { driver, setFault } = faultyDriver();
  return withDevice((gpu) => {
    const stream = gpu.createStream({ label: "loader" });
    const { handle } = stream;
    setFault({ name: "cuStreamDestroy_v2" });
    const [warning = "", ...others] = captureWarnings(() => stream.dispose());
    assertStringIncludes(
      warning,
      "vramkit: stream loader could not be given back: Cannot complete cuStreamDestroy_v2: " +
        "CUDA_ERROR_UNKNOWN (999), unknown",
    );
    assertEquals(others, []);
    setFault(undefined);
    gpu.context.call("cuStreamDestroy_v2", handle);
  }, { driver });
});

const USES: Record<string, (stream: CudaStream) => unknown> = {
  "handle": (stream) => stream.handle,
  "isIdle": (stream) => stream.isIdle,
  "record()": (stream) => stream.record(),
  "synchronize()": (stream) => stream.synchronize(),
  "synchronizeSync()": (stream) => stream.synchronizeSync(),
  "wait()": (stream) => stream.wait(defaultStreamOf(stream.context)),
};

for (const [use, run] of Object.entries(USES)) {
  testOnDevice(`CudaStream.${use} names the stream when it was disposed`, async (gpu) => {
    const stream = gpu.createStream({ label: "loader" });
    stream.dispose();
    await assertRejects(
      async () => await run(stream),
      DisposedError,
      "Cannot use CudaStream(loader): it was disposed",
    );
  });
}

testOnDevice("CudaStream that was disposed never turns into the default stream", async (gpu) => {
  const stream = gpu.createStream({ label: "loader" });
  using buffer = gpu.zeros("uint32", 4);
  stream.dispose();
  const uses = [
    () => gpu.alloc("uint32", 4, { stream }),
    () => gpu.pinned("uint32", 4, { stream }),
    () => gpu.zeros("uint32", 4, { stream }),
    () => gpu.upload(new Uint32Array(4), { stream }),
    () => buffer.fill(1, { stream }),
    () => buffer.clear({ stream }),
    () => buffer.copyFrom(buffer, { stream }),
    () => buffer.upload(new Uint32Array(4), { stream }),
    () => buffer.uploadSync(new Uint32Array(4), { stream }),
    () => buffer.download(undefined, { stream }),
    () => buffer.downloadSync(undefined, { stream }),
    () => buffer.close(stream),
    () => gpu.time(() => {}, { stream }),
  ];
  for (const use of uses) {
    await assertRejects(async () => await use(), DisposedError, "CudaStream(loader)", `${use}`);
  }
  assertFalse(buffer.disposed);
  assertEquals([...buffer.downloadSync()], [0, 0, 0, 0]);
});

for (const name of ["cuStreamQuery", "cuEventCreate", "cuEventRecord"] as const) {
  Deno.test(`CudaStream.dispose() waits for its work where ${name} fails`, () => {
    const { driver, setFault } = faultyDriver();
    return withDevice((gpu) => {
      using buffer = gpu.alloc("uint32", 1000);
      const stream = gpu.createStream();
      for (let i = 0; i < 20; i++) buffer.fill(i, { stream });
      setFault({ name });
      stream.dispose();
      setFault(undefined);
      assertEquals(buffer.downloadSync()[999], 19);
    }, { driver });
  });
}

Deno.test("CudaStream.dispose() that meets a mistake in its work keeps no event", async () => {
  const astray = { run: ({ read }: SimulatedLaunch) => void read(0n, 1) };
  const { driver, calls } = watchedDriver(simulateDriver({ kernels: { astray } }));
  const count = (name: string) => calls.filter((call) => call === name).length;
  {
    using gpu = CudaDevice.open(0, { driver });
    using kernel = await gpu.compile(`extern "C" __global__ void astray(char *x) {}`);
    const stream = gpu.createStream();
    using x = gpu.alloc("uint8", 64, { stream });
    stream.synchronizeSync();
    kernel.launch({ grid: 1, block: 1, args: [x], stream });
    x.fill(1); // on another stream, which comes after the launch
    const [warning = ""] = captureWarnings(() => stream.dispose());
    assertStringIncludes(warning, "the kernel touches address 0");
    assertEquals(x.downloadSync(), new Uint8Array(64).fill(1));
  }
  assertEquals(count("cuEventCreate"), count("cuEventDestroy_v2"));
});

testOnDevice("CudaStream.dispose() in a loop keeps few events of streams that are busy", (gpu) => {
  using buffer = gpu.alloc("uint32", 1000);
  for (let i = 0; i < 4000; i++) {
    using stream = gpu.createStream();
    buffer.fill(i, { stream });
  }
  assert(gpu.context.deferred.works.size < 100, `${gpu.context.deferred.works.size} are kept`);
  assertEquals(buffer.downloadSync()[0], 3999);
});

testHolding("CudaStream.synchronize() does what was put off until it is done", async (gpu) => {
  using stream = gpu.createStream();
  const hostBytes = gpu.memory.hostBytes;
  {
    using held = new HeldStream(gpu, stream);
    const host = gpu.pinned("uint8", 4096, { stream });
    host.fill(1, { stream });
    host.dispose();
    assertEquals([gpu.context.deferred.works.size, gpu.live().count], [1, 2]);
    held.release();
    await stream.synchronize();
    assertEquals(gpu.context.deferred.works.size, 0);
  }
  assertEquals(gpu.memory.hostBytes, hostBytes);
});
