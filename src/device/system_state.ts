// The state of a device as nvidia-smi shows it: load, memory of all programs, temperature, power,
// clocks, bus. Values come from NVML; their names tell the units.

import { nvmlClocksEventReasons as Reason } from "../../ffi/nvml_constants.ts";
import type { Context } from "../driver/context.ts";
import { type DeviceIdentity, findNvmlDevice, type NvmlDevice } from "../driver/nvml.ts";
import type { GpuProcess } from "../driver/nvml_processes.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";

/** The parts of a {@link SystemState}: those values that there are. */
type SystemFields =
  & Pick<SystemState, "device" | "uuid" | "isModelled">
  & Partial<SystemState>;

/**
 * The state of a device at one moment, as {@link CudaDevice.system} reads it from NVIDIA's
 * management library (NVML). A value is undefined, never 0, when the device, the driver or the
 * permissions do not provide it. For a MIG device, memory and processes are its own; all other
 * values are those of the whole GPU.
 */
export class SystemState {
  /** The device's name, such as `"NVIDIA H200"`. */
  readonly device: string;
  /** The device's identity as `GPU-…`, or `MIG-…` for a part of a divided GPU. */
  readonly uuid: string;
  /** The values come from a simulated device, which measures nothing. */
  readonly isModelled: boolean;
  /** The reason why the values are missing, and the remedy; undefined when there are values. */
  readonly unavailable: string | undefined;
  /** The version of the driver, such as `"580.95.05"` (nvmlSystemGetDriverVersion). */
  readonly driverVersion: string | undefined;
  /** Percent of the last sample period in which a kernel ran (nvmlDeviceGetUtilizationRates). */
  readonly gpuUtilizationPercent: number | undefined;
  /** Percent of the last sample period in which device memory was read or written. */
  readonly memoryUtilizationPercent: number | undefined;
  /** The device's memory in bytes (nvmlDeviceGetMemoryInfo_v2). */
  readonly memoryTotalBytes: number | undefined;
  /** Bytes that all programs use; with old drivers, those that the driver reserves as well. */
  readonly memoryUsedBytes: number | undefined;
  /** Bytes that are free for all programs. */
  readonly memoryFreeBytes: number | undefined;
  /** Bytes that the driver and the firmware reserve; undefined with old drivers. */
  readonly memoryReservedBytes: number | undefined;
  /**
   * Programs that use the device, largest first; undefined when the system does not list them. In a
   * container, programs can be missing or have the process ids of the host.
   */
  readonly processes: readonly GpuProcess[] | undefined;
  /** Degrees Celsius of the GPU's die. */
  readonly temperatureCelsius: number | undefined;
  /** Watts that the board draws (nvmlDeviceGetPowerUsage). */
  readonly powerWatts: number | undefined;
  /** Watts that the board may draw at most: the lowest limit in force. */
  readonly powerLimitWatts: number | undefined;
  /** Megahertz of the multiprocessors now (nvmlDeviceGetClockInfo). */
  readonly smClockMegahertz: number | undefined;
  /** Megahertz of the multiprocessors at most. */
  readonly smClockMaxMegahertz: number | undefined;
  /** Megahertz of the memory now. */
  readonly memoryClockMegahertz: number | undefined;
  /** Megahertz of the memory at most. */
  readonly memoryClockMaxMegahertz: number | undefined;
  /** Generation of the PCI Express link now; an idle device can lower it. */
  readonly pcieGeneration: number | undefined;
  /** Generation of the link at most, with this host. */
  readonly pcieGenerationMax: number | undefined;
  /** Lanes of the PCI Express link now. */
  readonly pcieLaneCount: number | undefined;
  /** Lanes of the link at most, with this host. */
  readonly pcieLaneCountMax: number | undefined;
  /**
   * Reasons why the clocks are lower than they could be, in words; empty when nothing lowers them
   * (nvmlDeviceGetCurrentClocksEventReasons).
   */
  readonly throttleReasons: readonly string[] | undefined;
  /** The GPU is divided into MIG devices; undefined where it cannot be. */
  readonly migMode: "enabled" | "disabled" | undefined;
  /** Percent of the fan's full speed; undefined for boards without a fan. */
  readonly fanPercent: number | undefined;

  /** @ignore Takes over values. */
  constructor(parts: Parts<SystemFields>) {
    const { device, uuid, isModelled, ...values } = partsOf(parts, new.target);
    this.device = device;
    this.uuid = uuid;
    this.isModelled = isModelled;
    Object.assign(this, values); // the others are undefined where there are none
  }
}

comesFrom(SystemState, "gpu.system()");

/** The words of nvidia-smi for each reason. */
const REASONS: readonly (readonly [bit: number, words: string])[] = [
  [Reason.nvmlClocksEventReasonGpuIdle, "idle"],
  [Reason.nvmlClocksEventReasonApplicationsClocksSetting, "applications clocks setting"],
  [Reason.nvmlClocksEventReasonSwPowerCap, "software power cap"],
  [Reason.nvmlClocksThrottleReasonHwSlowdown, "hardware slowdown"],
  [Reason.nvmlClocksEventReasonSyncBoost, "sync boost"],
  [Reason.nvmlClocksEventReasonSwThermalSlowdown, "software thermal slowdown"],
  [Reason.nvmlClocksThrottleReasonHwThermalSlowdown, "hardware thermal slowdown"],
  [Reason.nvmlClocksThrottleReasonHwPowerBrakeSlowdown, "hardware power brake slowdown"],
  [Reason.nvmlClocksEventReasonDisplayClockSetting, "display clock setting"],
];

/** Reads the state of a device from NVML; when NVML cannot be used, the result says why. */
export function readSystemState(
  context: Context,
  device: DeviceIdentity & { readonly name: string },
): SystemState {
  const found = findNvmlDevice(context.driver.api, device);
  const { name, uuid } = device;
  const fields = "reason" in found
    ? { uuid, isModelled: false, unavailable: found.reason }
    : valuesOf(found);
  return new SystemState(new Parts({ device: name, ...fields }));
}

function valuesOf(found: NvmlDevice): Omit<SystemState, "device"> {
  const { utilization, memory, isMigEnabled, clocksEventReasons } = found;
  const [link, bestLink] = [found.pcieLink("now"), found.pcieLink("max")];
  return {
    uuid: found.uuid,
    isModelled: found.isModelled,
    unavailable: undefined,
    driverVersion: found.driverVersion,
    gpuUtilizationPercent: utilization?.gpu,
    memoryUtilizationPercent: utilization?.memory,
    memoryTotalBytes: memory?.totalBytes,
    memoryUsedBytes: memory?.usedBytes,
    memoryFreeBytes: memory?.freeBytes,
    memoryReservedBytes: memory?.reservedBytes,
    processes: found.processes,
    temperatureCelsius: found.temperatureCelsius,
    powerWatts: found.powerWatts,
    powerLimitWatts: found.powerLimitWatts,
    smClockMegahertz: found.clockMegahertz("NVML_CLOCK_SM", "now"),
    smClockMaxMegahertz: found.clockMegahertz("NVML_CLOCK_SM", "max"),
    memoryClockMegahertz: found.clockMegahertz("NVML_CLOCK_MEM", "now"),
    memoryClockMaxMegahertz: found.clockMegahertz("NVML_CLOCK_MEM", "max"),
    pcieGeneration: link.generation,
    pcieGenerationMax: bestLink.generation,
    pcieLaneCount: link.laneCount,
    pcieLaneCountMax: bestLink.laneCount,
    throttleReasons: clocksEventReasons === undefined ? undefined : wordsOf(clocksEventReasons),
    migMode: isMigEnabled === undefined ? undefined : isMigEnabled ? "enabled" : "disabled",
    fanPercent: found.fanPercent,
  };
}

function wordsOf(reasons: bigint): string[] {
  const known = REASONS.filter(([bit]) => (reasons & BigInt(bit)) !== 0n);
  const rest = known.reduce((left, [bit]) => left & ~BigInt(bit), reasons);
  return [
    ...known.map(([, words]) => words),
    ...(rest === 0n ? [] : [`reason 0x${rest.toString(16)}`]),
  ];
}
