// Kernels and host callbacks of the simulated driver: JavaScript in stream order.
// Kernels are held to the same rules as copies.

import { assertEquals, assertThrows } from "@std/assert";
import { type SimulatedKernel, SimulationError } from "../../../ffi/simulated/driver.ts";
import { EMPTY_PTX, SimulatedGpu, testSimulated } from "../../support/simulated_gpu.ts";

/** Adds one to each of `count` bytes. */
const addOne: SimulatedKernel = {
  parameterBytes: [8, 4],
  run(launch) {
    const [address, count] = launch.parameters;
    const start = address?.getBigUint64(0, true) ?? 0n;
    const bytes = launch.read(start, count?.getUint32(0, true) ?? 0);
    launch.write(start, bytes.map((byte) => byte + 1));
  },
};

function load(gpu: SimulatedGpu, name: string): bigint {
  return gpu.load(name).kernel;
}

function launch(
  gpu: SimulatedGpu,
  kernel: bigint,
  options: { address: bigint; count: number; stream: bigint },
): number {
  const [address, count] = [
    new BigUint64Array([options.address]),
    new Uint32Array([options.count]),
  ];
  const parameters = new BigUint64Array(
    [address, count].map((cell) => Deno.UnsafePointer.value(Deno.UnsafePointer.of(cell))),
  );
  const status = gpu.api.cuLaunchKernel(
    ...[kernel, 1, 1, 1, 32, 1, 1, 0] as const,
    options.stream,
    parameters,
    null,
  );
  address.fill(0n);
  count.fill(0);
  return status;
}

Deno.test("cuLaunchKernel() runs in stream order with the parameters of the launch", () => {
  const gpu = new SimulatedGpu({ kernels: { addOne } });
  const [kernel, address, stream] = [load(gpu, "addOne"), gpu.alloc(4), gpu.stream()];
  gpu.api.cuMemsetD8Async(address, 4, 4n, stream);
  assertEquals(launch(gpu, kernel, { address, count: 4, stream }), 0);
  gpu.api.cuStreamSynchronize(stream);
  assertEquals([...gpu.read(address, 4)], [5, 5, 5, 5]);
});

Deno.test("a kernel may take read() and write() out of its launch", () => {
  const setToSeven: SimulatedKernel = {
    parameterBytes: [8, 4],
    run({ parameters: [address, count], read, write }) {
      const start = address?.getBigUint64(0, true) ?? 0n;
      write(start, read(start, count?.getUint32(0, true) ?? 0).fill(7));
    },
  };
  const gpu = new SimulatedGpu({ kernels: { setToSeven } });
  const [kernel, address, stream] = [load(gpu, "setToSeven"), gpu.alloc(4), gpu.stream()];
  gpu.api.cuMemsetD8Async(address, 4, 4n, stream);
  assertEquals(launch(gpu, kernel, { address, count: 4, stream }), 0);
  gpu.api.cuStreamSynchronize(stream);
  assertEquals([...gpu.read(address, 4)], [7, 7, 7, 7]);
});

Deno.test("a kernel writes the bytes of any typed array, and nothing else", () => {
  const wrong = (bytes: unknown): SimulatedKernel => ({
    parameterBytes: [8, 4],
    run({ parameters: [address], write }) {
      write(address?.getBigUint64(0, true) ?? 0n, bytes as Uint8Array);
    },
  });
  const kernels = {
    halves: wrong(new Uint16Array([1, 0x203, 4]).subarray(1)),
    list: wrong([1, 2, 3, 4]),
  };
  const gpu = new SimulatedGpu({ kernels });
  const [address, stream] = [gpu.alloc(4), gpu.stream()];
  launch(gpu, load(gpu, "halves"), { address, count: 4, stream });
  gpu.api.cuStreamSynchronize(stream);
  assertEquals([...gpu.read(address, 4)], [3, 2, 4, 0]);
  launch(gpu, load(gpu, "list"), { address, count: 4, stream });
  const words = "Cannot write in a kernel: expected a typed array or a DataView";
  assertThrows(() => gpu.api.cuStreamSynchronize(stream), TypeError, words);
});

Deno.test("a kernel that touches address 0 or reads no whole number of bytes hears so", () => {
  const reading = (byteLength: number): SimulatedKernel => ({
    parameterBytes: [8, 4],
    run({ parameters: [address], read }) {
      read(address?.getBigUint64(0, true) ?? 0n, byteLength);
    },
  });
  const gpu = new SimulatedGpu({ kernels: { four: reading(4), none: reading(NaN) } });
  const [address, stream] = [gpu.alloc(4), gpu.stream()];
  launch(gpu, load(gpu, "four"), { address: 0n, count: 4, stream });
  const words = "the kernel touches address 0";
  assertThrows(() => gpu.api.cuStreamSynchronize(stream), SimulationError, words);
  launch(gpu, load(gpu, "none"), { address, count: 4, stream });
  assertThrows(() => gpu.api.cuStreamSynchronize(stream), RangeError, "Cannot read NaN bytes");
});

Deno.test("cuLaunchKernel() throws when a kernel leaves its block", () => {
  const gpu = new SimulatedGpu({ kernels: { addOne } });
  const [kernel, address, stream] = [load(gpu, "addOne"), gpu.alloc(4), gpu.stream()];
  gpu.api.cuMemsetD8Async(address, 4, 4n, stream);
  launch(gpu, kernel, { address, count: 5, stream });
  assertThrows(() => gpu.api.cuStreamSynchronize(stream), SimulationError, "cuLaunchKernel");
});

Deno.test("cuLaunchKernel() races with unordered work on the same bytes", () => {
  const gpu = new SimulatedGpu({ kernels: { addOne } });
  const [kernel, address, stream] = [load(gpu, "addOne"), gpu.alloc(4), gpu.stream()];
  gpu.write(address, new Uint8Array(4));
  launch(gpu, kernel, { address, count: 4, stream });
  gpu.api.cuMemsetD8Async(address, 1, 4n, gpu.stream());
  assertThrows(() => gpu.api.cuStreamSynchronize(stream), SimulationError, "race");
});

Deno.test("cuLaunchKernel() is ordered before work that waits for its event", () => {
  const gpu = new SimulatedGpu({ kernels: { addOne } });
  const [kernel, address] = [load(gpu, "addOne"), gpu.alloc(4)];
  const [first, second, event] = [gpu.stream(), gpu.stream(), gpu.event()];
  gpu.write(address, new Uint8Array(4));
  launch(gpu, kernel, { address, count: 4, stream: first });
  gpu.api.cuEventRecord(event, first);
  gpu.api.cuStreamWaitEvent(second, event, 0);
  gpu.api.cuMemsetD8Async(address, 9, 4n, second);
  assertEquals(gpu.api.cuStreamSynchronize(second), 0);
  assertEquals([...gpu.read(address, 4)], [9, 9, 9, 9]);
});

Deno.test("cuLaunchKernel() uses memory whose free is queued behind it, and none freed before", () => {
  const gpu = new SimulatedGpu({ kernels: { addOne } });
  const [kernel, stream] = [load(gpu, "addOne"), gpu.stream()];
  const address = gpu.allocAsync(4, stream);
  gpu.api.cuMemsetD8Async(address, 4, 4n, stream);
  launch(gpu, kernel, { address, count: 4, stream });
  assertEquals(gpu.api.cuMemFreeAsync(address, stream), 0);
  assertEquals(gpu.api.cuMemFreeAsync(address, stream), 1); // CUDA_ERROR_INVALID_VALUE
  assertEquals(gpu.api.cuStreamSynchronize(stream), 0);
  launch(gpu, kernel, { address, count: 4, stream });
  assertThrows(() => gpu.api.cuStreamSynchronize(stream), SimulationError, "was freed");
});

testSimulated("cuModuleLoadData() throws on PTX text without its final zero", (gpu) => {
  assertThrows(
    () => gpu.api.cuModuleLoadData(new BigUint64Array(1), EMPTY_PTX.subarray(0, -1)),
    SimulationError,
    "zero byte",
  );
});

testSimulated("cuLaunchHostFunc() calls the host in stream order", (gpu) => {
  const [address, stream] = [gpu.alloc(4), gpu.stream()];
  const seen: bigint[] = [];
  const callback = new Deno.UnsafeCallback(
    { parameters: ["u64"], result: "void" },
    (value) => seen.push(value),
  );
  gpu.api.cuMemsetD8Async(address, 1, 4n, stream);
  assertEquals(gpu.api.cuLaunchHostFunc(stream, callback.pointer, 42n), 0);
  assertEquals(seen, []);
  gpu.api.cuStreamSynchronize(stream);
  assertEquals(seen, [42n]);
  callback.close();
});
