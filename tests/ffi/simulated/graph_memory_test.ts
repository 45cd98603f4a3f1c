// Memory that graphs allocate on the simulated driver: when it is taken, there, freed and given back.
// Amounts and status codes are those of an H200 under CUDA 13.0.

import { assertEquals, assertThrows } from "@std/assert";
import { CUgraphMem_attribute as A, CUresult as R } from "../../../ffi/constants.ts";
import { SimulationError } from "../../../ffi/simulated/driver.ts";
import { out, SimulatedGpu, testSimulated } from "../../support/simulated_gpu.ts";
import {
  beginCapture,
  captureExec,
  endCapture,
  instantiate,
  launchAndWait,
  nodeCount,
} from "./captured.ts";

const MIB = 1 << 20;
const FREES_ON_LAUNCH = 1n;

function read(gpu: SimulatedGpu, attribute: number): number {
  return Number(out((cell) => gpu.api.cuDeviceGetGraphMemAttribute(0, attribute, cell))) / MIB;
}

/** Returns what graphs use and reserve, and what the device lacks, in MiB. */
function amounts(gpu: SimulatedGpu): [used: number, reserved: number, taken: number] {
  return [
    read(gpu, A.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT),
    read(gpu, A.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT),
    8192 - gpu.freeBytes() / MIB,
  ];
}

/** Captures the fill of a block that the graph allocates and frees. */
function scratchExec(gpu: SimulatedGpu, stream: bigint, byteLength: number): bigint {
  return captureExec(gpu, stream, () => {
    const block = gpu.allocAsync(byteLength, stream);
    gpu.api.cuMemsetD8Async(block, 0, BigInt(byteLength), stream);
    gpu.api.cuMemFreeAsync(block, stream);
  });
}

Deno.test("cuGraphLaunch() takes memory in steps of 32 MiB, and once for graphs after each other", () => {
  const gpu = new SimulatedGpu();
  const [stream, other] = [gpu.stream(), gpu.stream()];
  const [large, small] = [100, 10].map((size) => scratchExec(gpu, stream, size * MIB));
  assertEquals(amounts(gpu), [0, 0, 0]);
  launchAndWait(gpu, large ?? 0n, stream);
  assertEquals(amounts(gpu), [128, 128, 128]);
  launchAndWait(gpu, large ?? 0n, stream);
  assertEquals(amounts(gpu), [128, 128, 128]);
  gpu.api.cuGraphLaunch(small ?? 0n, stream);
  launchAndWait(gpu, large ?? 0n, stream);
  launchAndWait(gpu, small ?? 0n, other);
  assertEquals(amounts(gpu), [128, 128, 128]);
  gpu.api.cuGraphLaunch(large ?? 0n, stream);
  launchAndWait(gpu, small ?? 0n, other);
  assertEquals(amounts(gpu), [160, 160, 160]);
});

Deno.test("cuGraphLaunch() takes more memory while another graph has left a block in it", () => {
  const gpu = new SimulatedGpu();
  const stream = gpu.stream();
  let block = 0n;
  const leaving = captureExec(gpu, stream, () => {
    block = gpu.allocAsync(MIB, stream);
  });
  const scratch = scratchExec(gpu, stream, 40 * MIB);
  launchAndWait(gpu, leaving, stream);
  launchAndWait(gpu, scratch, stream);
  assertEquals(amounts(gpu), [96, 96, 96]);
  gpu.api.cuMemFreeAsync(block, stream);
  gpu.api.cuStreamSynchronize(stream);
  gpu.api.cuDeviceGraphMemTrim(0);
  launchAndWait(gpu, scratch, stream);
  assertEquals(read(gpu, A.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 64);
});

testSimulated("cuDeviceGraphMemTrim() gives back what no launch is using", (gpu) => {
  const stream = gpu.stream();
  const exec = scratchExec(gpu, stream, 10 * MIB);
  for (let round = 0; round < 2; round++) {
    gpu.api.cuGraphLaunch(exec, stream);
    assertEquals(gpu.api.cuDeviceGraphMemTrim(0), 0);
    assertEquals(amounts(gpu), [32, 32, 32]);
    gpu.api.cuStreamSynchronize(stream);
    gpu.api.cuDeviceGraphMemTrim(0);
    assertEquals(amounts(gpu), [0, 0, 0]);
  }
});

testSimulated("cuDeviceGraphMemTrim() gives back the memory of destroyed graphs", (gpu) => {
  const stream = gpu.stream();
  const exec = scratchExec(gpu, stream, 10 * MIB);
  launchAndWait(gpu, exec, stream);
  gpu.api.cuGraphExecDestroy(exec);
  assertEquals(amounts(gpu), [32, 32, 32]);
  gpu.api.cuDeviceGraphMemTrim(0);
  assertEquals(amounts(gpu), [0, 0, 0]);
});

testSimulated("cuDeviceSetGraphMemAttribute() sets the high marks back and nothing else", (gpu) => {
  const stream = gpu.stream();
  const highMarks = [A.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, A.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH];
  launchAndWait(gpu, scratchExec(gpu, stream, 10 * MIB), stream);
  gpu.api.cuDeviceGraphMemTrim(0);
  for (const mark of highMarks) {
    assertEquals(read(gpu, mark), 32);
    const one = new BigUint64Array([1n]);
    assertEquals(
      gpu.api.cuDeviceSetGraphMemAttribute(0, mark, one),
      R.CUDA_ERROR_INVALID_VALUE,
    );
    assertEquals(gpu.api.cuDeviceSetGraphMemAttribute(0, mark, new BigUint64Array(1)), 0);
    assertEquals(read(gpu, mark), 0);
  }
  for (const attribute of [0, 2, 9]) {
    assertEquals(
      gpu.api.cuDeviceSetGraphMemAttribute(0, attribute, new BigUint64Array(1)),
      R.CUDA_ERROR_INVALID_VALUE,
    );
  }
});

testSimulated("cuMemAllocAsync() in a capture refuses more than the device has", (gpu) => {
  const stream = gpu.stream();
  beginCapture(gpu, stream);
  assertEquals(
    gpu.api.cuMemAllocAsync(new BigUint64Array(1), 2n ** 40n, stream),
    R.CUDA_ERROR_OUT_OF_MEMORY,
  );
  assertEquals(nodeCount(gpu, endCapture(gpu, stream)), 0);
});

Deno.test("cuGraphLaunch() refuses when its memory does not fit, and queues nothing", () => {
  const gpu = new SimulatedGpu({ memoryBytes: 64 * MIB });
  const [stream, block] = [gpu.stream(), gpu.alloc(48 * MIB)];
  const exec = scratchExec(gpu, stream, 10 * MIB);
  assertEquals(gpu.api.cuGraphLaunch(exec, stream), R.CUDA_ERROR_OUT_OF_MEMORY);
  assertEquals(gpu.freeBytes(), 16 * MIB);
  gpu.api.cuMemFree_v2(block);
  launchAndWait(gpu, exec, stream);
});

Deno.test("cuGraphLaunch() takes the idle memory of other graphs when the device is full", () => {
  const gpu = new SimulatedGpu({ memoryBytes: 64 * MIB });
  const [stream, other] = [gpu.stream(), gpu.stream()];
  gpu.api.cuGraphLaunch(scratchExec(gpu, stream, 10 * MIB), stream);
  launchAndWait(gpu, scratchExec(gpu, other, 10 * MIB), other);
  gpu.api.cuStreamSynchronize(stream);
  assertEquals(amounts(gpu).slice(0, 2), [64, 64]);
  launchAndWait(gpu, scratchExec(gpu, stream, 40 * MIB), stream);
  assertEquals(read(gpu, A.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 64);
});

Deno.test("cuMemAllocAsync() in a capture takes the place of blocks that the graph has freed", () => {
  const gpu = new SimulatedGpu();
  const stream = gpu.stream();
  const exec = captureExec(gpu, stream, () => {
    for (let count = 0; count < 3; count++) {
      gpu.api.cuMemFreeAsync(gpu.allocAsync(20 * MIB, stream), stream);
    }
  });
  launchAndWait(gpu, exec, stream);
  assertEquals(amounts(gpu), [32, 32, 32]);
});

testSimulated("cuMemsetD8Async() outside a capture throws on memory of the capture", (gpu) => {
  const [stream, other] = [gpu.stream(), gpu.stream()];
  beginCapture(gpu, stream);
  const block = gpu.allocAsync(8, stream);
  assertThrows(
    () => gpu.api.cuMemsetD8Async(block, 1, 8n, other),
    SimulationError,
    "its graph was not launched",
  );
  assertEquals(gpu.api.cuMemFreeAsync(block, other), R.CUDA_ERROR_INVALID_VALUE);
  assertEquals(gpu.api.cuMemFree_v2(block), R.CUDA_ERROR_INVALID_VALUE);
  assertEquals(gpu.api.cuMemFreeAsync(block, stream), 0);
  assertThrows(
    () => gpu.api.cuMemsetD8Async(block, 1, 8n, stream),
    SimulationError,
    "freed in its graph",
  );
  endCapture(gpu, stream);
});

testSimulated("cuMemcpyAsync() in a graph reads no bytes of the launch before", (gpu) => {
  const [stream, target] = [gpu.stream(), gpu.pinned(8)];
  const exec = captureExec(gpu, stream, () => {
    const block = gpu.allocAsync(8, stream);
    gpu.api.cuMemcpyAsync(target.address, block, 8n, stream);
    gpu.api.cuMemsetD8Async(block, 1, 8n, stream);
  }, FREES_ON_LAUNCH);
  for (let launch = 0; launch < 2; launch++) {
    assertEquals(gpu.api.cuGraphLaunch(exec, stream), 0);
    assertThrows(() => gpu.api.cuStreamSynchronize(stream), SimulationError, "nobody has written");
    assertEquals(gpu.api.cuStreamSynchronize(stream), 0);
  }
});

testSimulated("cuMemAllocFromPoolAsync() is recorded with the rights of its pool", (gpu) => {
  const [stream, pool] = [
    gpu.stream(),
    out((cell) => gpu.api.cuDeviceGetDefaultMemPool(cell, 1)),
  ];
  beginCapture(gpu, stream);
  const block = out((cell) => gpu.api.cuMemAllocFromPoolAsync(cell, 8n, pool, stream));
  assertThrows(
    () => gpu.api.cuMemsetD8Async(block, 1, 8n, stream),
    SimulationError,
    "has no right to write",
  );
  instantiate(gpu, endCapture(gpu, stream));
});
