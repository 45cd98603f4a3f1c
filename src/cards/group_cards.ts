// The cards of several devices: the list of them, their links, and a group with its ranks.

import { formatShape } from "../buffers/shape.ts";
import type { CudaDevice } from "../device/device.ts";
import { DeviceList } from "../device/device_list.ts";
import { type DeviceLink, Topology } from "../device/topology.ts";
import { DeviceGroup } from "../group/device_group.ts";
import { DeviceParts } from "../spread/device_parts.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import { type Card, note, table } from "./card.ts";
import { show } from "./show_card.ts";

show<DeviceList<CudaDevice>>(DeviceList, listCard);
show(DeviceParts, partsCard);
show(DeviceGroup, deviceGroupCard);
show(Topology, topologyCard);

function listCard(gpus: DeviceList<CudaDevice>): Card {
  const rows = gpus.map((gpu, rank) => ({
    cells: [String(rank), String(gpu.ordinal), gpu.name, freeWords(gpu)],
  }));
  return {
    title: formatCount(gpus.length, "device"),
    kind: "DeviceList",
    state: gpus.disposed ? "disposed" : undefined,
    summary: gpus.map(({ ordinal }) => `device ${ordinal}`).join(", "),
    parts: [table({ rank: "right", device: "right", name: "left", free: "right" }, rows)],
  };
}

function partsCard(parts: DeviceParts): Card {
  const { dtype, shape, label, split, offsets, firstPart, disposed, replicatedBy } = parts;
  const type = formatShape(dtype, shape);
  const buffers = disposed ? [] : parts.buffers;
  const rows = buffers.map(({ deviceOrdinal, shape, byteLength }, part) => ({
    cells: [
      String(deviceOrdinal),
      String(offsets[firstPart + part] ?? 0),
      `[${shape.join(", ")}]`,
      formatBytes(byteLength),
    ],
    amount: byteLength,
  }));
  const how = split === "replicate"
    ? `all of it on each of ${formatCount(parts.length, "device")}`
    : parts.length < offsets.length
    ? `part ${firstPart} of ${offsets.length}, split along axis ${split}`
    : `split along axis ${split} over ${formatCount(parts.length, "device")}`;
  const way = replicatedBy === "peers"
    ? ", shared over the links between them"
    : replicatedBy === "uploads"
    ? ", uploaded to each"
    : "";
  return {
    title: label ?? type,
    kind: "DeviceParts",
    state: disposed ? "disposed" : undefined,
    summary: `${label === undefined ? "" : `${type}, `}${how}${way}`,
    parts: [table({ device: "right", "begins at": "right", shape: "left", size: "right" }, rows)],
  };
}

function deviceGroupCard(group: DeviceGroup): Card {
  const { name, ordinals, size, ranks: own, ncclVersion, failure, disposed } = group;
  const ranks = ordinals.map((ordinal, at) => `rank ${own[at]} is device ${ordinal}`).join(", ");
  const state = disposed ? "disposed" : failure === undefined ? undefined : "error";
  return {
    title: name,
    kind: "DeviceGroup",
    state,
    summary: `${formatCount(size, "rank")} over NCCL ${ncclVersion}; ${ranks}`,
    parts: note(failure?.message),
  };
}

function topologyCard({ devices, links }: Topology): Card {
  const rows = devices.map(({ ordinal, name, numaNode, nvlinkCount }, rank) => ({
    cells: [
      String(ordinal),
      name,
      numaNode === undefined ? "" : String(numaNode),
      nvlinkCount === undefined ? "" : String(nvlinkCount),
      ...(links[rank] ?? []).map(linkWords),
    ],
  }));
  return {
    title: formatCount(devices.length, "device"),
    kind: "Topology",
    summary: "the way from each device to each other one",
    parts: [{
      type: "table",
      header: [
        "device",
        "name",
        "NUMA node",
        "NVLinks",
        ...devices.map(({ ordinal }) => `to ${ordinal}`),
      ],
      align: ["right", "left", "right", "right", ...devices.map(() => "left" as const)],
      rows,
    }],
  };
}

function linkWords(link: DeviceLink | undefined): string {
  if (link === undefined) return "";
  const { peerAccess, atomics, path } = link;
  const way = peerAccess ? path ?? "peer" : `staged${path === undefined ? "" : ` over ${path}`}`;
  return peerAccess && !atomics ? `${way}, no atomics` : way;
}

function freeWords(gpu: CudaDevice): string {
  if (gpu.disposed) return "disposed";
  const { freeBytes, totalBytes } = gpu.memory;
  return `${formatBytes(freeBytes)} of ${formatBytes(totalBytes)}`;
}
