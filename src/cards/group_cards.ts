// The cards of several devices: the list of them, and a group with its ranks.

import type { CudaDevice } from "../device/device.ts";
import type { DeviceList } from "../device/device_list.ts";
import type { DeviceGroup } from "../group/device_group.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import type { Card } from "./card.ts";

/** Makes the card of a list of devices. */
export function listCard(gpus: DeviceList<CudaDevice>): Card {
  const rows = gpus.map((gpu, rank) => ({
    cells: [String(rank), String(gpu.ordinal), gpu.name, freeWords(gpu)],
  }));
  return {
    title: formatCount(gpus.length, "device"),
    kind: "DeviceList",
    state: gpus.disposed ? "disposed" : undefined,
    summary: gpus.map(({ ordinal }) => `device ${ordinal}`).join(", "),
    parts: [{
      type: "table",
      header: ["rank", "device", "name", "free"],
      align: ["right", "right", "left", "right"],
      rows,
    }],
  };
}

/** Makes the card of a group. */
export function deviceGroupCard(group: DeviceGroup): Card {
  const { name, ordinals, ncclVersion, failure, disposed } = group;
  const ranks = ordinals.map((ordinal, rank) => `rank ${rank} is device ${ordinal}`).join(", ");
  const state = disposed ? "disposed" : failure === undefined ? undefined : "error";
  return {
    title: name,
    kind: "DeviceGroup",
    state,
    summary: `${formatCount(ordinals.length, "rank")} over NCCL ${ncclVersion}; ${ranks}`,
    parts: failure === undefined ? [] : [{ type: "note", text: failure.message }],
  };
}

function freeWords(gpu: CudaDevice): string {
  if (gpu.disposed) return "disposed";
  const { freeBytes, totalBytes } = gpu.memory;
  return `${formatBytes(freeBytes)} of ${formatBytes(totalBytes)}`;
}
