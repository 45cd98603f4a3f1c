// When memory that a graph leaves allocated is there, on the simulated driver and on a real one.

import { assertEquals } from "@std/assert";
import { CUpointer_attribute } from "../../ffi/constants.ts";
import { CaptureScene, nameOf, OK } from "../support/capture_scene.ts";
import type { CompleteApi } from "../support/simulated_gpu.ts";
import { testOnDevice } from "../support/with_device.ts";

const INVALID_VALUE = "CUDA_ERROR_INVALID_VALUE";

/** A graph that leaves a block allocated. */
class OutputGraph implements Disposable {
  readonly exec: bigint;
  readonly output: bigint;
  readonly #api: CompleteApi;
  #isDestroyed = false;

  constructor(scene: CaptureScene, flags: bigint) {
    const { api, stream } = scene;
    this.#api = api;
    assertEquals(scene.begin(), 0);
    this.output = scene.out((cell) => api.cuMemAllocAsync(cell, 4096n, stream));
    assertEquals(api.cuMemsetD32Async(this.output, 7, 1024n, stream), 0);
    const graph = scene.out((cell) => api.cuStreamEndCapture(stream, cell));
    this.exec = scene.out((cell) => api.cuGraphInstantiateWithFlags(cell, graph, flags));
    const again = api.cuGraphInstantiateWithFlags(new BigUint64Array(1), graph, flags);
    assertEquals(nameOf(again), "CUDA_ERROR_NOT_SUPPORTED");
    assertEquals(api.cuGraphDestroy(graph), 0);
  }

  destroy(): void {
    if (!this.#isDestroyed) assertEquals(this.#api.cuGraphExecDestroy(this.exec), 0);
    this.#isDestroyed = true;
  }

  [Symbol.dispose](): void {
    this.destroy();
  }
}

testOnDevice("The driver frees what a graph left after a launch, and not before", (gpu) => {
  using scene = new CaptureScene(gpu);
  const { api, stream, other } = scene;
  using graph = new OutputGraph(scene, 0n);
  const { exec, output } = graph;
  const attribute = CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  const statuses = [
    api.cuMemFreeAsync(output, stream),
    api.cuGraphLaunch(exec, stream),
    api.cuPointerGetAttribute(new Int32Array(1), attribute, output),
    api.cuGraphLaunch(exec, stream),
    api.cuStreamSynchronize(stream),
    api.cuMemFreeAsync(output, other.handle),
    api.cuStreamSynchronize(other.handle),
    api.cuGraphLaunch(exec, stream),
  ];
  const expected = [INVALID_VALUE, OK, OK, INVALID_VALUE, OK, OK, OK, OK];
  assertEquals(statuses.map(nameOf), expected);
  graph.destroy();
  assertEquals(api.cuMemcpyAsync(scene.host.ptr, output, 256n, stream), 0);
  assertEquals(api.cuMemFreeAsync(output, stream), 0);
  assertEquals(api.cuStreamSynchronize(stream), 0);
  assertEquals(scene.host.array[63], 7);
  assertEquals(api.cuDeviceGraphMemTrim(gpu.context.deviceHandle), 0);
});

testOnDevice("The driver frees by itself what a graph with that flag left allocated", (gpu) => {
  using scene = new CaptureScene(gpu);
  const { api, stream, other } = scene;
  using graph = new OutputGraph(scene, 1n);
  const launches = [stream, stream, other.handle].map((queue) =>
    api.cuGraphLaunch(graph.exec, queue)
  );
  assertEquals(launches, [0, 0, 0]);
  assertEquals(api.cuStreamSynchronize(other.handle), 0);
  assertEquals(api.cuMemFreeAsync(graph.output, stream), 0);
  assertEquals(api.cuStreamSynchronize(stream), 0);
  graph.destroy();
  assertEquals(api.cuDeviceGraphMemTrim(gpu.context.deviceHandle), 0);
});
