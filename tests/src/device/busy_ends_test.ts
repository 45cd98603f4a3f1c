// Things may end before the GPU has begun the work that uses them: a real driver breaks the context or ends
// the process where something goes too early. Plain memory is no case here, because cuMemFree waits.

import { assertEquals } from "@std/assert";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import type { GpuBuffer } from "../../../src/buffers/gpu_buffer.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import { CudaAsyncMemoryResource } from "../../../src/memory/cuda_async_memory_resource.ts";
import { ManagedMemoryResource } from "../../../src/memory/managed_memory_resource.ts";
import type { MemoryResource } from "../../../src/memory/memory_resource.ts";
import { VirtualMemoryResource } from "../../../src/memory/virtual_memory_resource.ts";
import type { CudaStream } from "../../../src/order/stream.ts";
import { PooledPinnedHostMemoryResource } from "../../../src/resources/pooled_pinned_host_memory_resource.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { IOTA_PTX } from "../../support/kernels/kernel_driver.ts";

const LENGTH = 2 ** 20;
const ROUNDS = 8;

/** Makes things; the result queues work that uses them, and ends them. */
type Ending = (
  gpu: CudaDevice,
  stream: CudaStream,
  x: DeviceBuffer<"uint8">,
) => (() => void) | Promise<() => void>;

/** Fills memory of a resource. */
function ofResource(make: (gpu: CudaDevice) => MemoryResource): Ending {
  return (gpu, stream) => {
    const buffer = gpu.alloc("uint8", LENGTH, { resource: make(gpu) });
    return () => buffer.fill(1, { stream }).dispose();
  };
}

/** Copies into memory of the host. */
function ofHost(make: (gpu: CudaDevice) => GpuBuffer<"uint8">): Ending {
  return (gpu, stream, x) => {
    const host = make(gpu);
    return () => {
      x.copyTo(host, { stream });
      host.dispose();
    };
  };
}

const ENDINGS: Readonly<Record<string, Ending>> = {
  "a pool of its own": (gpu, stream) => {
    const pool = new CudaAsyncMemoryResource(gpu, { releaseThresholdSize: "64 MiB" });
    const buffer = gpu.alloc("uint8", LENGTH, { resource: pool, stream });
    return () => {
      buffer.fill(1, { stream }).dispose();
      pool.dispose();
    };
  },
  "virtual memory": ofResource((gpu) => new VirtualMemoryResource(gpu)),
  "managed memory": ofResource((gpu) => new ManagedMemoryResource(gpu)),
  "a growable buffer": (gpu, stream) => {
    const buffer = gpu.growable("uint8", { reserveSize: "16 MiB", shape: 8 * LENGTH });
    return () => {
      buffer.fill(1, { stream });
      buffer.shrink(2 * LENGTH);
      buffer.grow(6 * LENGTH).fill(2, { stream });
      buffer.dispose();
    };
  },
  "page-locked memory": ofHost((gpu) => gpu.pinned("uint8", LENGTH)),
  "a pool of page-locked memory": (gpu, stream, x) => {
    const pool = new PooledPinnedHostMemoryResource(gpu);
    const pinned = gpu.pinned("uint8", LENGTH, { resource: pool });
    return () => {
      x.copyTo(pinned, { stream });
      pinned.dispose();
      pool.dispose();
    };
  },
  "mapped memory": ofHost((gpu) => gpu.mapped("uint8", LENGTH)),
  "a registered array": ofHost((gpu) => gpu.register(new Uint8Array(LENGTH))),
  "a kernel's module": async (gpu, stream, x) => {
    const module = await gpu.loadModule(IOTA_PTX);
    const kernel = module.kernel("vramkit_iota_u32");
    const launch = () => kernel.launch({ grid: 1, block: 32, args: [x, 64n, 0n, 1n], stream });
    launch(); // a driver may wait for all work when it first meets a kernel
    return () => {
      launch();
      module.dispose();
    };
  },
  "a graph that allocates": (gpu, stream) => {
    const graph = gpu.capture((recorded) => {
      using part = gpu.alloc("uint8", LENGTH, { stream: recorded });
      part.fill(1, { stream: recorded });
    });
    return () => {
      graph.launch({ stream });
      graph.launch({ stream });
      graph.dispose();
    };
  },
  "a stream and an event": (gpu, stream, x) => {
    const [other, event] = [gpu.createStream(), gpu.createEvent()];
    return () => {
      stream.record(event);
      other.wait(event);
      x.fill(1, { stream: other });
      event.dispose();
      other.dispose();
    };
  },
  "a conversion": (gpu, stream) => {
    const numbers = gpu.alloc("float32", LENGTH, { stream }).fill(1, { stream });
    const convert = () => numbers.astype("float16", { stream }).dispose();
    convert();
    return () => {
      convert();
      numbers.dispose();
    };
  },
};

for (const [name, begin] of Object.entries(ENDINGS)) {
  testHolding(`${name} may end before the GPU has begun the work that uses it`, async (gpu) => {
    for (let round = 0; round < ROUNDS; round++) {
      using stream = gpu.createStream();
      using x = gpu.alloc("uint8", LENGTH, { stream });
      x.fill(7, { stream });
      const end = await begin(gpu, stream, x);
      using held = new HeldStream(gpu, stream);
      end();
      // The driver may hand out again, and write, the memory of what ended.
      using other = gpu.alloc("uint8", LENGTH + round).fill(round);
      held.release();
      assertEquals((await other.download()).at(-1), round);
      await stream.synchronize();
    }
  });
}
