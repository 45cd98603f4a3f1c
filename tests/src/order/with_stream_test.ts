// The stream of calls that name none: that of the innermost withStream(), capture(), update() or time().

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import { currentStreamOf } from "../../../src/order/stream_choice.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { testOnTwoDevices } from "../../support/driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { testOnDevice } from "../../support/with_device.ts";

testHolding("CudaDevice.withStream() has calls use a stream that name none", async (gpu) => {
  using stream = gpu.createStream();
  using x = gpu.zeros("int32", 4);
  using from = gpu.pinned("int32", 4).set([1, 2, 3, 4]);
  gpu.synchronizeSync();
  using held = new HeldStream(gpu, gpu.stream); // what is on the default stream does not end
  const result = await gpu.withStream(stream, async () => {
    using y = gpu.alloc("int32", 4);
    y.copyFrom(from);
    await stream.synchronize();
    y.fill(7); // behind an await
    return await y.download();
  });
  assertEquals([...result], [7, 7, 7, 7]);
  held.release();
  assertEquals([...await x.download()], [0, 0, 0, 0]);
});

testOnDevice("CudaDevice.withStream() holds for its own function, and nests", async (gpu) => {
  using outer = gpu.createStream({ label: "outer" });
  using inner = gpu.createStream({ label: "inner" });
  const streamNow = () => usedStream(gpu);
  const names: string[] = [];
  const other = Promise.withResolvers<void>();
  const beside = other.promise.then(() => names.push(`beside ${streamNow()}`));
  await gpu.withStream(outer, async () => {
    names.push(streamNow());
    gpu.withStream(inner, () => names.push(streamNow()));
    other.resolve();
    await beside;
    names.push(streamNow());
    await gpu.withStream(inner, async () => {
      await Promise.resolve();
      names.push(streamNow());
    });
    names.push(streamNow());
  });
  names.push(streamNow());
  assertEquals(names, ["outer", "inner", "beside default", "outer", "inner", "outer", "default"]);
});

testOnDevice("CudaDevice.withStream() ends with an error, and passes it on", async (gpu) => {
  using stream = gpu.createStream({ label: "own" });
  assertThrows(() => gpu.withStream(stream, () => failing()), Error, "on purpose");
  await assertRejects(() => gpu.withStream(stream, async () => await failing()), Error);
  assertEquals(usedStream(gpu), "default");
  assertThrows(() => gpu.withStream(undefined as never, () => {}), TypeError, "withStream");
  assertThrows(() => gpu.withStream(stream, 5 as never), TypeError, "withStream");
});

testOnDevice("CudaDevice.withStream() refuses a stream that is gone, also meanwhile", (gpu) => {
  const stream = gpu.createStream();
  using x = gpu.zeros("int32", 4);
  gpu.withStream(stream, () => {
    stream.dispose();
    assertThrows(() => x.fill(1), DisposedError);
  });
  assertThrows(() => gpu.withStream(stream, () => {}), DisposedError);
});

testOnTwoDevices("CudaDevice.withStream() is for one device", async (first, second) => {
  using stream = first.createStream({ label: "own" });
  using other = second.createStream({ label: "other" });
  assertThrows(() => first.withStream(other, () => {}), TypeError, "same device");
  await first.withStream(stream, async () => {
    assertEquals([usedStream(first), usedStream(second)], ["own", "default"]);
    await second.withStream(other, async () => {
      await Promise.resolve();
      assertEquals([usedStream(first), usedStream(second)], ["own", "other"]);
    });
  });
});

testOnDevice(
  "CudaDevice.capture() records calls that name no stream, allocations too",
  async (gpu) => {
    using stream = gpu.createStream();
    using x = gpu.zeros("int32", 4);
    using graph = gpu.capture(() => {
      using y = gpu.alloc("int32", 4);
      y.fill(3);
      x.copyFrom(y);
    }, { stream });
    assertEquals([...await x.download()], [0, 0, 0, 0]);
    graph.launch();
    assertEquals([...await x.download()], [3, 3, 3, 3]);
  },
);

testOnDevice("CudaGraph.update() records calls that name no stream", async (gpu) => {
  using stream = gpu.createStream();
  using x = gpu.zeros("int32", 4);
  using graph = gpu.capture(() => void x.fill(3), { stream });
  graph.update(() => void x.fill(5));
  assertEquals([...await x.download()], [0, 0, 0, 0]);
  graph.launch();
  assertEquals([...await x.download()], [5, 5, 5, 5]);
});

testOnDevice(
  "CudaDevice.capture() within withStream() has calls use the captured stream",
  (gpu) => {
    using outer = gpu.createStream();
    using stream = gpu.createStream();
    using x = gpu.zeros("int32", 4);
    const { nodeCount } = gpu.withStream(outer, () => {
      using graph = gpu.capture(() => void x.fill(1), { stream });
      return graph;
    });
    assertEquals(nodeCount, 1);
  },
);

testOnDevice(
  "CudaDevice.time() measures calls that name no stream, in async functions too",
  async (gpu) => {
    using stream = gpu.createStream({ label: "timed" });
    using x = gpu.zeros("uint8", 2 ** 20);
    using y = gpu.alloc("uint8", 2 ** 20);
    const names: string[] = [];
    const { copiedBytes } = await gpu.time(async () => {
      names.push(usedStream(gpu));
      await Promise.resolve();
      names.push(usedStream(gpu));
      y.copyFrom(x);
    }, { stream });
    assertEquals([names, copiedBytes], [["timed", "timed"], 2 ** 20]);
  },
);

/** Calls that cannot be recorded, and that the program does not await. */
const REFUSED: Readonly<
  Record<string, (gpu: CudaDevice, x: DeviceBuffer<"float32">) => Promise<unknown>>
> = {
  "equals()": (_, x) => x.equals(x),
  "firstDifference()": (_, x) => x.firstDifference(x),
  "checksum()": (_, x) => x.checksum(),
  "share()": (_, x) => x.share(),
  "downloadPinned()": (gpu, x) => gpu.downloadPinned(x),
  "download()": (_, x) => x.download(),
  "compile()": (gpu) => gpu.compile("__global__ void f() {}"),
  "bandwidth()": (gpu) => gpu.bandwidth({ sizes: ["4 KiB"], kinds: ["pinned"] }),
  "upload() on another stream": async (gpu) => {
    using stream = gpu.createStream();
    return await gpu.upload(new Uint8Array(4), { stream });
  },
};

for (const [name, call] of Object.entries(REFUSED)) {
  testOnDevice(
    `CudaDevice.capture() throws for ${name}, whether the call is awaited or not`,
    async (gpu) => {
      const unheard: unknown[] = [];
      const hear = (event: PromiseRejectionEvent) => {
        if (!event.defaultPrevented) unheard.push(event.reason);
      };
      using x = gpu.zeros("float32", 4);
      let called: Promise<unknown> = Promise.resolve();
      assertThrows(() => gpu.capture(() => void (called = call(gpu, x))), TypeError, "captur");
      addEventListener("unhandledrejection", hear); // behind the kit's own listener
      await new Promise((resolve) => setTimeout(resolve, 5));
      removeEventListener("unhandledrejection", hear);
      assertEquals(unheard, []);
      await assertRejects(() => called, TypeError, "captur");
    },
  );
}

/** Names the stream of a call that names none. */
function usedStream({ context }: CudaDevice): string {
  return currentStreamOf(context).name;
}

function failing(): never {
  throw new Error("on purpose");
}
