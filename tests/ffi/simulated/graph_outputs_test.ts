// Memory that graphs of the simulated driver allocate and do not free: it is there after a launch.
// The status codes are those of an H200 under CUDA 13.0.

import { assertEquals, assertThrows } from "@std/assert";
import { CUresult as R } from "../../../ffi/constants.ts";
import { SimulationError } from "../../../ffi/simulated/driver.ts";
import { type SimulatedGpu, testSimulated } from "../../support/simulated_gpu.ts";
import { captureExec, follow, launchAndWait } from "./captured.ts";

const MIB = 1 << 20;
const FREES_ON_LAUNCH = 1n;

/** Captures a fill with 7 of 8 bytes that the graph allocates and leaves there. */
function outputExec(
  gpu: SimulatedGpu,
  stream: bigint,
  flags = 0n,
): { exec: bigint; output: bigint } {
  let output = 0n;
  const exec = captureExec(gpu, stream, () => {
    output = gpu.allocAsync(8, stream);
    gpu.api.cuMemsetD8Async(output, 7, 8n, stream);
  }, flags);
  return { exec, output };
}

testSimulated("cuDeviceGraphMemTrim() keeps what an output needs", (gpu) => {
  const [stream, before] = [gpu.stream(), gpu.freeBytes()];
  const { exec, output } = outputExec(gpu, stream);
  launchAndWait(gpu, exec, stream);
  gpu.api.cuDeviceGraphMemTrim(0);
  assertEquals(before - gpu.freeBytes(), 32 * MIB);
  gpu.api.cuMemFreeAsync(output, stream);
  gpu.api.cuDeviceGraphMemTrim(0);
  assertEquals(before - gpu.freeBytes(), 32 * MIB);
  gpu.api.cuStreamSynchronize(stream);
  gpu.api.cuDeviceGraphMemTrim(0);
  assertEquals(gpu.freeBytes(), before);
});

testSimulated("cuGraphLaunch() makes an output that any stream can read and free", (gpu) => {
  const [stream, other] = [gpu.stream(), gpu.stream()];
  const { exec, output } = outputExec(gpu, stream);
  assertEquals(gpu.api.cuMemFreeAsync(output, stream), R.CUDA_ERROR_INVALID_VALUE);
  assertEquals(gpu.api.cuMemFree_v2(output), R.CUDA_ERROR_INVALID_VALUE);
  gpu.api.cuGraphLaunch(exec, stream);
  follow(gpu, other, stream);
  const target = gpu.pinned(8);
  gpu.api.cuMemcpyAsync(target.address, output, 8n, other);
  assertEquals(gpu.api.cuMemFreeAsync(output, other), 0);
  assertEquals(gpu.api.cuMemFreeAsync(output, other), R.CUDA_ERROR_INVALID_VALUE);
  gpu.api.cuStreamSynchronize(other);
  assertEquals([...target.bytes], Array(8).fill(7));
});

testSimulated("cuGraphLaunch() refuses while an output is there", (gpu) => {
  const stream = gpu.stream();
  const { exec, output } = outputExec(gpu, stream);
  gpu.api.cuGraphLaunch(exec, stream);
  assertEquals(gpu.api.cuGraphLaunch(exec, stream), R.CUDA_ERROR_INVALID_VALUE);
  gpu.api.cuMemFreeAsync(output, stream);
  launchAndWait(gpu, exec, stream);
  assertEquals([...gpu.read(output, 2)], [7, 7]);
});

testSimulated("cuGraphLaunch() allocates an output anew when it frees on launch", (gpu) => {
  const stream = gpu.stream();
  let output = 0n;
  const exec = captureExec(gpu, stream, () => {
    output = gpu.allocAsync(8, stream);
  }, FREES_ON_LAUNCH);
  launchAndWait(gpu, exec, stream);
  gpu.write(output, new Uint8Array(8));
  assertEquals([...gpu.read(output, 1)], [0]);
  launchAndWait(gpu, exec, stream);
  assertThrows(() => gpu.read(output, 1), SimulationError, "nobody has written");
});

testSimulated("cuGraphLaunch() that frees an output in use on another stream is a race", (gpu) => {
  const [stream, other, target] = [gpu.stream(), gpu.stream(), gpu.pinned(8)];
  const { exec, output } = outputExec(gpu, stream, FREES_ON_LAUNCH);
  launchAndWait(gpu, exec, stream);
  gpu.api.cuMemcpyAsync(target.address, output, 8n, other);
  assertThrows(() => gpu.api.cuGraphLaunch(exec, stream), SimulationError, "race");
});

testSimulated("cuGraphExecDestroy() leaves outputs there", (gpu) => {
  const [stream, before] = [gpu.stream(), gpu.freeBytes()];
  const { exec, output } = outputExec(gpu, stream);
  launchAndWait(gpu, exec, stream);
  gpu.api.cuGraphExecDestroy(exec);
  assertEquals([...gpu.read(output, 1)], [7]);
  assertEquals(gpu.api.cuMemFree_v2(output), 0);
  gpu.api.cuDeviceGraphMemTrim(0);
  assertEquals(gpu.freeBytes(), before);
});

testSimulated("cuMemsetD8Async() throws on an output that is not there", (gpu) => {
  const stream = gpu.stream();
  const { exec, output } = outputExec(gpu, stream);
  const fill = () => gpu.api.cuMemsetD8Async(output, 1, 8n, stream);
  assertThrows(fill, SimulationError, "its graph was not launched");
  gpu.api.cuGraphLaunch(exec, stream);
  assertEquals(fill(), 0);
  gpu.api.cuMemFreeAsync(output, stream);
  assertThrows(fill, SimulationError, "was freed");
});

testSimulated("cuMemFreeAsync() in a capture frees the output of another graph", (gpu) => {
  const [stream, target] = [gpu.stream(), gpu.pinned(8)];
  const { exec, output } = outputExec(gpu, stream);
  launchAndWait(gpu, exec, stream);
  const consumer = captureExec(gpu, stream, () => {
    gpu.api.cuMemcpyAsync(target.address, output, 8n, stream);
    assertEquals(gpu.api.cuMemFreeAsync(output, stream), 0);
  });
  for (let round = 0; round < 2; round++) {
    launchAndWait(gpu, consumer, stream);
    assertEquals([...target.bytes], Array(8).fill(7));
    target.bytes.fill(0);
    assertEquals(gpu.api.cuGraphLaunch(consumer, stream), R.CUDA_ERROR_INVALID_VALUE);
    launchAndWait(gpu, exec, stream);
  }
});
