// Devices with streams, on which random programs work.

import type { GpuBuffer } from "../../src/buffers/gpu_buffer.ts";
import { CudaDevice } from "../../src/device/device.ts";
import type { OpenOptions } from "../../src/device/device_options.ts";
import type { CudaStream } from "../../src/order/stream.ts";
import { testDriver } from "../support/driver.ts";

/** A device and the streams to use it on. */
export interface Place {
  readonly gpu: CudaDevice;
  readonly streams: readonly CudaStream[];
}

/** Allocates bytes of one kind of memory. */
export type MakeBuffer = (
  gpu: CudaDevice,
  length: number,
  stream: CudaStream,
) => GpuBuffer<"uint8">;

/** Adds two streams to a device's own; the stack disposes them. */
export function placeOn(gpu: CudaDevice, stack: DisposableStack): Place {
  return {
    gpu,
    streams: [gpu.stream, stack.use(gpu.createStream()), stack.use(gpu.createStream())],
  };
}

/** Opens so many devices, or as many as there are. */
export function openPlaces(
  count: number,
  stack: DisposableStack,
  options: OpenOptions = {},
): Place[] {
  const driver = testDriver();
  return Array.from({ length: Math.min(count, CudaDevice.count({ driver })) }, (_, ordinal) => {
    return placeOn(stack.use(CudaDevice.open(ordinal, { ...options, driver })), stack);
  });
}
