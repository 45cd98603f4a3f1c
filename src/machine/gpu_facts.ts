// The facts about a GPU, from the driver, from NVML and from the files of its place on the bus.

import { findNvmlDevice, NvmlDevice } from "../driver/nvml.ts";
import type { CudaDevice } from "../device/device.ts";
import { pcieBus } from "../measure/bus.ts";
import { visibleText } from "../words/format.ts";
import { readSystemText, type ReadText } from "./host_facts.ts";
import type { GpuFacts, LoadSample, OtherProgram } from "./machine_report.ts";

/** Reads the facts of a GPU that this program has opened and not used. */
export function readGpuFacts(gpu: CudaDevice, read: ReadText = readSystemText): GpuFacts {
  const { context, info, ordinal, name } = gpu;
  const found = findNvmlDevice(context.driver.api, info);
  const device = found instanceof NvmlDevice ? found : undefined;
  const { freeBytes, totalBytes } = gpu.memory;
  const linkMax = device?.pcieLink("max");
  const folder = `/sys/bus/pci/devices/${info.pciBusId.toLowerCase()}`;
  const numaNode = numberIn(read(`${folder}/numa_node`));
  return {
    ordinal,
    name,
    pciBusId: info.pciBusId,
    computeCapability: info.computeCapability,
    multiprocessorCount: context.attribute("CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT"),
    totalBytes,
    freeBytes,
    isIntegrated: context.sharesSystemMemory,
    memoryBusBits: context.attribute("CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH"),
    memoryClockMaxMegahertz: device?.clockMegahertz("NVML_CLOCK_MEM", "max") ?? null,
    smClockMaxMegahertz: device?.clockMegahertz("NVML_CLOCK_SM", "max") ?? null,
    linkMax: linkOf(linkMax),
    ownGeneration: device?.ownPcieGeneration ?? null,
    slot: slotOf(folder, read),
    pcieReplayCount: device?.pcieReplayCount ?? null,
    numaNode,
    numaCores: numaNode === null
      ? null
      : read(`/sys/devices/system/node/node${numaNode}/cpulist`) ?? null,
    powerLimitWatts: device?.powerLimitWatts ?? null,
    defaultPowerLimitWatts: device?.defaultPowerLimitWatts ?? null,
    isEccEnabled: device?.isEccEnabled ?? null,
    uncorrectedErrorCount: device?.uncorrectedErrorCount ?? null,
    isMigEnabled: device?.isMigEnabled ?? null,
    nvlinkCount: device?.nvlinkCount ?? null,
    nvlinkGeneration: device?.nvlinkGeneration ?? null,
    restUtilizationPercent: device?.utilization?.gpu ?? null,
    restTrafficGigabytesPerSecond: trafficOf(device),
    otherPrograms: othersOf(device),
    nvmlAbsence: "reason" in found ? found.reason : null,
  };
}

/** Adds programs that began to use a GPU while it was measured. */
export function withLaterPrograms(facts: GpuFacts, gpu: CudaDevice): GpuFacts {
  const found = findNvmlDevice(gpu.context.driver.api, gpu.info);
  const known = new Set(facts.otherPrograms.map(({ pid }) => pid));
  const later = othersOf(found instanceof NvmlDevice ? found : undefined)
    .filter(({ pid }) => !known.has(pid));
  return { ...facts, otherPrograms: [...facts.otherPrograms, ...later] };
}

/** Reads the clocks and the power of a GPU now. */
export function sampleLoad(gpu: CudaDevice, atSeconds: number): LoadSample | undefined {
  const state = gpu.system();
  if (state.unavailable !== undefined) return undefined;
  const { pcieGeneration: generation, pcieLaneCount: laneCount, throttleReasons = [] } = state;
  return {
    gpu: gpu.ordinal,
    atSeconds,
    smClockMegahertz: state.smClockMegahertz ?? null,
    memoryClockMegahertz: state.memoryClockMegahertz ?? null,
    powerWatts: state.powerWatts ?? null,
    temperatureCelsius: state.temperatureCelsius ?? null,
    link: generation && laneCount ? pcieBus(generation, laneCount).name : null,
    throttleReasons,
  };
}

function linkOf(link: ReturnType<NvmlDevice["pcieLink"]> | undefined): GpuFacts["linkMax"] {
  const { generation, laneCount } = link ?? {};
  return generation && laneCount ? { generation, laneCount } : null;
}

/** The port above the device has the slot's width; virtual machines often hide it. */
function slotOf(folder: string, read: ReadText): string | null {
  const [speed, width] = [
    read(`${folder}/../max_link_speed`) ?? read(`${folder}/max_link_speed`),
    read(`${folder}/../max_link_width`) ?? read(`${folder}/max_link_width`),
  ];
  if (speed === undefined || !/^\d/.test(speed) || width === undefined || width === "0") {
    return null;
  }
  return `${speed} x${width}`;
}

/** The most of a few looks, in both directions: another program may copy in bursts. */
function trafficOf(device: NvmlDevice | undefined): number | null {
  if (device === undefined) return null;
  const looks = Array.from({ length: 4 }, () => [
    device.pcieTraffic("NVML_PCIE_UTIL_RX_BYTES"),
    device.pcieTraffic("NVML_PCIE_UTIL_TX_BYTES"),
  ]).flat().filter((speed) => speed !== undefined);
  return looks.length === 0 ? null : Math.max(...looks);
}

/**
 * The programs besides this one. A container can have other numbers than the driver: where its own is not
 * in the list, the one with the least memory, which has just begun, stands for it.
 */
function othersOf(device: NvmlDevice | undefined): OtherProgram[] {
  const all = device?.processes ?? [];
  const own = all.some(({ pid }) => pid === Deno.pid)
    ? Deno.pid
    : all.toSorted((a, b) => (a.memoryBytes ?? 0) - (b.memoryBytes ?? 0))[0]?.pid;
  return all.filter(({ pid }) => pid !== own).map(({ pid, name, memoryBytes }) => ({
    pid,
    name: name === undefined ? null : visibleText(name.split("/").at(-1) ?? name),
    memoryBytes: memoryBytes ?? null,
  }));
}

function numberIn(text: string | undefined): number | null {
  const number = Number(text ?? -1);
  return Number.isInteger(number) && number >= 0 ? number : null; // -1 stands for no node
}
