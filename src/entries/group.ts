/**
 * Several GPUs used together: lists of devices, and groups of them whose collective operations run on
 * NVIDIA's NCCL. Programs begin with `CudaDevice.all()` or `CudaDevice.openMany()`, or with
 * `joinGroup()` when each rank has a process of its own.
 *
 * ```ts
 * import { CudaDevice } from "vramkit";
 *
 * using gpus = CudaDevice.openMany([0, 1], { driver: "simulated" });
 * await using group = await gpus.group();
 * const parts = await Promise.all(gpus.map((gpu) => gpu.upload(new Float32Array([1, 2, 3]))));
 * await group.allReduce(parts, { op: "sum" });
 * console.log(await parts[0]?.download()); // Float32Array(3) [2, 4, 6]
 * for (const part of parts) part.dispose();
 * ```
 *
 * @module
 */

import "../words/runtime.ts";

export { DeviceList, type ListedDevice, type StripeBufferOptions } from "../device/device_list.ts";
export type { LinkPath } from "../driver/nvml.ts";
export { type DeviceLink, Topology, type TopologyDevice } from "../device/topology.ts";
export { DeviceGroup } from "../group/device_group.ts";
export type { Reduction } from "../group/element_types.ts";
export { GroupError, type GroupErrorFields, type GroupFailure } from "../group/group_error.ts";
export { joinGroup } from "../group/join_group.ts";
export type {
  BroadcastOptions,
  CollectiveOptions,
  GatherAllOptions,
  GatherOptions,
  GroupOptions,
  IntoAllOptions,
  JoinOptions,
  RankBuffers,
  ReceiveOptions,
  ReduceAllOptions,
  ReduceOptions,
  ScatterOptions,
  SendOptions,
  ShrinkOptions,
  SplitOptions,
} from "../group/group_options.ts";
export { GroupWork } from "../group/group_work.ts";
export { DeviceParts, type ReplicateWay, type UploadPartsOptions } from "../spread/device_parts.ts";
export {
  type LinkBandwidthData,
  LinkBandwidthResult,
  type LinkCase,
  type LinkMatrix,
  type LinkSpeed,
  type MeasuredDevice,
} from "../measure/link_bandwidth_result.ts";
export type { LinkBandwidthOptions } from "../measure/link_cases.ts";
export type { LoadShardedOptions } from "../spread/load_sharded.ts";
export type { Placement, PlacementRule } from "../spread/placement.ts";
export { ShardedModel } from "../spread/sharded_model.ts";
export type { PartsOptions, Split } from "../spread/split.ts";
export { StripedMemoryResource, type StripeOptions } from "../memory/striped_memory_resource.ts";
