// Stream capture of the simulated driver: what is recorded, what is refused, and what ends a capture.
// The status codes, and whether a capture survives them, are those of an H200 under CUDA 13.0.

import { assertEquals, assertThrows } from "@std/assert";
import { CUresult as R } from "../../../ffi/constants.ts";
import { type SimulatedKernel, SimulationError } from "../../../ffi/simulated/driver.ts";
import {
  CUDA_MEMCPY2D,
  CUDA_MEMCPY3D,
  CUmemcpyAttributes,
  CUmemLocation,
} from "../../../ffi/structs.ts";
import { bytesAt, type CompleteApi, out, SimulatedGpu } from "../../support/simulated_gpu.ts";
import {
  assertInvalidated,
  beginCapture,
  capture,
  endCapture,
  follow,
  nodeCount,
} from "./captured.ts";

const UNSUPPORTED = R.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;

Deno.test("cuStreamBeginCapture_v2() refuses a stream that is being captured", () => {
  const gpu = new SimulatedGpu();
  const stream = gpu.stream();
  beginCapture(gpu, stream);
  assertEquals(gpu.api.cuStreamBeginCapture_v2(stream, 2), R.CUDA_ERROR_ILLEGAL_STATE);
  assertEquals(nodeCount(gpu, endCapture(gpu, stream)), 0);
});

Deno.test("cuStreamBeginCapture_v2() refuses the default stream and unknown modes", () => {
  const gpu = new SimulatedGpu();
  for (const handle of [0n, 1n]) {
    assertEquals(gpu.api.cuStreamBeginCapture_v2(handle, 2), UNSUPPORTED);
  }
  assertEquals(gpu.api.cuStreamBeginCapture_v2(gpu.stream(), 3), R.CUDA_ERROR_INVALID_VALUE);
});

Deno.test("cuStreamEndCapture() refuses streams on which no capture began", () => {
  const gpu = new SimulatedGpu();
  const [origin, joined] = [gpu.stream(), gpu.stream()];
  const cell = new BigUint64Array(1);
  assertEquals(gpu.api.cuStreamEndCapture(origin, cell), R.CUDA_ERROR_ILLEGAL_STATE);
  beginCapture(gpu, origin);
  follow(gpu, joined, origin);
  assertEquals(
    gpu.api.cuStreamEndCapture(joined, cell),
    R.CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
  );
  assertInvalidated(gpu, origin);
});

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

Deno.test("cuEventRecord(), waits and copies of nothing make no node", () => {
  const gpu = new SimulatedGpu();
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

const NOT_RECORDABLE: Record<string, (gpu: SimulatedGpu, stream: bigint) => number> = {
  cuStreamQuery: ({ api }, stream) => api.cuStreamQuery(stream),
  cuStreamSynchronize: ({ api }, stream) => api.cuStreamSynchronize(stream),
  cuCtxSynchronize: ({ api }) => api.cuCtxSynchronize(),
  cuGraphLaunch(gpu, stream) {
    const other = gpu.stream();
    const graph = capture(gpu, other, () => {});
    const exec = out((cell) => gpu.api.cuGraphInstantiateWithFlags(cell, graph, 0n));
    return gpu.api.cuGraphLaunch(exec, stream);
  },
  cuMemPrefetchAsync(gpu, stream) {
    const address = out((cell) => gpu.api.cuMemAllocManaged(cell, 64n, 1));
    return gpu.api.cuMemPrefetchAsync(address, 64n, 0, stream);
  },
  cuMemDiscardAndPrefetchBatchAsync(gpu, stream) {
    const address = out((cell) => gpu.api.cuMemAllocManaged(cell, 64n, 1));
    const [addresses, sizes] = [new BigUint64Array([address]), new BigUint64Array([64n])];
    const place = CUmemLocation.encode({ type: 1 });
    const firsts = new BigUint64Array(1);
    return gpu.api
      .cuMemDiscardAndPrefetchBatchAsync(addresses, sizes, 1n, place, firsts, 1n, 0n, stream);
  },
};

for (const [name, call] of Object.entries(NOT_RECORDABLE)) {
  Deno.test(`${name}() invalidates a capture`, () => {
    const gpu = new SimulatedGpu();
    const [stream, address] = [gpu.stream(), gpu.alloc(8)];
    beginCapture(gpu, stream);
    assertEquals(call(gpu, stream), UNSUPPORTED);
    assertEquals(
      gpu.api.cuMemsetD8Async(address, 1, 8n, stream),
      R.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
    );
    assertInvalidated(gpu, stream);
  });
}

Deno.test("cuStreamSynchronizeNonblocking() invalidates a capture", async () => {
  const gpu = new SimulatedGpu();
  const stream = gpu.stream();
  beginCapture(gpu, stream);
  assertEquals(await gpu.api.cuStreamSynchronizeNonblocking(stream), UNSUPPORTED);
  assertInvalidated(gpu, stream);
});

Deno.test("cuMemcpyBatchAsync() is refused and leaves a capture valid", () => {
  const gpu = new SimulatedGpu();
  const [stream, target, source] = [gpu.stream(), gpu.alloc(8), gpu.alloc(8)];
  beginCapture(gpu, stream);
  const status = gpu.api.cuMemcpyBatchAsync(
    ...[[target], [source], [8n]].map((values) => new BigUint64Array(values)) as Triple,
    1n,
    CUmemcpyAttributes.encode({ srcAccessOrder: 1 }),
    new BigUint64Array(1),
    1n,
    new BigUint64Array(1),
    stream,
  );
  assertEquals(status, UNSUPPORTED);
  assertEquals(nodeCount(gpu, endCapture(gpu, stream)), 0);
});

type Triple = [
  BigUint64Array<ArrayBuffer>,
  BigUint64Array<ArrayBuffer>,
  BigUint64Array<ArrayBuffer>,
];

Deno.test("cuMemFreeAsync() refuses memory of no graph and leaves a capture valid", () => {
  const gpu = new SimulatedGpu();
  const stream = gpu.stream();
  const blocks = [gpu.alloc(8), gpu.allocAsync(8, stream)];
  beginCapture(gpu, stream);
  for (const block of blocks) {
    assertEquals(gpu.api.cuMemFreeAsync(block, stream), R.CUDA_ERROR_INVALID_VALUE);
  }
  assertEquals(nodeCount(gpu, endCapture(gpu, stream)), 0);
  for (const block of blocks) assertEquals(gpu.api.cuMemFreeAsync(block, stream), 0);
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
  Deno.test(`${name}() does its work during a capture and is not recorded`, () => {
    const gpu = new SimulatedGpu();
    const stream = gpu.stream();
    const graph = capture(gpu, stream, () => assertEquals(call(gpu.api, gpu), 0));
    assertEquals(nodeCount(gpu, graph), 0);
  });
}

Deno.test("cuMemsetD8Async() on a stream that takes no part runs during a capture", () => {
  const gpu = new SimulatedGpu();
  const [captured, other, address] = [gpu.stream(), gpu.stream(), gpu.alloc(8)];
  const graph = capture(gpu, captured, () => {
    gpu.api.cuMemsetD8Async(address, 3, 8n, other);
    assertEquals(gpu.api.cuStreamSynchronize(other), 0);
    assertEquals([...gpu.read(address, 1)], [3]);
  });
  assertEquals(nodeCount(gpu, graph), 0);
});

Deno.test("cuMemsetD8Async() before a capture still runs during it", () => {
  const gpu = new SimulatedGpu();
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

Deno.test("cuMemcpyHtoDAsync_v2() throws on an ordinary array in a capture", () => {
  const gpu = new SimulatedGpu();
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
