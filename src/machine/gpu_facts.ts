// The facts about a GPU, from the driver, from NVML and from the files of its place on the bus. A fact that
// is not known is null.

import type { CudaDevice } from "../device/device.ts";
import { findNvmlDevice, NvmlDevice } from "../driver/nvml.ts";
import { readSystemText } from "../lanes/near_cores.ts";
import { pcieBus } from "../measure/bus.ts";
import { visibleText } from "../words/format.ts";
import type { ReadText } from "./host_facts.ts";
import type { LoadSample } from "./machine_report.ts";

export type GpuFacts = Readonly<ReturnType<typeof factsOf>>;

/** A program that uses a GPU beside this one. */
export interface OtherProgram {
  readonly pid: number;
  readonly name: string;
  readonly memoryBytes: number | undefined;
}

/** Reads the facts of a GPU that this program has opened and not used. */
export function readGpuFacts(gpu: CudaDevice, read: ReadText = readSystemText): GpuFacts {
  return factsOf(gpu, read);
}

function factsOf(gpu: CudaDevice, read: ReadText) {
  const { context, info, ordinal, name } = gpu;
  const device = nvmlOf(gpu);
  const { freeBytes, totalBytes } = gpu.memory;
  const { generation = 0, laneCount = 0 } = device?.pcieLink("max") ?? {};
  const node = Number(
    read(`/sys/bus/pci/devices/${info.pciBusId.toLowerCase()}/numa_node`) || -1,
  );
  return {
    ordinal,
    name,
    pciBusId: info.pciBusId,
    totalBytes,
    freeBytes,
    isIntegrated: context.sharesSystemMemory,
    memoryBusBits: context.attribute("CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH"),
    memoryClockMax: device?.clockMegahertz("NVML_CLOCK_MEM", "max") ?? null,
    smClockMax: device?.clockMegahertz("NVML_CLOCK_SM", "max") ?? null,
    /** The best that GPU and host have together. */
    bus: generation > 0 && laneCount > 0 ? pcieBus(generation, laneCount) : null,
    generation,
    ownGeneration: device?.ownPcieGeneration ?? 0,
    replayCount: device?.pcieReplayCount ?? 0,
    numaNode: node >= 0 ? node : null, // -1 stands for none
    numaCores: read(`/sys/devices/system/node/node${node}/cpulist`) ?? null,
    powerLimit: device?.powerLimitWatts ?? null,
    defaultPowerLimit: device?.defaultPowerLimitWatts ?? null,
    isEccEnabled: device?.isEccEnabled ?? null,
    errorCount: device?.uncorrectedErrorCount ?? null,
    isMigEnabled: device?.isMigEnabled ?? null,
    nvlinkCount: device?.nvlinkCount ?? 0,
    nvlinkGeneration: device?.nvlinkGeneration ?? 0,
    restUtilization: device?.utilization?.gpu ?? null,
    restTraffic: trafficOf(device),
    otherPrograms: otherProgramsOn(gpu),
  };
}

/** Reads the clocks and the power of a GPU now. */
export function sampleLoad(gpu: CudaDevice, atSeconds: number): LoadSample | undefined {
  const state = gpu.system();
  if (state.unavailable !== undefined) return undefined;
  const { pcieGeneration = 0, pcieLaneCount = 0, throttleReasons = [] } = state;
  return {
    gpu: gpu.ordinal,
    atSeconds,
    smClockMegahertz: state.smClockMegahertz ?? null,
    memoryClockMegahertz: state.memoryClockMegahertz ?? null,
    powerWatts: state.powerWatts ?? null,
    temperatureCelsius: state.temperatureCelsius ?? null,
    link: pcieGeneration > 0 ? pcieBus(pcieGeneration, pcieLaneCount).name : null,
    throttleReasons,
  };
}

/**
 * Lists the programs besides this one. In a container it can have another number: where its own is not in
 * the list, the one with the least memory, which has just begun, stands for it.
 */
export function otherProgramsOn(gpu: CudaDevice): OtherProgram[] {
  const all = nvmlOf(gpu)?.processes ?? [];
  const own = all.some(({ pid }) => pid === Deno.pid)
    ? Deno.pid
    : all.toSorted((a, b) => (a.memoryBytes ?? 0) - (b.memoryBytes ?? 0))[0]?.pid;
  return all.filter(({ pid }) => pid !== own).map(({ pid, name = "a program", memoryBytes }) => {
    return { pid, name: visibleText(name.split("/").at(-1) ?? name), memoryBytes };
  });
}

function nvmlOf({ context, info }: CudaDevice): NvmlDevice | undefined {
  const found = findNvmlDevice(context.driver.api, info);
  return found instanceof NvmlDevice ? found : undefined;
}

/** The most of a few looks, in both directions: another program may copy in bursts. */
function trafficOf(device: NvmlDevice | undefined): number | null {
  const looks = Array.from({ length: 4 }, () => [
    device?.pcieTraffic("NVML_PCIE_UTIL_RX_BYTES"),
    device?.pcieTraffic("NVML_PCIE_UTIL_TX_BYTES"),
  ]).flat().filter((speed) => speed !== undefined);
  return looks.length === 0 ? null : Math.max(...looks);
}
