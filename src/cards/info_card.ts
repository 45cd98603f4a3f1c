// The cards of a device's properties and of its memory by use.

import type { DeviceInfo } from "../device/device_info.ts";
import type { DeviceMemory } from "../device/device_memory.ts";
import { describeBus } from "../measure/bus.ts";
import { formatBytes } from "../words/format.ts";
import type { Card } from "./card.ts";
import { limitBar, memoryBar } from "./memory_bar.ts";

/** Makes the card of a device's properties. */
export function infoCard(info: DeviceInfo): Card {
  const { name, uuid, computeCapability, pciBusId, totalBytes, copyEngineCount, bus } = info;
  return {
    title: name,
    kind: "DeviceInfo",
    summary: `compute capability ${computeCapability}, ${formatBytes(totalBytes)}`,
    parts: [{
      type: "facts",
      facts: [
        ["bus", describeBus(bus)],
        ["copy engines", String(copyEngineCount)],
        ...(pciBusId === "" ? [] : [["PCI", pciBusId] as const]),
        ["uuid", uuid],
      ],
    }],
  };
}

/** Makes the card of a device's memory. */
export function memoryCard(memory: DeviceMemory): Card {
  const { freeBytes, totalBytes, peakBytes, hostBytes } = memory;
  return {
    title: `${formatBytes(freeBytes)} free`,
    kind: "DeviceMemory",
    summary: `of ${formatBytes(totalBytes)} on the device`,
    parts: [
      ...limitBar(memory),
      memoryBar(memory),
      {
        type: "facts",
        facts: [["peak", formatBytes(peakBytes)], ["host memory", formatBytes(hostBytes)]],
      },
    ],
  };
}
