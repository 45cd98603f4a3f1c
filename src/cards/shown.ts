// The card of each class, one row each. That of archives is in archive_card.ts, which mod.ts does not
// load.

import { MemoryTrack } from "../accounting/memory_track.ts";
import { Timeline } from "../accounting/timeline.ts";
import { GpuBuffer } from "../buffers/gpu_buffer.ts";
import { BufferImage } from "../buffers/image.ts";
import { PackedBuffers } from "../buffers/packed_buffers.ts";
import { StridedView } from "../buffers/strided_view.ts";
import { BufferSummary } from "../buffers/summary.ts";
import { CudaDevice } from "../device/device.ts";
import { DeviceInfo } from "../device/device_info.ts";
import { DeviceList } from "../device/device_list.ts";
import { DeviceMemory } from "../device/device_memory.ts";
import { LiveTable } from "../device/live.ts";
import { LiveGroups } from "../device/live_groups.ts";
import { MemoryReport } from "../device/report.ts";
import { SystemState } from "../device/system_state.ts";
import { Topology } from "../device/topology.ts";
import { DLPackTensor } from "../dlpack/dlpack_tensor.ts";
import { CudaGraph } from "../graph/graph.ts";
import { DeviceGroup } from "../group/device_group.ts";
import { GroupError } from "../group/group_error.ts";
import { SafetensorsModel } from "../interop/safetensors/model.ts";
import { CudaKernel } from "../kernels/cuda_kernel.ts";
import { CudaModule } from "../kernels/cuda_module.ts";
import { BandwidthResult } from "../measure/bandwidth_result.ts";
import { LinkBandwidthResult } from "../measure/link_bandwidth_result.ts";
import { OverlapTrace } from "../measure/overlap.ts";
import { Timing } from "../measure/timing.ts";
import { BaseMemoryResource } from "../memory/base_memory_resource.ts";
import { CudaEvent } from "../order/event.ts";
import { CudaStream } from "../order/stream.ts";
import { DeviceParts } from "../spread/device_parts.ts";
import { ShardedModel } from "../spread/sharded_model.ts";
import {
  CudaError,
  CudaUnavailableError,
  DisposedError,
  OutOfMemoryError,
} from "../words/errors.ts";
import { PersistError } from "../persist/persist_error.ts";
import { PersistedTable } from "../persist/persisted_table.ts";
import { Persistence } from "../persist/persistence.ts";
import { bandwidthCard, linksCard } from "./bandwidth_card.ts";
import { bufferCard, packedCard, stridedCard } from "./buffer_card.ts";
import { shownDeviceCard } from "./device_card.ts";
import { cudaErrorCard, errorCard, shortageCard } from "./error_card.ts";
import { deviceGroupCard, listCard, partsCard, topologyCard } from "./group_cards.ts";
import { kernelCard, moduleCard, tensorCard } from "./kernel_cards.ts";
import { groupsCard, liveCard } from "./live_card.ts";
import {
  infoCard,
  memoryCard,
  reportCard,
  resourceCard,
  timelineCard,
  trackCard,
} from "./memory_cards.ts";
import { modelCard, shardedCard } from "./model_card.ts";
import { persistedCard, persistenceCard } from "./persisted_cards.ts";
import { eventCard, graphCard, streamCard } from "./queue_cards.ts";
import { imageCard, overlapCard, summaryCard, timingCard } from "./result_cards.ts";
import { show, showInCells } from "./show_class.ts";
import { systemCard } from "./system_card.ts";

show(CudaDevice, shownDeviceCard);
show(DeviceInfo, infoCard);
show(DeviceMemory, memoryCard);
show(CudaStream, streamCard);
show(CudaEvent, eventCard);
show(CudaGraph, graphCard);
show(CudaKernel, kernelCard);
show(CudaModule, moduleCard);
show(DLPackTensor, tensorCard);
show<DeviceList<CudaDevice>>(DeviceList, listCard);
show(DeviceGroup, deviceGroupCard);
show(DeviceParts, partsCard);
show(Topology, topologyCard);
show(GpuBuffer, bufferCard);
show(StridedView, stridedCard);
show(PackedBuffers, packedCard);
show(SafetensorsModel, (model) => modelCard(model));
show(ShardedModel, shardedCard);
show(LiveTable, ({ objects, hint }) => liveCard(objects, hint));
show(LiveGroups, groupsCard);
show(MemoryReport, reportCard);
show(PersistedTable, persistedCard);
show(Persistence, persistenceCard);
showInCells(PersistError, errorCard);
show(MemoryTrack, trackCard);
show(Timeline, timelineCard);
show(SystemState, systemCard);
show(Timing, timingCard);
show(OverlapTrace, overlapCard);
show(BandwidthResult, bandwidthCard);
show(LinkBandwidthResult, linksCard);
show(BufferSummary, summaryCard);
show(BufferImage, imageCard);
showInCells(CudaError, cudaErrorCard);
showInCells(OutOfMemoryError, shortageCard);
showInCells(DisposedError, errorCard);
showInCells(GroupError, errorCard);
showInCells(CudaUnavailableError, errorCard);
show(BaseMemoryResource, resourceCard);
