// Graphs of the simulated driver: what a launch runs, in which order, and which rules hold it.
// A launch is held to the rules of the calls that were captured.

import { assertEquals, assertThrows } from "@std/assert";
import { CUresult as R } from "../../../ffi/constants.ts";
import { SimulationError } from "../../../ffi/simulated/driver.ts";
import { SimulatedGpu, testSimulated } from "../../support/simulated_gpu.ts";
import { capture, captureExec, follow, instantiate, nodeCount } from "./captured.ts";

testSimulated("cuGraphLaunch() runs what was captured, each time with the bytes of then", (gpu) => {
  const [stream, other, device] = [gpu.stream(), gpu.stream(), gpu.alloc(4)];
  const [source, target] = [gpu.pinned(4), gpu.pinned(4)];
  const exec = captureExec(gpu, stream, () => {
    gpu.api.cuMemcpyAsync(device, source.address, 4n, stream);
    gpu.api.cuMemsetD8Async(device, 9, 1n, stream);
    gpu.api.cuMemcpyAsync(target.address, device, 4n, stream);
  });
  for (const value of [1, 2]) {
    source.bytes.fill(value);
    assertEquals(gpu.api.cuGraphLaunch(exec, other), 0);
    assertEquals([...target.bytes.subarray(1)], Array(3).fill(value - 1));
    gpu.api.cuStreamSynchronize(other);
    assertEquals([...target.bytes], [9, value, value, value]);
  }
});

testSimulated("cuGraphLaunch() runs the branches of a capture in their order", (gpu) => {
  const [origin, joined, device] = [gpu.stream(), gpu.stream(), gpu.alloc(8)];
  const target = gpu.pinned(8);
  const exec = captureExec(gpu, origin, () => {
    gpu.api.cuMemsetD8Async(device, 1, 8n, origin);
    follow(gpu, joined, origin);
    gpu.api.cuMemsetD8Async(device, 2, 4n, joined);
    gpu.api.cuMemsetD8Async(device + 4n, 3, 4n, origin);
    follow(gpu, origin, joined);
    gpu.api.cuMemcpyAsync(target.address, device, 8n, origin);
  });
  const event = gpu.event();
  for (let launch = 0; launch < 3; launch++) gpu.api.cuGraphLaunch(exec, origin);
  gpu.api.cuEventRecord(event, origin);
  assertEquals(gpu.api.cuEventSynchronize(event), 0);
  assertEquals([...target.bytes], [2, 2, 2, 2, 3, 3, 3, 3]);
});

testSimulated("cuGraphLaunch() lets the branches of a capture overlap", (gpu) => {
  const size = 64 << 20;
  const [origin, joined] = [gpu.stream(), gpu.stream()];
  const [source, target] = [gpu.pinned(size), gpu.pinned(size)];
  const [uploaded, downloaded] = [gpu.alloc(size), gpu.alloc(size)];
  gpu.api.cuMemsetD8Async(downloaded, 0, BigInt(size), 0n);
  gpu.api.cuCtxSynchronize();
  const exec = captureExec(gpu, origin, () => {
    follow(gpu, joined, origin);
    gpu.api.cuMemcpyAsync(uploaded, source.address, BigInt(size), origin);
    gpu.api.cuMemcpyAsync(target.address, downloaded, BigInt(size), joined);
    follow(gpu, origin, joined);
  });
  const [start, end, cell] = [gpu.event(), gpu.event(), new Float32Array(1)];
  gpu.api.cuEventRecord(start, origin);
  gpu.api.cuGraphLaunch(exec, origin);
  gpu.api.cuEventRecord(end, origin);
  gpu.api.cuStreamSynchronize(origin);
  gpu.api.cuEventElapsedTime(cell, start, end);
  const slower = 1000 * (size / 24e9);
  assertEquals(Math.abs((cell[0] ?? 0) - slower) < slower * 0.05, true);
});

Deno.test("cuGraphLaunch() of branches that use the same bytes without order is a race", () => {
  const gpu = new SimulatedGpu();
  const [origin, joined, device] = [gpu.stream(), gpu.stream(), gpu.alloc(8)];
  const exec = captureExec(gpu, origin, () => {
    follow(gpu, joined, origin);
    gpu.api.cuMemsetD8Async(device, 1, 8n, origin);
    gpu.api.cuMemsetD8Async(device, 2, 8n, joined);
    follow(gpu, origin, joined);
  });
  const error = assertThrows(
    () => gpu.api.cuGraphLaunch(exec, origin),
    SimulationError,
    "a branch of a graph",
  );
  assertEquals(error.call, "cuMemsetD8Async");
});

testSimulated("cuGraphLaunch() races with work on a stream that is not ordered", (gpu) => {
  const [stream, device] = [gpu.stream(), gpu.alloc(8)];
  const exec = captureExec(gpu, stream, () => gpu.api.cuMemsetD8Async(device, 1, 8n, stream));
  gpu.api.cuMemsetD8Async(device, 2, 8n, gpu.stream());
  assertThrows(() => gpu.api.cuGraphLaunch(exec, stream), SimulationError, "race");
});

testSimulated("cuGraphLaunch() comes after the launch before on another stream", (gpu) => {
  const [stream, device] = [gpu.stream(), gpu.alloc(8)];
  const exec = captureExec(gpu, stream, () => gpu.api.cuMemsetD8Async(device, 1, 8n, stream));
  for (const other of [stream, gpu.stream(), gpu.stream()]) {
    assertEquals(gpu.api.cuGraphLaunch(exec, other), 0);
  }
});

testSimulated("cuGraphLaunch() is ordered before what its stream is given later", (gpu) => {
  const [origin, joined, device] = [gpu.stream(), gpu.stream(), gpu.alloc(8)];
  const exec = captureExec(gpu, origin, () => {
    follow(gpu, joined, origin);
    gpu.api.cuMemsetD8Async(device, 1, 8n, joined);
    follow(gpu, origin, joined);
  });
  gpu.api.cuGraphLaunch(exec, origin);
  assertEquals(gpu.api.cuMemsetD8Async(device, 2, 4n, origin), 0);
  assertEquals(gpu.api.cuStreamSynchronize(origin), 0);
  assertEquals([...gpu.read(device, 8)], [2, 2, 2, 2, 1, 1, 1, 1]);
});

testSimulated("cuGraphLaunch() throws when memory of the capture was freed", (gpu) => {
  const [stream, device, source] = [gpu.stream(), gpu.alloc(8), gpu.pinned(8)];
  const fill = captureExec(gpu, stream, () => gpu.api.cuMemsetD8Async(device, 1, 8n, stream));
  const copy = captureExec(gpu, stream, () => {
    gpu.api.cuMemcpyAsync(gpu.alloc(8), source.address, 8n, stream);
  });
  gpu.api.cuMemFree_v2(device);
  gpu.api.cuMemFreeHost(source.address);
  for (const exec of [fill, copy]) {
    assertThrows(() => gpu.api.cuGraphLaunch(exec, stream), SimulationError, "freed after");
  }
});

Deno.test("cuGraphLaunch() throws when the host changes a source while the launch waits", () => {
  const gpu = new SimulatedGpu();
  const [stream, device, source] = [gpu.stream(), gpu.alloc(8), gpu.pinned(8)];
  const exec = captureExec(gpu, stream, () => {
    gpu.api.cuMemcpyAsync(device, source.address, 8n, stream);
  });
  source.bytes.fill(1);
  gpu.api.cuGraphLaunch(exec, stream);
  source.bytes.fill(2);
  assertThrows(() => gpu.api.cuStreamSynchronize(stream), SimulationError, "host changed");
});

testSimulated("cuGraphLaunch() waits for a value each time", (gpu) => {
  const [stream, latch] = [gpu.stream(), gpu.pinned(4)];
  const exec = captureExec(gpu, stream, () => {
    gpu.api.cuStreamWaitValue32_v2(stream, latch.address, 1, 1);
  });
  gpu.api.cuGraphLaunch(exec, stream);
  assertEquals(gpu.api.cuStreamQuery(stream), R.CUDA_ERROR_NOT_READY);
  assertThrows(() => gpu.api.cuStreamSynchronize(stream), SimulationError, "deadlock");
  latch.bytes[0] = 1;
  assertEquals(gpu.api.cuStreamSynchronize(stream), 0);
});

Deno.test("cuGraphLaunch() refuses a graph that was destroyed, and its queued work runs", () => {
  const gpu = new SimulatedGpu();
  const [stream, device] = [gpu.stream(), gpu.alloc(4)];
  const exec = captureExec(gpu, stream, () => gpu.api.cuMemsetD8Async(device, 1, 4n, stream));
  gpu.api.cuGraphLaunch(exec, stream);
  assertEquals(gpu.api.cuGraphExecDestroy(exec), 0);
  assertEquals(gpu.api.cuGraphLaunch(exec, stream), R.CUDA_ERROR_INVALID_HANDLE);
  assertEquals(gpu.api.cuGraphExecDestroy(exec), R.CUDA_ERROR_INVALID_HANDLE);
  gpu.api.cuStreamSynchronize(stream);
  assertEquals([...gpu.read(device, 4)], [1, 1, 1, 1]);
});

testSimulated("cuGraphGetNodes() writes as many nodes as there is room for", (gpu) => {
  const [stream, device] = [gpu.stream(), gpu.alloc(4)];
  const graph = capture(gpu, stream, () => {
    gpu.api.cuMemsetD8Async(device, 1, 4n, stream);
    gpu.api.cuMemsetD8Async(device, 2, 4n, stream);
  });
  assertEquals(nodeCount(gpu, graph), 2);
  for (const [room, found] of [[1, 1], [3, 2]] as const) {
    const [nodes, count] = [new BigUint64Array(3), new BigUint64Array([BigInt(room)])];
    assertEquals(gpu.api.cuGraphGetNodes(graph, nodes, count), 0);
    assertEquals(count[0], BigInt(found));
    assertEquals(new Set(nodes.subarray(0, found)).size, found);
    assertEquals(nodes.subarray(found).every((node) => node === 0n), true);
  }
  gpu.api.cuGraphDestroy(graph);
  assertEquals(
    gpu.api.cuGraphGetNodes(graph, null, new BigUint64Array(1)),
    R.CUDA_ERROR_INVALID_HANDLE,
  );
});

Deno.test("cuGraphInstantiateWithFlags() makes several of a graph without memory only", () => {
  const gpu = new SimulatedGpu();
  const stream = gpu.stream();
  const plain = capture(gpu, stream, () => {});
  assertEquals(instantiate(gpu, plain) === instantiate(gpu, plain), false);
  const withMemory = capture(gpu, stream, () => gpu.allocAsync(8, stream));
  const exec = instantiate(gpu, withMemory);
  const cell = new BigUint64Array(1);
  assertEquals(
    gpu.api.cuGraphInstantiateWithFlags(cell, withMemory, 0n),
    R.CUDA_ERROR_NOT_SUPPORTED,
  );
  gpu.api.cuGraphExecDestroy(exec);
  instantiate(gpu, withMemory);
  assertEquals(gpu.api.cuGraphInstantiateWithFlags(cell, plain, 2n), R.CUDA_ERROR_INVALID_VALUE);
});

testSimulated("cuDevicePrimaryCtxRelease_v2() destroys graphs and their memory", (gpu) => {
  const stream = gpu.stream();
  const before = gpu.freeBytes();
  const exec = captureExec(gpu, stream, () => gpu.allocAsync(8, stream));
  gpu.api.cuGraphLaunch(exec, stream);
  gpu.api.cuDevicePrimaryCtxRelease_v2(0);
  gpu.api.cuCtxSetCurrent(gpu.retain(0));
  assertEquals(gpu.freeBytes(), before);
  assertEquals(gpu.api.cuGraphLaunch(exec, 0n), R.CUDA_ERROR_INVALID_HANDLE);
});
