/**
 * GPU memory for Deno and Jupyter: typed buffers on NVIDIA GPUs, freed by `using`, moved at the
 * speed of the bus, visible in notebooks. Without a GPU everything runs on a simulated driver.
 *
 * ```ts
 * import { CudaDevice } from "vramkit";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * using x = await gpu.upload(new Float32Array([1, 2, 3, 4, 5, 6]), { shape: [2, 3] });
 * using row = x.view(1); // the second row, no copy
 * row.fill(0);
 * console.log(await x.download()); // Float32Array(6) [1, 2, 3, 0, 0, 0]
 * ```
 *
 * @module
 */

export {
  CudaDevice,
  type DeviceMemory,
  type OpenOptions,
  type UploadOptions,
} from "./src/device.ts";
export { DeviceInfo } from "./src/device_info.ts";
export { type DriverChoice } from "./src/driver.ts";
export { type AllocateOptions, type DeviceAllocator } from "./src/buffers/device_allocator.ts";
export { DeviceBuffer, type DeviceBufferRequest } from "./src/buffers/device_buffer.ts";
export {
  TransferableBuffer,
  type TransferChoice,
  type Uploadable,
} from "./src/buffers/transferable_buffer.ts";
export { HostBuffer, type HostBufferFields } from "./src/buffers/host_buffer.ts";
export { type BufferFields, GpuBuffer, type StreamChoice } from "./src/buffers/gpu_buffer.ts";
export { PinnedBuffer } from "./src/buffers/pinned_buffer.ts";
export { type Shape } from "./src/buffers/shape.ts";
export { Context } from "./src/context.ts";
export { CudaStream, type StreamOptions, type StreamPriority } from "./src/stream.ts";
export { CudaEvent, type EventOptions } from "./src/event.ts";
export { type ContextOwner, type MemoryResource } from "./src/memory/memory_resource.ts";
export { CudaMemoryResource } from "./src/memory/cuda_memory_resource.ts";
export { CudaAsyncMemoryResource } from "./src/memory/cuda_async_memory_resource.ts";
export { PinnedHostMemoryResource } from "./src/memory/pinned_host_memory_resource.ts";
export { type HostMemory } from "./src/transfer/host_memory.ts";
export { type TransferOptions } from "./src/transfer/host_transfer.ts";
export { type FilePath } from "./src/transfer/disk_file.ts";
export { type UploadFileOptions } from "./src/interop/upload_file.ts";
export { type SafetensorsFormat } from "./src/interop/safetensors/formats.ts";
export { type SafetensorsHeader, type TensorEntry } from "./src/interop/safetensors/header.ts";
export { readSafetensorsHeader } from "./src/interop/safetensors/read_header.ts";
export { loadSafetensors, type LoadSafetensorsOptions } from "./src/interop/safetensors/load.ts";
export {
  type LoadedTensor,
  type ModelFields,
  SafetensorsModel,
} from "./src/interop/safetensors/model.ts";
export {
  type NamedTensors,
  saveSafetensors,
  type SaveSafetensorsOptions,
} from "./src/interop/safetensors/save.ts";
export { type SafetensorsSource } from "./src/interop/safetensors/shards.ts";
export { SafetensorsError } from "./src/interop/safetensors/error.ts";
export { type MemorySpan } from "./src/transfer/copy.ts";
export { type Scope } from "./src/scope.ts";
export { type LiveObject, LiveTable } from "./src/live.ts";
export { type LiveKind, type MemoryCache } from "./src/ledger.ts";
export {
  type ArrayOf,
  type BitsOf,
  type DType,
  DTYPE_NAMES,
  type DTypeOf,
  elementBytes,
  fromBfloat16,
  type HostArray,
  type ScalarOf,
  toBfloat16,
} from "./src/dtype.ts";
export { type ByteSize, formatBytes, parseBytes } from "./src/format.ts";
export {
  CudaError,
  CudaUnavailableError,
  DisposedError,
  type LiveBlock,
  type MemoryAmounts,
  OutOfMemoryError,
  type UnavailableReason,
} from "./src/errors.ts";
export { type BandwidthOptions } from "./src/measure/bandwidth.ts";
export {
  type BandwidthFit,
  type BandwidthPoint,
  type BandwidthResult,
  type CopyDirection,
  type HostKind,
  type Provenance,
} from "./src/measure/bandwidth_result.ts";
export { type Bus } from "./src/measure/bus.ts";
export { type Timing } from "./src/measure/timing.ts";
export { VERSION } from "./src/version.ts";
