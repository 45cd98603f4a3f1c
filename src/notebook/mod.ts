// The notebook entry: plots that draw themselves, progress bars, live meters and warnings. An import
// has Deno fetch plotly.js, which is read when the first figure is shown.

import "../words/runtime.ts";

export { Figure, type FigureOptions } from "./figure.ts";
export {
  MemorySnapshot,
  type SnapshotOptions,
  type SnapshotTimelineOptions,
} from "../snapshots/memory_snapshot.ts";
export { readMemorySnapshot } from "../snapshots/read_memory_snapshot.ts";
export type { SnapshotDevice, StackUsage } from "../snapshots/snapshot_amounts.ts";
export type {
  SnapshotAnnotation,
  SnapshotBlock,
  SnapshotEvent,
  SnapshotSegment,
} from "../snapshots/snapshot_form.ts";
export type { SnapshotFrame, SnapshotStack } from "../snapshots/stacks.ts";
export type { DisplayBundle } from "../cards/show_card.ts";
export type { PlotConfig, PlotLayout, Trace } from "./plot_data.ts";
export type { PictureSize } from "./static_svg.ts";
export { plotBandwidth } from "./bandwidth_plot.ts";
export { plotLatency } from "./latency_plot.ts";
export { plotLinks } from "./links_plot.ts";
export { plotMemoryMap } from "./memory_map.ts";
export { plotMemoryTimeline } from "./memory_timeline.ts";
export { plotOverlap } from "./overlap_plot.ts";
export { PlotlyRuntime, type PlotlyRuntimeOptions } from "./plotly.ts";
export { progress, ProgressBar, type ProgressOptions } from "./progress_bar.ts";
export type { ProgressState, ProgressSurface } from "./progress_surfaces.ts";
export type { LiveWatch, ShownWatchOptions, WatchOptions } from "./live_watch.ts";
export { memoryMeter, systemMeter } from "./device_meters.ts";
export { warnOfReruns } from "./reruns.ts";
export type { ColorMap } from "../buffers/color_map.ts";
export type { ImageOptions } from "../buffers/image.ts";
export { show } from "./show.ts";
export {
  compareMachines,
  MachineCard,
  machineCard,
  type MachineJson,
} from "../machine/machine_card.ts";
export type { MachineOptions } from "../machine/measure_machine.ts";
export type { LoadSample, MachineReport, MachineRow, Verdict } from "../machine/machine_report.ts";
export type {
  BandwidthData,
  BandwidthFit,
  BandwidthPoint,
  BandwidthResult,
  CopyDirection,
  HostKind,
  Provenance,
} from "../measure/bandwidth_result.ts";
export type {
  LinkBandwidthData,
  LinkBandwidthResult,
  LinkCase,
  LinkMatrix,
  LinkSpeed,
} from "../measure/link_bandwidth_result.ts";
export type { Bus } from "../measure/bus.ts";
export type { OverlapRecorder, OverlapSpan, OverlapTrace } from "../measure/overlap.ts";
