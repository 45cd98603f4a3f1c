// Graphs beside transfers that are under way: a launch of memory that one of them uses is made when it is
// over, and until then the graph keeps what the launch needs.

import { assertEquals, assertThrows } from "@std/assert";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { takingTurns } from "../../support/test_unless.ts";
import { LATE_BYTES, requireUnderWay } from "../../support/under_way.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

/** Starts to fill a large buffer, and checks that this is under way. */
function uploadLate(gpu: CudaDevice, x: DeviceBuffer<"uint8">, value: number): Promise<unknown> {
  const upload = x.upload(new Uint8Array(LATE_BYTES).fill(value));
  requireUnderWay(gpu.stream);
  return upload;
}

testOnDevice("CudaDevice.capture() records at once, also behind a transfer", async (gpu) => {
  using x = gpu.zeros("uint8", LATE_BYTES);
  using y = gpu.zeros("uint8", 8);
  const upload = uploadLate(gpu, x, 7);
  using graph = gpu.capture(() => {
    y.copyFrom(x.subarray(0, 8));
    y.subarray(4).fill(3);
  });
  assertEquals(graph.nodeCount, 2);
  await upload;
  assertEquals(await y.download(), new Uint8Array(8));
  graph.launch();
  assertEquals(await y.download(), Uint8Array.of(7, 7, 7, 7, 3, 3, 3, 3));
});

testOnDevice("CudaGraph.launch() comes after transfers, and keeps its memory", async (gpu) => {
  const x = gpu.zeros("uint8", LATE_BYTES);
  using y = gpu.zeros("uint8", 16);
  const graph = gpu.capture(() => y.subarray(0, 8).copyFrom(x.subarray(0, 8)));
  const upload = uploadLate(gpu, x, 7);
  graph.launch();
  assertEquals(graph.launchCount, 1);
  y.subarray(4, 6).fill(3); // behind the launch
  graph.dispose();
  x.dispose();
  await upload;
  assertEquals(await y.download(), Uint8Array.of(7, 7, 7, 7, 3, 3, 7, 7, ...new Uint8Array(8)));
});

takingTurns(testOnDevice)(
  "CudaGraph.launch() comes after a transfer of what it allocated",
  async (gpu) => {
    const made: DeviceBuffer<"uint8">[] = [];
    using graph = gpu.capture(() => made.push(gpu.alloc("uint8", LATE_BYTES).fill(1)));
    const [output] = made;
    graph.launch();
    output?.fill(2);
    const download = output?.download();
    requireUnderWay(gpu.stream);
    graph.launch();
    assertEquals(new Set(await download), new Set([2]));
    assertEquals(await output?.at(0), 1);
    output?.dispose();
  },
);

Deno.test("CudaGraph.launch() refuses a disposed stream at once, also behind a transfer", () =>
  withDevice(async (gpu) => {
    using x = gpu.zeros("uint8", LATE_BYTES);
    using graph = gpu.capture(() => x.subarray(0, 8).fill(1));
    const stream = gpu.createStream();
    stream.dispose();
    const upload = uploadLate(gpu, x, 7);
    assertThrows(() => graph.launch({ stream }), DisposedError, "CudaStream");
    assertEquals(graph.launchCount, 0);
    await upload;
    assertEquals(await x.at(0), 7);
  }));

Deno.test("Memory of a graph is refused before a launch at once, also behind a transfer", () =>
  withDevice(async (gpu) => {
    using x = gpu.zeros("uint8", LATE_BYTES);
    const made: DeviceBuffer<"uint8">[] = [];
    using graph = gpu.capture(() => made.push(gpu.alloc("uint8", 8).fill(1)));
    const [output] = made;
    const upload = uploadLate(gpu, x, 7);
    x.subarray(0, 8).fill(3); // calls on the stream come after this one
    assertThrows(() => output?.fill(2), TypeError, "launch the graph first");
    graph.launch();
    output?.subarray(0, 4).fill(2); // behind a launch that is still to come
    await upload;
    assertEquals(await output?.download(), Uint8Array.of(2, 2, 2, 2, 1, 1, 1, 1));
    output?.dispose();
  }));

testOnDevice("CudaGraph.update() comes after launches that wait for transfers", async (gpu) => {
  using x = gpu.zeros("uint8", LATE_BYTES);
  using y = gpu.zeros("uint8", 32);
  using graph = gpu.capture(() => y.subarray(0, 8).copyFrom(x.subarray(0, 8)));
  const upload = uploadLate(gpu, x, 7);
  graph.launch();
  graph.update(() => y.subarray(8, 24).copyFrom(x.subarray(8, 24)));
  const again = uploadLate(gpu, x, 8);
  graph.launch();
  await Promise.all([upload, again]);
  assertEquals(await y.download(), new Uint8Array(32).fill(7, 0, 8).fill(8, 8, 24));
});
