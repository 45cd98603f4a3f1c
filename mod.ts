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

import "./src/cards/shown.ts";

export { CudaDevice } from "./src/device.ts";
export { type OpenOptions, type UploadOptions } from "./src/device/device_options.ts";
export { DeviceAccounts } from "./src/device/device_accounts.ts";
export { DeviceInfo } from "./src/device/device_info.ts";
export { type DeviceMemory } from "./src/device/device_memory.ts";
export { Driver, type DriverArguments, type DriverChoice } from "./src/driver.ts";
export { type DriverApi, type DriverFunction } from "./ffi/cuda.ts";
export { type DeviceAttribute } from "./ffi/constants.ts";
export { type AllocateOptions, type DeviceAllocator } from "./src/buffers/device_allocator.ts";
export { DeviceBuffer, type DeviceBufferRequest } from "./src/buffers/device_buffer.ts";
export {
  type BufferFields,
  GpuBuffer,
  type LikeOptions,
  type Uploadable,
  type WriteFileOptions,
} from "./src/buffers/gpu_buffer.ts";
export { type BuffersOf, PackedBuffers } from "./src/buffers/packed_buffers.ts";
export {
  type ArraysOf,
  type DownloadAllOptions,
  type UploadAllOptions,
  type UploadIntoOptions,
} from "./src/buffers/many_arrays.ts";
export { HostBuffer, type HostBufferFields } from "./src/buffers/host_buffer.ts";
export { type BufferCopy } from "./src/buffers/batch.ts";
export { type HostValue, type HostValues, type UntypedSource } from "./src/buffers/host_values.ts";
export { StridedView } from "./src/buffers/strided_view.ts";
export { type AxisRange, type StridedLayout } from "./src/buffers/strides.ts";
export { PinnedBuffer } from "./src/buffers/pinned_buffer.ts";
export {
  BufferKinds,
  type MappedOptions,
  type PlaceOptions,
  type StagedOptions,
} from "./src/buffers/buffer_kinds.ts";
export {
  StagedBuffer,
  type StagedBufferFields,
  type StagedBufferRequest,
  type StagedRange,
} from "./src/buffers/staged_buffer.ts";
export { QueuedWork } from "./src/buffers/queued_work.ts";
export {
  MappedBuffer,
  type MappedBufferFields,
  type MappedBufferRequest,
} from "./src/buffers/mapped_buffer.ts";
export { ManagedBuffer } from "./src/buffers/managed_buffer.ts";
export {
  type ManagedAdvice,
  type ManagedHint,
  type ManagedPlace,
} from "./src/buffers/managed_range.ts";
export {
  RegisteredMemory,
  type RegisteredMemoryFields,
  type RegisterOptions,
  type RegisterRequest,
} from "./src/buffers/registered_memory.ts";
export {
  GrowableBuffer,
  type GrowableBufferFields,
  type GrowableBufferRequest,
  type GrowableOptions,
} from "./src/buffers/growable_buffer.ts";
export { LazyBuffer, type LazyBufferFields } from "./src/buffers/lazy_buffer.ts";
export { PitchedBuffer, type PitchedBufferRequest } from "./src/buffers/pitched_buffer.ts";
export { type Shape } from "./src/buffers/shape.ts";
export { Context, type ContextOptions } from "./src/context.ts";
export { type DeferredWork } from "./src/deferred_work.ts";
export { type HandleOptions } from "./src/interop/from_handle.ts";
export { type PointerAttributes } from "./src/memory/pointer_attributes.ts";
export { type PeerRoute } from "./src/transfer/peer_link.ts";
export { CudaStream, type StreamOptions } from "./src/stream.ts";
export { type StreamChoice } from "./src/stream_choice.ts";
export { type StreamPriority } from "./src/stream_priority.ts";
export { CudaEvent, type EventOptions } from "./src/event.ts";
export { type CaptureOptions, type CaptureRequest, CudaGraph } from "./src/graph.ts";
export { type ContextOwner, type MemoryResource } from "./src/memory/memory_resource.ts";
export { BaseMemoryResource } from "./src/memory/base_memory_resource.ts";
export { GraphMemoryResource } from "./src/memory/graph_memory_resource.ts";
export { CudaMemoryResource } from "./src/memory/cuda_memory_resource.ts";
export { CudaAsyncMemoryResource } from "./src/memory/cuda_async_memory_resource.ts";
export { type PoolOptions, type PoolReuse } from "./src/memory/driver_pool.ts";
export { type DeviceAccess } from "./src/memory/device_access.ts";
export { PinnedHostMemoryResource } from "./src/memory/pinned_host_memory_resource.ts";
export {
  type PinnedPoolOptions,
  PooledPinnedHostMemoryResource,
} from "./src/memory/pooled_pinned_host_memory_resource.ts";
export { ResourceAdaptor } from "./src/memory/resource_adaptor.ts";
export {
  type CachingOptions,
  CachingResourceAdaptor,
} from "./src/memory/caching_resource_adaptor.ts";
export { type LimitAmounts, type LimitRefusal, MemoryLimitError } from "./src/memory/byte_limit.ts";
export { LimitingResourceAdaptor } from "./src/memory/limiting_resource_adaptor.ts";
export {
  type StatisticsLevel,
  StatisticsResourceAdaptor,
} from "./src/memory/statistics_resource_adaptor.ts";
export {
  type TrackedAllocation,
  type TrackingOptions,
  TrackingResourceAdaptor,
} from "./src/memory/tracking_resource_adaptor.ts";
export {
  type LoggingOptions,
  LoggingResourceAdaptor,
} from "./src/memory/logging_resource_adaptor.ts";
export { type AllocationAction } from "./src/accounting/allocation_csv.ts";
export {
  type LoggedAllocation,
  parseAllocationLog,
  replayAllocations,
  type ReplayResult,
} from "./src/memory/allocation_replay.ts";
export {
  type FailureCallback,
  FailureCallbackResourceAdaptor,
} from "./src/memory/failure_callback_resource_adaptor.ts";
export {
  AlignedResourceAdaptor,
  type AlignmentOptions,
} from "./src/memory/aligned_resource_adaptor.ts";
export { type MakeResource } from "./src/memory/resource_choice.ts";
export {
  MappedHostMemoryResource,
  type MappedMemoryOptions,
} from "./src/memory/mapped_host_memory_resource.ts";
export { ManagedMemoryResource } from "./src/memory/managed_memory_resource.ts";
export { HostRegistration, type RegistrationOptions } from "./src/memory/host_registration.ts";
export { VirtualMemoryResource } from "./src/memory/virtual_memory_resource.ts";
export { VirtualRange, type VirtualRangeRequest } from "./src/memory/virtual_range.ts";
export {
  PitchedMemoryResource,
  type PitchedRequest,
} from "./src/memory/pitched_memory_resource.ts";
export { Allocation, type AllocationRequest, type Lender } from "./src/memory/allocation.ts";
export { type Owner } from "./src/safety_net.ts";
export { type Access, StreamUsage } from "./src/memory/stream_usage.ts";
export { LazyAllocation } from "./src/memory/lazy_allocation.ts";
export { type HostMemory } from "./src/transfer/host_memory.ts";
export { type TransferTuning } from "./src/transfer/tuning.ts";
export { type TransferOptions } from "./src/transfer/pending_transfer.ts";
export { type TransferChoice } from "./src/transfer/transfer_choice.ts";
export { type FilePath } from "./src/transfer/file_path.ts";
export { type WritingOptions } from "./src/transfer/produce_file.ts";
export { type UploadFileOptions } from "./src/interop/upload_file.ts";
export { type ByteSource } from "./src/interop/byte_source.ts";
export { type FromOptions } from "./src/interop/from_source.ts";
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
export { type Scope, type ScopeOptions } from "./src/scope.ts";
export { type LiveObject, LiveTable } from "./src/device/live.ts";
export { type LiveFields, type LiveOrder, type LiveQuery } from "./src/device/live_query.ts";
export {
  type CopyEnds,
  type LedgerEntry,
  type LiveKind,
  type MemoryCache,
  type MemoryMark,
} from "./src/accounting/ledger.ts";
export { type OriginDetail } from "./src/accounting/origin.ts";
export { type MemoryUsage } from "./src/accounting/counters.ts";
export { MemoryTrack, type MemoryTrackFields } from "./src/accounting/memory_track.ts";
export { Timeline, type TimelineOptions } from "./src/accounting/timeline.ts";
export {
  type TimelineAction,
  type TimelineEvent,
  type TimelineFacts,
  type TimelineRecord,
} from "./src/accounting/timeline_event.ts";
export {
  type CacheUsage,
  type KindUsage,
  MemoryReport,
  type MemoryReportData,
  type SizeClass,
} from "./src/device/report.ts";
export { SystemState } from "./src/device/system_state.ts";
export { type GpuProcess } from "./src/nvml_processes.ts";
export {
  type ArrayOf,
  type BitArrays,
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
  OutOfMemoryError,
  type UnavailableReason,
} from "./src/errors.ts";
export { type LiveBlock, type MemoryAmounts } from "./src/shortage.ts";
export { type Held } from "./src/device/slot.ts";
export { BufferSummary } from "./src/buffers/summary.ts";
export { type BandwidthOptions } from "./src/measure/bandwidth.ts";
export { OverlapRecorder, type OverlapSpan, type OverlapTrace } from "./src/measure/overlap.ts";
export {
  type BandwidthFit,
  type BandwidthPoint,
  BandwidthResult,
  type CopyDirection,
  type HostKind,
  type Provenance,
} from "./src/measure/bandwidth_result.ts";
export { type Bus } from "./src/measure/bus.ts";
export { Timing } from "./src/measure/timing.ts";
export { VERSION } from "./src/version.ts";
