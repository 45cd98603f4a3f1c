// The structs of NVML, member for member as in nvml.h. A struct with a version says in its first
// member which one it is: its size, and the number of the version in the highest byte.

import { i32, struct, u32, u64 } from "./struct.ts";

/** Describes how busy a GPU is, in percent of the last sample period. */
export const nvmlUtilization_t = struct({ gpu: u32, memory: u32 });

/** Describes a device's memory in bytes; `used` includes what the driver reserves. */
export const nvmlMemory_t = struct({ total: u64, free: u64, used: u64 });

/** Describes a device's memory in bytes, with the driver's reserved part listed separately. */
export const nvmlMemory_v2_t = struct({
  version: u32,
  total: u64,
  reserved: u64,
  free: u64,
  used: u64,
});

/** Describes a process that uses a device, as the first libraries do. */
export const nvmlProcessInfo_v1_t = struct({ pid: u32, usedGpuMemory: u64 });

/** Describes a process that uses a device, and which MIG device. */
export const nvmlProcessInfo_v2_t = struct({
  pid: u32,
  usedGpuMemory: u64,
  gpuInstanceId: u32,
  computeInstanceId: u32,
});

/** Describes a temperature in degrees Celsius, and which sensor's. */
export const nvmlTemperature_v1_t = struct({ version: u32, sensorType: i32, temperature: i32 });

/** Computes the value of a struct's `version`: the macro NVML_STRUCT_VERSION. */
export function structVersion(byteLength: number, version: number): number {
  return byteLength | (version << 24);
}
