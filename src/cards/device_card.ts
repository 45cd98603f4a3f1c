// The card of a device: its properties, its memory by use, and the speed of its bus.

import type { CudaDevice } from "../device/device.ts";
import type { DeviceMemory } from "../device/device_memory.ts";
import { describeBus } from "../measure/bus.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import type { Card, CardPart } from "./card.ts";
import { limitBar, memoryBar } from "./memory_bar.ts";

/** Makes the card of a device. */
export function deviceCard(gpu: CudaDevice): Card {
  const { name, ordinal, info: { computeCapability } } = gpu;
  const memory = gpu.disposed ? undefined : gpu.memory; // a disposed one has none to show
  const modelled = gpu.isSimulated ? ", modelled: no hardware is measured" : "";
  const what = `device ${ordinal}, compute capability ${computeCapability}${modelled}`;
  return {
    title: name,
    kind: "CudaDevice",
    state: memory === undefined ? "disposed" : undefined,
    summary: memory === undefined
      ? what
      : `${what}, ${formatBytes(memory.freeBytes)} of ${formatBytes(memory.totalBytes)} free`,
    parts: memory === undefined
      ? []
      : [...limitBar(memory), memoryBar(memory), factsOf(gpu, memory)],
  };
}

function factsOf({ info, context }: CudaDevice, memory: DeviceMemory): CardPart {
  const { bus, pciBusId, copyEngineCount } = info;
  const { peakBytes, hostBytes } = memory;
  return {
    type: "facts",
    facts: [
      ["bus", describeBus(bus)],
      ["driver", `CUDA ${context.driver.version}`],
      ["live", formatCount(context.ledger.length, "object")],
      ["peak", formatBytes(peakBytes)],
      ["host memory", formatBytes(hostBytes)],
      ["copy engines", String(copyEngineCount)],
      ...(pciBusId === "" ? [] : [["PCI", pciBusId] as const]),
    ],
  };
}
