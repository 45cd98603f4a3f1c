// Stream capture of the simulated driver: what is recorded, and what runs beside a capture.

import { assertEquals, assertThrows } from "@std/assert";
import { type SimulatedKernel, SimulationError } from "../../../ffi/simulated/driver.ts";
import { CUDA_MEMCPY2D, CUDA_MEMCPY3D } from "../../../ffi/structs.ts";
import {
  bytesAt,
  type CompleteApi,
  SimulatedGpu,
  testSimulated,
} from "../../support/simulated_gpu.ts";
import { beginCapture, capture, endCapture, follow, nodeCount } from "./captured.ts";

Deno.test("cuMemcpyAsync() and its like are recorded as one node each and do not run", () => {
  const nothing: SimulatedKernel = { parameterBytes: [], run() {} };
  const gpu = new SimulatedGpu({ kernels: { nothing } });
  const { api } = gpu;
  const [stream, device, source] = [gpu.stream(), gpu.alloc(256), gpu.pinned(256)];
  const { kernel } = gpu.load("nothing");
  using callback = new Callback();
  const shape = { WidthInBytes: 8n, Height: 2n, srcPitch: 16n, dstPitch: 16n };
  const sides = { srcHost: source.address, srcMemoryType: 1, dstDevice: device, dstMemoryType: 2 };
  const rectangle = CUDA_MEMCPY2D.encode({ ...shape, ...sides });
  const box = CUDA_MEMCPY3D.encode({ ...shape, ...sides, Depth: 2n, srcHeight: 2n, dstHeight: 2n });
  let block = 0n;
  const recorded: (() => number)[] = [
    () => api.cuMemsetD8Async(device, 1, 256n, stream),
    () => api.cuMemsetD2D8Async(device, 16n, 1, 8n, 4n, stream),
    () => api.cuMemcpyAsync(device, source.address, 256n, stream),
    () => api.cuMemcpyHtoDAsync_v2(device, source.bytes, 256n, stream),
    () => api.cuMemcpyDtoHAsync_v2(source.bytes, device, 256n, stream),
    () => api.cuMemcpy2DAsync_v2(rectangle, stream),
    () => api.cuMemcpy3DAsync_v2(box, stream),
    () => api.cuLaunchKernel(...[kernel, 1, 1, 1, 1, 1, 1, 0] as const, stream, null, null),
    () => api.cuLaunchHostFunc(stream, callback.pointer, 1n),
    () => api.cuStreamWaitValue32_v2(stream, source.address, 1, 0),
    () => {
      block = gpu.allocAsync(256, stream);
      return 0;
    },
    () => api.cuMemFreeAsync(block, stream),
  ];
  beginCapture(gpu, stream);
  for (const call of recorded) assertEquals(call(), 0);
  const graph = endCapture(gpu, stream);
  assertEquals(nodeCount(gpu, graph), recorded.length);
  api.cuCtxSynchronize();
  assertEquals(callback.callCount, 0);
  assertThrows(() => gpu.read(device, 1), SimulationError, "nobody has written");
});

/** A host function that counts its calls. */
class Callback {
  callCount = 0;
  #callback = new Deno.UnsafeCallback(
    { parameters: ["u64"], result: "void" },
    () => this.callCount++,
  );

  get pointer(): Deno.PointerObject {
    return this.#callback.pointer;
  }

  [Symbol.dispose](): void {
    this.#callback.close();
  }
}

testSimulated("cuEventRecord(), waits and copies of nothing make no node", (gpu) => {
  const [stream, joined, address] = [gpu.stream(), gpu.stream(), gpu.alloc(8)];
  const graph = capture(gpu, stream, () => {
    follow(gpu, joined, stream);
    follow(gpu, stream, joined);
    assertEquals(gpu.api.cuMemcpyAsync(address, address, 0n, stream), 0);
    assertEquals(gpu.api.cuStreamWaitEvent(stream, gpu.event(), 0), 0);
    assertEquals(gpu.api.cuMemFreeAsync(0n, stream), 0);
  });
  assertEquals(nodeCount(gpu, graph), 0);
});

const ALLOWED: Record<string, (api: CompleteApi, gpu: SimulatedGpu) => number> = {
  cuMemAlloc_v2: (api) => api.cuMemAlloc_v2(new BigUint64Array(1), 8n),
  cuMemFree_v2: (api, gpu) => api.cuMemFree_v2(gpu.alloc(8)),
  cuMemHostAlloc: (api) => api.cuMemHostAlloc(new BigUint64Array(1), 8n, 0),
  cuMemFreeHost: (api, gpu) => api.cuMemFreeHost(gpu.pinned(8).address),
  cuEventDestroy_v2: (api, gpu) => api.cuEventDestroy_v2(gpu.event()),
  cuMemGetInfo_v2: (api) => api.cuMemGetInfo_v2(new BigUint64Array(1), new BigUint64Array(1)),
  cuStreamCreateWithPriority: (api) => api.cuStreamCreateWithPriority(new BigUint64Array(1), 1, 0),
};

for (const [name, call] of Object.entries(ALLOWED)) {
  testSimulated(`${name}() does its work during a capture and is not recorded`, (gpu) => {
    const stream = gpu.stream();
    const graph = capture(gpu, stream, () => assertEquals(call(gpu.api, gpu), 0));
    assertEquals(nodeCount(gpu, graph), 0);
  });
}

testSimulated("cuMemsetD8Async() on a stream that takes no part runs during a capture", (gpu) => {
  const [captured, other, address] = [gpu.stream(), gpu.stream(), gpu.alloc(8)];
  const graph = capture(gpu, captured, () => {
    gpu.api.cuMemsetD8Async(address, 3, 8n, other);
    assertEquals(gpu.api.cuStreamSynchronize(other), 0);
    assertEquals([...gpu.read(address, 1)], [3]);
  });
  assertEquals(nodeCount(gpu, graph), 0);
});

testSimulated("cuMemsetD8Async() before a capture still runs during it", (gpu) => {
  const [stream, target, source] = [gpu.stream(), gpu.pinned(8), gpu.alloc(8)];
  gpu.api.cuMemsetD8Async(source, 4, 8n, stream);
  gpu.api.cuMemcpyAsync(target.address, source, 8n, stream);
  const event = gpu.event();
  gpu.api.cuEventRecord(event, stream);
  beginCapture(gpu, stream);
  assertEquals(gpu.api.cuEventSynchronize(event), 0);
  assertEquals([...bytesAt(target.address, 1)], [4]);
  endCapture(gpu, stream);
});

testSimulated("cuMemcpyHtoDAsync_v2() throws on an ordinary array in a capture", (gpu) => {
  const [stream, address, bytes] = [gpu.stream(), gpu.alloc(8), new Uint8Array(8)];
  beginCapture(gpu, stream);
  assertThrows(
    () => gpu.api.cuMemcpyHtoDAsync_v2(address, bytes, 8n, stream),
    SimulationError,
    "ordinary host array",
  );
  assertThrows(
    () => gpu.api.cuMemcpyDtoHAsync_v2(bytes, address, 8n, stream),
    SimulationError,
    "ordinary host array",
  );
  assertEquals(nodeCount(gpu, endCapture(gpu, stream)), 0);
});
