/**
 * The sources of memory: resources, adaptors around them, allocations, and logs of allocations to
 * replay. Programs pass a resource to a call, to `gpu.withResource()`, or to `CudaDevice.open()`; a
 * class of your own can implement `MemoryResource`.
 *
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { CachingResourceAdaptor, StatisticsResourceAdaptor } from "vramkit/memory";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * using cache = new CachingResourceAdaptor(gpu.memoryResource);
 * const counted = new StatisticsResourceAdaptor(cache);
 * gpu.withResource(counted, () => {
 *   gpu.alloc("float32", 1024).dispose();
 *   gpu.alloc("float32", 1024).dispose(); // the same block, from the cache
 * });
 * console.log(counted.peakBytes, counted.totalCount); // 4096 2
 * ```
 *
 * @module
 */

import "../words/runtime.ts";

export type { Driver, DriverArguments } from "../driver/driver.ts";
export type { DeviceAttribute } from "../../ffi/constants.ts";
export type { DeviceAllocator } from "../buffers/device_buffer.ts";
export type { BuffersOf } from "../buffers/packed_buffers.ts";
export type { ArraysOf } from "../buffers/many_arrays.ts";
export type { HostValue } from "../dtype.ts";
export { type DLPackOptions, DLPackTensor } from "../dlpack/dlpack_tensor.ts";
export type { DLPackPointer, FromDLPackOptions } from "../interop/from_dlpack.ts";
export type { ForeignStream, ForeignStreamOptions } from "../order/stream.ts";
export type { AsTypeOptions } from "../buffers/gpu_buffer.ts";
export type { LazyOptions } from "../buffers/lazy_buffer.ts";
export type { RemoteBuffer } from "../buffers/remote_buffer.ts";
export type { BUFFER_KIND, Retyped } from "../buffers/retyped.ts";
export type { IotaOptions } from "../buffers/number_run.ts";
export type { StridedLayout } from "../buffers/strides.ts";
export type { QueuedWork, StagedRange } from "../buffers/staged_buffer.ts";
export type { Context } from "../driver/context.ts";
export type { ContextOwner, MemoryResource } from "../memory/memory_resource.ts";
export { GraphMemoryResource } from "../graph/graph_memory_resource.ts";
export { CudaMemoryResource } from "../memory/cuda_memory_resource.ts";
export { CudaAsyncMemoryResource } from "../memory/cuda_async_memory_resource.ts";
export type { PoolOptions, PoolReuse } from "../memory/driver_pool.ts";
export type { DeviceAccess } from "../memory/device_access.ts";
export { PinnedHostMemoryResource } from "../memory/pinned_host_memory_resource.ts";
export {
  type PinnedPoolOptions,
  PooledPinnedHostMemoryResource,
} from "../resources/pooled_pinned_host_memory_resource.ts";
export { ResourceAdaptor } from "../memory/resource_adaptor.ts";
export {
  type CachingOptions,
  CachingResourceAdaptor,
} from "../resources/caching_resource_adaptor.ts";
export type { CacheAdaptor } from "../resources/cache_adaptor.ts";
export { type LimitAmounts, MemoryLimitError, type MemoryShortage } from "../words/errors.ts";
export {
  type LimitingOptions,
  LimitingResourceAdaptor,
} from "../resources/limiting_resource_adaptor.ts";
export {
  type StatisticsLevel,
  StatisticsResourceAdaptor,
} from "../resources/statistics_resource_adaptor.ts";
export {
  type TrackedAllocation,
  type TrackingOptions,
  TrackingResourceAdaptor,
} from "../resources/tracking_resource_adaptor.ts";
export type { WarningListener } from "../words/warning.ts";
export {
  type LoggingOptions,
  LoggingResourceAdaptor,
} from "../resources/logging_resource_adaptor.ts";
export type { AllocationAction } from "../accounting/allocation_csv.ts";
export {
  type LoggedAllocation,
  parseAllocationLog,
  replayAllocations,
  type ReplayResult,
} from "../resources/allocation_replay.ts";
export {
  type FailureCallback,
  type FailureCallbackOptions,
  FailureCallbackResourceAdaptor,
} from "../resources/failure_callback_resource_adaptor.ts";
export {
  AlignedResourceAdaptor,
  type AlignmentOptions,
} from "../resources/aligned_resource_adaptor.ts";
export type { MakeResource } from "../memory/resource_choice.ts";
export {
  MappedHostMemoryResource,
  type MappedMemoryOptions,
} from "../memory/mapped_host_memory_resource.ts";
export { ManagedMemoryResource } from "../memory/managed_memory_resource.ts";
export type { RegistrationOptions } from "../memory/host_registration.ts";
export {
  type VirtualMemoryOptions,
  VirtualMemoryResource,
} from "../memory/virtual_memory_resource.ts";
export { PitchedMemoryResource } from "../memory/pitched_memory_resource.ts";
export type { BaseMemoryResource } from "../memory/base_memory_resource.ts";
export type { HostMemory } from "../memory/host_memory.ts";
export type { LoadedContents } from "../interop/loaded_contents.ts";
export type { Owned } from "../words/owned.ts";
export type { MemorySpan } from "../copies/copy.ts";
export type { LiveOrder } from "../device/live_query.ts";
export type { MemoryUsage } from "../accounting/counters.ts";
export type { LibraryUsage } from "../accounting/ledger.ts";
export type { TimelineAction, TimelineFacts } from "../accounting/timeline_event.ts";
export type { CacheUsage, KindUsage, MemoryReportData, SizeClass } from "../device/report.ts";
export type { BitArrays } from "../dtype.ts";
export type { LiveBlock } from "../words/shortage.ts";
export type { Held } from "../device/slot.ts";
export type { LiveGroup, LiveGroupKey } from "../device/live_groups.ts";
