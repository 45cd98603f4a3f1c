// The card of a device: its properties, its memory by use, and the speed of its bus.

import { inNotebook, survivesStop } from "../accounting/notebook_kernel.ts";
import { CudaDevice } from "../device/device.ts";
import type { DeviceMemory } from "../device/device_memory.ts";
import { describeBus } from "../measure/bus.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import { type Card, type CardPart, factsPart, note } from "./card.ts";
import { limitBar, memoryBar } from "./memory_bar.ts";
import { show } from "./show_card.ts";

show(CudaDevice, shownDeviceCard);

/** Devices that have shown a card. */
const shown = new WeakSet<CudaDevice>();

/** Makes the card that a device shows; its first one tells about a kernel that Stop would end. */
function shownDeviceCard(gpu: CudaDevice): Card {
  const card = deviceCard(gpu);
  if (shown.has(gpu) || !inNotebook() || survivesStop()) return card;
  shown.add(gpu);
  return { ...card, parts: [...card.parts, ...note(STOP_WORDS)] };
}

const STOP_WORDS = "Stop ends this kernel, with its variables and its GPU memory. " +
  `${kernelCommand()} installs one that goes on.`;

/** The command of this copy of the kit: its sources, a release, or a program with the kit inside. */
function kernelCommand(): string {
  const here = new URL(import.meta.url);
  const isSource = here.pathname.endsWith("/src/cards/device_card.ts");
  if (!isSource && !/\/vramkit[^/]*\.js$/.test(here.pathname)) return 'The kit\'s command "kernel"';
  const { href, protocol, pathname } = new URL(isSource ? "../cli.ts" : "vramkit_cli.js", here);
  return `deno run -A ${protocol === "file:" ? decodeURIComponent(pathname) : href} kernel`;
}

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
      : `${what}, ${formatBytes(memory.freeBytes)} of ${formatBytes(memory.totalBytes)} free` +
        (memory.isSystemMemory ? " in the system's memory" : ""),
    parts: memory === undefined
      ? []
      : [...limitBar(memory), memoryBar(memory), ...factsOf(gpu, memory)],
  };
}

function factsOf({ info, context }: CudaDevice, memory: DeviceMemory): CardPart[] {
  const { bus, pciBusId, copyEngineCount } = info;
  const { peakBytes, hostBytes } = memory;
  return factsPart([
    ["bus", describeBus(bus)],
    ["driver", `CUDA ${context.driver.version}`],
    ["live", formatCount(context.ledger.length, "object")],
    ["peak", formatBytes(peakBytes)],
    ["host memory", formatBytes(hostBytes)],
    ["copy engines", String(copyEngineCount)],
    ["PCI", pciBusId || undefined],
  ]);
}
