// The cards of a device's properties and memory, of a report and a track of it, and of the resources that
// give it: the stack of adaptors from the outermost to where memory comes from.

import { MemoryTrack } from "../accounting/memory_track.ts";
import { Timeline } from "../accounting/timeline.ts";
import { DeviceInfo } from "../device/device_info.ts";
import { DeviceMemory } from "../device/device_memory.ts";
import { MemoryReport } from "../device/report.ts";
import { describeBus } from "../measure/bus.ts";
import { placeOf, stackOf } from "../memory/describe_resource.ts";
import { BaseMemoryResource } from "../memory/base_memory_resource.ts";
import type { MemoryResource } from "../memory/memory_resource.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import { type Card, type CardRow, factsPart, note } from "./card.ts";
import { liveCard } from "./live_card.ts";
import { limitBar, memoryBar } from "./memory_bar.ts";
import { show } from "./show_card.ts";

show(DeviceInfo, infoCard);
show(DeviceMemory, memoryCard);
show(MemoryReport, reportCard);
show(MemoryTrack, trackCard);
show(Timeline, timelineCard);
show(BaseMemoryResource, resourceCard);

function infoCard(info: DeviceInfo): Card {
  const { name, uuid, computeCapability, pciBusId, totalBytes, copyEngineCount, bus } = info;
  return {
    title: name,
    kind: "DeviceInfo",
    summary: `compute capability ${computeCapability}, ${formatBytes(totalBytes)}`,
    parts: factsPart([
      ["bus", describeBus(bus)],
      ["copy engines", String(copyEngineCount)],
      ["PCI", pciBusId || undefined],
      ["uuid", uuid],
    ]),
  };
}

function memoryCard(memory: DeviceMemory): Card {
  const { freeBytes, totalBytes, peakBytes, hostBytes } = memory;
  return {
    title: `${formatBytes(freeBytes)} free`,
    kind: "DeviceMemory",
    summary: `of ${formatBytes(totalBytes)} on the device`,
    parts: [
      ...limitBar(memory),
      memoryBar(memory),
      ...factsPart([["peak", formatBytes(peakBytes)], ["host memory", formatBytes(hostBytes)]]),
    ],
  };
}

function reportCard({ data, live }: MemoryReport): Card {
  const { provenance: { device, driver, vramkit, date }, memory } = data;
  const { parts } = liveCard(live.objects);
  return {
    title: device,
    kind: "MemoryReport",
    summary: `CUDA ${driver}, vramkit ${vramkit}, ${date}`,
    parts: [memoryBar(memory), ...parts],
  };
}

function trackCard(track: MemoryTrack): Card {
  const { label, ended, currentBytes, peakBytes, totalBytes, totalCount } = track;
  return {
    title: label,
    kind: "MemoryTrack",
    summary: `${formatBytes(currentBytes)} ${ended ? "left at its end" : "held now"}`,
    parts: factsPart([
      ["peak", formatBytes(peakBytes)],
      ["in all", `${formatBytes(totalBytes)} in ${formatCount(totalCount, "allocation")}`],
    ]),
  };
}

function timelineCard(timeline: Timeline): Card {
  const text = "plotMemoryTimeline(gpu) of vramkit/notebook draws it; iterating gives the events";
  return { title: "Timeline", kind: "", summary: timeline.state, parts: note(text) };
}

function resourceCard(resource: MemoryResource): Card {
  const place = placeOf(resource);
  const stack = stackOf(resource);
  const [outermost, ...upstream] = stack;
  const rows: CardRow[] = stack.map(({ name, facts }, depth) => ({
    cells: [
      depth === 0 ? name : `over ${name}`,
      facts.map(([fact, value]) => `${fact} ${value}`).join(", "),
    ],
  }));
  return {
    title: outermost?.name ?? "none",
    kind: "MemoryResource",
    summary: upstream.length === 0
      ? `gives ${place}`
      : `gives ${place} through ${formatCount(upstream.length, "further resource")}`,
    parts: [{ type: "table", header: ["resource", "state"], align: [], rows }],
  };
}
