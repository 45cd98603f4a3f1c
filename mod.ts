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

import "./src/words/runtime.ts";
import "./src/cards/shown.ts";

export { CudaDevice } from "./src/device/device.ts";
export type { OpenOptions, UploadOptions } from "./src/device/device_options.ts";
export { DeviceInfo } from "./src/device/device_info.ts";
export type { DeviceMemory } from "./src/device/device_memory.ts";
export type { DriverChoice } from "./src/driver/driver.ts";
export { DeviceBuffer } from "./src/buffers/device_buffer.ts";
export {
  GpuBuffer,
  type LikeOptions,
  type Uploadable,
  type WriteFileOptions,
} from "./src/buffers/gpu_buffer.ts";
export { PackedBuffers } from "./src/buffers/packed_buffers.ts";
export type {
  DownloadAllOptions,
  UploadAllOptions,
  UploadIntoOptions,
} from "./src/buffers/many_arrays.ts";
export { HostBuffer } from "./src/buffers/host_buffer.ts";
export type { BufferCopy } from "./src/buffers/batch.ts";
export type { HostValues, UntypedSource } from "./src/buffers/host_values.ts";
export { StridedView } from "./src/buffers/strided_view.ts";
export type { AxisRange } from "./src/buffers/strides.ts";
export { PinnedBuffer } from "./src/buffers/pinned_buffer.ts";
export type { AllocateOptions, PlaceOptions } from "./src/buffers/place_options.ts";
export { StagedBuffer, type StagedOptions } from "./src/buffers/staged_buffer.ts";
export { MappedBuffer, type MappedOptions } from "./src/buffers/mapped_buffer.ts";
export { ManagedBuffer } from "./src/buffers/managed_buffer.ts";
export type { ManagedAdvice, ManagedHint, ManagedPlace } from "./src/buffers/managed_buffer.ts";
export { RegisteredBuffer, type RegisterOptions } from "./src/buffers/registered_buffer.ts";
export { GrowableBuffer, type GrowableOptions } from "./src/buffers/growable_buffer.ts";
export { LazyBuffer } from "./src/buffers/lazy_buffer.ts";
export { PitchedBuffer } from "./src/buffers/pitched_buffer.ts";
export type { Shape } from "./src/buffers/shape.ts";
export type { HandleOptions } from "./src/interop/from_handle.ts";
export type { PointerAttributes } from "./src/memory/pointer_attributes.ts";
export type { PeerRoute } from "./src/copies/copy.ts";
export { CudaStream, type StreamOptions, type StreamPriority } from "./src/order/stream.ts";
export type { StreamChoice } from "./src/order/stream_choice.ts";
export { CudaEvent, type EventOptions } from "./src/order/event.ts";
export { type CaptureOptions, CudaGraph } from "./src/graph/graph.ts";
export type { MemoryResource } from "./src/memory/memory_resource.ts";
export type { HostMemory } from "./src/memory/host_memory.ts";
export type { TransferTuning } from "./src/transfer/ways.ts";
export type { TransferOptions } from "./src/transfer/pending_transfer.ts";
export type { TransferChoice } from "./src/transfer/transfer_choice.ts";
export type { FilePath } from "./src/disk/file_path.ts";
export type { WritingOptions } from "./src/transfer/produce_file.ts";
export type { UploadFileOptions } from "./src/interop/upload_file.ts";
export type { ByteSource } from "./src/interop/byte_source.ts";
export type { FromOptions } from "./src/interop/from_source.ts";
export { SafetensorsModel } from "./src/interop/safetensors/model.ts";
export { SafetensorsError } from "./src/interop/safetensors/header.ts";
export type { Scope, ScopeOptions } from "./src/device/scope.ts";
export type { LiveObject, LiveQuery } from "./src/device/live_query.ts";
export { LiveTable } from "./src/device/live.ts";
export type { LiveKind, MemoryMark } from "./src/accounting/ledger.ts";
export type { OriginDetail } from "./src/accounting/origin.ts";
export { MemoryTrack } from "./src/accounting/memory_track.ts";
export { Timeline, type TimelineOptions } from "./src/accounting/timeline.ts";
export type { TimelineEvent } from "./src/accounting/timeline_event.ts";
export { MemoryReport } from "./src/device/report.ts";
export { SystemState } from "./src/device/system_state.ts";
export type { GpuProcess } from "./src/driver/nvml_processes.ts";
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
export { type ByteSize, formatBytes, parseBytes } from "./src/words/format.ts";
export {
  CudaError,
  CudaUnavailableError,
  DisposedError,
  MemoryLimitError,
  OutOfMemoryError,
  type UnavailableReason,
} from "./src/words/errors.ts";
export { BufferImage } from "./src/buffers/image.ts";
export { BufferSummary } from "./src/buffers/summary.ts";
export type { BandwidthOptions } from "./src/measure/bandwidth.ts";
export { BandwidthResult } from "./src/measure/bandwidth_result.ts";
export { Timing } from "./src/measure/timing.ts";
export { VERSION } from "./src/words/version.ts";
export { LiveGroups } from "./src/device/live_groups.ts";
