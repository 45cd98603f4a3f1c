// Memory that a graph allocates: there from a launch on, for the graph alone or for a buffer that
// outlives the capture, and back with the device once nothing can use it.

import { assertEquals, assertGreater, assertGreaterOrEqual, assertThrows } from "@std/assert";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import type { CudaGraph } from "../../../src/graph/graph.ts";
import { GraphMemoryResource } from "../../../src/graph/graph_memory_resource.ts";
import { CudaMemoryResource } from "../../../src/memory/cuda_memory_resource.ts";
import { OutOfMemoryError } from "../../../src/words/errors.ts";
import { assertHoldsOnly, readBytes } from "../../support/contents.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { kernelDriver, loadKernels } from "../../support/kernels/kernel_driver.ts";
import { captureWarnings } from "../../support/warnings.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const BYTES = 2 ** 20;

/** Records a graph that leaves a buffer behind, filled with `value` by each launch. */
function recordOutput(
  gpu: CudaDevice,
  value: number,
): { graph: CudaGraph; output: DeviceBuffer<"uint8"> } {
  let output: DeviceBuffer<"uint8"> | undefined;
  const graph = gpu.capture(() => {
    output = gpu.alloc("uint8", BYTES, { label: "output" }).fill(value);
  });
  if (output === undefined) throw new Error("Cannot happen: the body ran");
  return { graph, output };
}

/** Records a graph that leaves a buffer behind, of which only a stream of bytes is left. */
function recordRead(gpu: CudaDevice): { graph: CudaGraph; readable: ReadableStream } {
  const streams: ReadableStream[] = [];
  const graph = gpu.capture(() => {
    using made = gpu.alloc("uint8", BYTES).fill(1);
    streams.push(made.readable);
  });
  const [readable] = streams;
  if (readable === undefined) throw new Error("Cannot happen: the body ran");
  return { graph, readable };
}

Deno.test("GraphMemoryResource takes memory by a launch, gives it back with the graph", () =>
  withDevice((gpu) => {
    const resource = new GraphMemoryResource(gpu);
    resource.trim();
    const before = resource.reservedBytes; // what other tests have lost on purpose
    using target = gpu.zeros("uint8", BYTES);
    const graph = gpu.capture(() => {
      using scratch = gpu.alloc("uint8", BYTES).fill(3);
      target.copyFrom(scratch);
    });
    assertEquals(graph.nodeCount, 4);
    assertEquals(resource.reservedBytes, before);
    graph.launch();
    gpu.synchronizeSync();
    assertGreaterOrEqual(resource.usedBytes, BYTES);
    assertGreaterOrEqual(resource.reservedBytes, BYTES);
    assertGreaterOrEqual(gpu.memory.cachedBytes, BYTES);
    assertHoldsOnly(readBytes(target), 3);
    resource.trim();
    assertEquals(resource.reservedBytes, before);
    graph.launch();
    gpu.synchronizeSync();
    graph.dispose();
    assertEquals(resource.reservedBytes, before);
    assertGreaterOrEqual(resource.peakReservedBytes, BYTES);
    assertGreaterOrEqual(resource.peakUsedBytes, BYTES);
    resource.resetPeaks();
    assertEquals(resource.peakReservedBytes, before);
  }));

Deno.test("Memory of a graph is live from a launch on, while its buffer is, and cached otherwise", () =>
  withDevice((gpu) => {
    gpu.synchronizeSync();
    const [live, cached] = [gpu.memory.liveBytes, gpu.memory.cachedBytes];
    const resource = new GraphMemoryResource(gpu);
    const before = resource.reservedBytes;
    const amounts = () => [
      gpu.memory.liveBytes - live,
      gpu.memory.cachedBytes - cached - (resource.reservedBytes - before),
    ];
    const { graph, output } = recordOutput(gpu, 5);
    assertEquals(amounts(), [0, 0]);
    graph.launch();
    assertEquals(amounts(), [BYTES, -BYTES]);
    graph.launch();
    assertEquals(amounts(), [BYTES, -BYTES]);
    output.dispose();
    assertEquals(amounts(), [0, 0]);
    graph.dispose();
    gpu.synchronizeSync();
    assertEquals([gpu.memory.cachedBytes, resource.reservedBytes], [cached, before]);
  }));

testHolding("Graph memory goes back behind the stream that frees its last buffer", (gpu) => {
  const resource = new GraphMemoryResource(gpu);
  const before = resource.reservedBytes;
  const { graph, output } = recordOutput(gpu, 5);
  using stream = gpu.createStream();
  graph.launch({ stream });
  gpu.synchronizeSync();
  using held = new HeldStream(gpu, gpu.stream);
  output.dispose(); // on the default stream
  graph.dispose();
  gpu.context.sweep();
  held.release();
  gpu.synchronizeSync();
  assertEquals(resource.reservedBytes, before);
});

testHolding("Graph memory goes back behind the stream of the last launch", (gpu) => {
  const resource = new GraphMemoryResource(gpu);
  const before = resource.reservedBytes;
  const graph = gpu.capture(() => gpu.alloc("uint8", BYTES).fill(1).dispose());
  using stream = gpu.createStream();
  using held = new HeldStream(gpu, stream);
  graph.launch({ stream });
  graph.dispose();
  gpu.context.sweep();
  held.release();
  gpu.synchronizeSync();
  assertEquals(resource.reservedBytes, before);
});

Deno.test("CudaGraph.dispose() gives back what graphs took beside one that lives, when it is much", () =>
  withDevice((gpu) => {
    const resource = new GraphMemoryResource(gpu);
    const before = resource.reservedBytes;
    const record = () => gpu.capture(() => gpu.alloc("uint8", 40 * BYTES).fill(1).dispose());
    const launchAndDispose = () => {
      using graph = record();
      graph.launch();
      gpu.synchronizeSync();
    };
    using _other = record();
    for (let count = 0; count < 3; count++) launchAndDispose();
    assertGreater(resource.reservedBytes, before);
    launchAndDispose();
    assertEquals(resource.reservedBytes, before);
    launchAndDispose();
    assertGreater(resource.reservedBytes, before);
  }));

testOnDevice("Memory of a graph that a readable keeps goes back with the graph", async (gpu) => {
  const resource = new GraphMemoryResource(gpu);
  const before = resource.reservedBytes;
  const { graph, readable } = recordRead(gpu);
  graph.launch();
  await readable.cancel();
  graph.launch();
  graph.dispose();
  gpu.synchronizeSync();
  assertEquals(resource.reservedBytes, before);
});

testOnDevice("CudaGraph.dispose() in a capture gives its memory back at the end", (gpu) => {
  const resource = new GraphMemoryResource(gpu);
  const before = resource.reservedBytes;
  using target = gpu.zeros("uint8", 16);
  const former = gpu.capture(() => gpu.alloc("uint8", BYTES).fill(1).dispose());
  former.launch();
  using graph = gpu.capture(() => {
    target.fill(2);
    former.dispose();
    target.subarray(8).fill(3);
  });
  assertEquals(graph.nodeCount, 2);
  gpu.synchronizeSync();
  assertEquals(resource.reservedBytes, before);
});

Deno.test("CudaKernel.launch() refuses memory of a graph before a launch of that", () =>
  withDevice(async (gpu) => {
    using module = await loadKernels(gpu);
    const kernel = module.kernel("fill");
    const { graph, output } = recordOutput(gpu, 5);
    const call = { grid: 1, block: 32, args: [output, 6, 4] } as const;
    assertThrows(() => kernel.launch(call), TypeError, "launch the graph first");
    graph.launch();
    kernel.launch(call);
    assertEquals(readBytes(output).subarray(0, 6), Uint8Array.of(6, 6, 6, 6, 5, 5));
    output.dispose();
    graph.dispose();
  }, { driver: kernelDriver() }));

testOnDevice("CudaGraph.launch() says how much is free when its memory does not fit", (gpu) => {
  using graph = gpu.capture(() => gpu.alloc("uint8", 2 ** 28).fill(1).dispose());
  const resource = new CudaMemoryResource(gpu);
  const most = gpu.memory.freeBytes - 2 ** 26;
  const hog = gpu.alloc("uint8", most, { resource, label: "hog" });
  const error = assertThrows(() => graph.launch(), OutOfMemoryError, "hog");
  assertEquals([error.requestedBytes, graph.launchCount], [2 ** 28, 0]);
  hog.dispose();
  graph.launch();
  gpu.synchronizeSync();
});

testHolding("GraphMemoryResource gives memory back once the last launch is done", (gpu) => {
  const resource = new GraphMemoryResource(gpu);
  const before = resource.reservedBytes;
  const graph = gpu.capture(() => gpu.alloc("uint8", BYTES).fill(1).dispose());
  using held = new HeldStream(gpu, gpu.stream);
  graph.launch();
  graph.dispose();
  held.release();
  gpu.synchronizeSync();
  gpu.context.sweep();
  assertEquals(resource.reservedBytes, before);
});

testOnDevice("GraphMemoryResource refuses a stream that is not being captured", (gpu) => {
  const resource = new GraphMemoryResource(gpu);
  assertThrows(() => gpu.alloc("uint8", 64, { resource }), TypeError, "not being captured");
  assertThrows(() => resource.allocate(64, gpu.stream), TypeError, "not being captured");
  using lazy = gpu.lazy("uint8", 64, { resource });
  assertThrows(() => lazy.fill(1), TypeError, "not being captured");
});

testOnDevice("GraphMemoryResource is where copies of a captured buffer come from", async (gpu) => {
  using source = gpu.zeros("uint8", [4, 64]).fill(5);
  using result = gpu.zeros("uint8", [64, 4]);
  using graph = gpu.capture(() => {
    using copy = source.reshape(256).slice(0, 256);
    using turned = copy.reshape([4, 64]).strided().transpose().contiguous();
    assertEquals(copy.memoryResource.constructor, GraphMemoryResource);
    result.copyFrom(turned);
  });
  graph.launch();
  assertHoldsOnly(await result.download(), 5);
});

testOnDevice("A buffer that outlives its capture has memory after a launch", async (gpu) => {
  const before = new GraphMemoryResource(gpu).reservedBytes;
  const { graph, output } = recordOutput(gpu, 4);
  assertThrows(() => output.fill(1), TypeError, "launch the graph first");
  assertThrows(() => output.downloadSync(), TypeError, "launch the graph first");
  assertThrows(() => gpu.capture(() => output.fill(1)), TypeError, "launch the graph first");
  const { ptr } = output;
  graph.launch();
  assertHoldsOnly(await output.download(), 4);
  output.fill(9);
  assertHoldsOnly(await output.download(), 9);
  using copy = output.slice(0, 8); // of the device's own memory
  assertEquals([...await copy.download()], Array(8).fill(9));
  graph.launch();
  assertEquals([output.ptr, new Set(await output.download())], [ptr, new Set([4])]);
  graph.dispose();
  assertHoldsOnly(await output.download(), 4); // the buffer has it still
  output.dispose();
  assertEquals(new GraphMemoryResource(gpu).reservedBytes, before);
});

testOnDevice("A buffer that outlives its capture can go before its graph", (gpu) => {
  const before = new GraphMemoryResource(gpu).reservedBytes;
  const { graph, output } = recordOutput(gpu, 4);
  graph.launch();
  output.dispose();
  graph.launch();
  gpu.synchronizeSync();
  graph.dispose();
  gpu.synchronizeSync();
  gpu.context.sweep();
  assertEquals(new GraphMemoryResource(gpu).reservedBytes, before);
});

testOnDevice("A buffer that outlives its capture has nothing to free without a launch", (gpu) => {
  const first = recordOutput(gpu, 4);
  const second = recordOutput(gpu, 4);
  const warnings = captureWarnings(() => {
    first.output.dispose();
    first.graph.dispose();
    second.graph.dispose();
    second.output.dispose();
  });
  assertEquals(warnings, []);
});

testOnDevice("A buffer of a capture that failed has no memory, ever", (gpu) => {
  let left: DeviceBuffer<"uint8"> | undefined;
  const body = () => {
    left = gpu.alloc("uint8", BYTES);
    throw new RangeError("mine");
  };
  assertThrows(() => gpu.capture(body), RangeError, "mine");
  assertThrows(() => left?.fill(1), TypeError, "disposed before a launch");
  left?.dispose();
});

testOnDevice("A buffer of a graph can be used by another graph and another stream", async (gpu) => {
  using stream = gpu.createStream();
  using result = gpu.zeros("uint8", BYTES);
  const { graph, output } = recordOutput(gpu, 6);
  graph.launch();
  using reader = gpu.capture(() => result.copyFrom(output), { stream });
  reader.launch();
  graph.launch(); // waits for the reader, whose source it frees and allocates anew
  reader.launch();
  assertHoldsOnly(await result.download(), 6);
  output.dispose();
  graph.dispose();
});
