// Kernels and host functions in graphs of the simulated driver: JavaScript that each launch runs.
// Kernels name their memory when they run, so memory that the graph allocates must be there then.

import { assertEquals, assertThrows } from "@std/assert";
import { type SimulatedKernel, SimulationError } from "../../../ffi/simulated/driver.ts";
import { SimulatedGpu, testSimulated } from "../../support/simulated_gpu.ts";
import { captureExec, launchAndWait } from "./captured.ts";

/** Adds one to the four bytes at its parameter. */
const addOne: SimulatedKernel = {
  parameterBytes: [8],
  run(launch) {
    const address = launch.parameters[0]?.getBigUint64(0, true) ?? 0n;
    launch.write(address, launch.read(address, 4).map((byte) => byte + 1));
  },
};

function runAddOne(gpu: SimulatedGpu, kernel: bigint, address: bigint, stream: bigint): void {
  const value = new BigUint64Array([address]);
  const pointer = Deno.UnsafePointer.value(Deno.UnsafePointer.of(value));
  const parameters = new BigUint64Array([pointer]);
  const shape = [1, 1, 1, 1, 1, 1, 0] as const;
  assertEquals(gpu.api.cuLaunchKernel(kernel, ...shape, stream, parameters, null), 0);
  value.fill(0n);
}

Deno.test("cuGraphLaunch() runs kernels with the parameters of the capture", () => {
  const gpu = new SimulatedGpu({ kernels: { addOne } });
  const [stream, device, { kernel }] = [gpu.stream(), gpu.alloc(4), gpu.load("addOne")];
  gpu.write(device, new Uint8Array(4));
  const exec = captureExec(gpu, stream, () => runAddOne(gpu, kernel, device, stream));
  launchAndWait(gpu, exec, stream);
  launchAndWait(gpu, exec, stream);
  assertEquals([...gpu.read(device, 4)], [2, 2, 2, 2]);
});

Deno.test("cuGraphLaunch() lets kernels use memory that the graph allocates", () => {
  const gpu = new SimulatedGpu({ kernels: { addOne } });
  const [stream, target, { kernel }] = [gpu.stream(), gpu.pinned(4), gpu.load("addOne")];
  let block = 0n;
  const exec = captureExec(gpu, stream, () => {
    block = gpu.allocAsync(4, stream);
    gpu.api.cuMemsetD8Async(block, 5, 4n, stream);
    runAddOne(gpu, kernel, block, stream);
    gpu.api.cuMemcpyAsync(target.address, block, 4n, stream);
    gpu.api.cuMemFreeAsync(block, stream);
  });
  launchAndWait(gpu, exec, stream);
  assertEquals([...target.bytes], [6, 6, 6, 6]);
  runAddOne(gpu, kernel, block, stream);
  assertThrows(() => gpu.api.cuStreamSynchronize(stream), SimulationError, "freed in its graph");
});

Deno.test("cuGraphLaunch() throws when a kernel's module was unloaded", () => {
  const gpu = new SimulatedGpu({ kernels: { addOne } });
  const [stream, device, { module, kernel }] = [gpu.stream(), gpu.alloc(4), gpu.load("addOne")];
  const exec = captureExec(gpu, stream, () => runAddOne(gpu, kernel, device, stream));
  gpu.api.cuModuleUnload(module);
  assertThrows(() => gpu.api.cuGraphLaunch(exec, stream), SimulationError, "unloaded");
});

testSimulated("cuGraphLaunch() calls the host each time", (gpu) => {
  const stream = gpu.stream();
  const seen: bigint[] = [];
  const callback = new Deno.UnsafeCallback(
    { parameters: ["u64"], result: "void" },
    (value) => seen.push(value),
  );
  const exec = captureExec(gpu, stream, () => {
    gpu.api.cuLaunchHostFunc(stream, callback.pointer, 7n);
  });
  launchAndWait(gpu, exec, stream);
  launchAndWait(gpu, exec, stream);
  assertEquals(seen, [7n, 7n]);
  callback.close();
});

Deno.test("cuGraphLaunch() runs the work of one device from a stream of another", () => {
  const gpu = new SimulatedGpu({ kernels: { addOne } });
  const [stream, device, { kernel }] = [gpu.stream(), gpu.alloc(4), gpu.load("addOne")];
  gpu.write(device, new Uint8Array(4));
  const exec = captureExec(gpu, stream, () => runAddOne(gpu, kernel, device, stream));
  gpu.api.cuCtxSetCurrent(gpu.retain(1));
  const launching = gpu.stream();
  gpu.api.cuGraphLaunch(exec, launching);
  gpu.api.cuCtxSetCurrent(gpu.context);
  assertEquals(gpu.api.cuStreamSynchronize(launching), 0);
  assertEquals([...gpu.read(device, 4)], [1, 1, 1, 1]);
});
