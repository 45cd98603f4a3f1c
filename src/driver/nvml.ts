// The result layer of NVML: one device as the system sees it. Missing values are undefined: NVML is
// optional, and devices, drivers and permissions differ.

import { cString, readCString } from "../../ffi/c_strings.ts";
import type { DriverApi } from "../../ffi/cuda.ts";
import { LibraryError } from "../../ffi/library.ts";
import type { NvmlApi } from "../../ffi/nvml.ts";
import {
  NOT_AVAILABLE_32,
  NVML_NVLINK_MAX_LINKS,
  NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE,
  nvmlClockType,
  nvmlEccCounterType,
  nvmlEnableState,
  nvmlGpuP2PCapsIndex,
  nvmlGpuP2PStatus,
  nvmlGpuTopologyLevel as Level,
  nvmlMemoryErrorType,
  nvmlMigMode,
  nvmlPcieUtilCounter,
  nvmlReturn,
  nvmlTemperatureSensors,
} from "../../ffi/nvml_constants.ts";
import { findNvml, type NvmlSource } from "../../ffi/nvml_library.ts";
import {
  nvmlMemory_t,
  nvmlMemory_v2_t,
  nvmlTemperature_v1_t,
  nvmlUtilization_t,
  structVersion,
} from "../../ffi/nvml_structs.ts";
import { type GpuProcess, readProcesses } from "./nvml_processes.ts";

/** The identity of a device in CUDA and NVML, whose device numbers can differ. */
export interface DeviceIdentity {
  /** Its identity as `GPU-…`. */
  readonly uuid: string;
  /** Its address on the PCI bus; empty when there is none. */
  readonly pciBusId: string;
}

/** The reason why NVML has no values for a device. */
export interface NvmlAbsence {
  /** The words: a sentence without its period. */
  readonly reason: string;
}

/** A device's memory in bytes. */
export interface NvmlMemory {
  readonly totalBytes: number;
  /** Used by programs, and by the driver itself when `reservedBytes` is undefined. */
  readonly usedBytes: number;
  /** Free for all programs. */
  readonly freeBytes: number;
  /** Reserved by the driver and the firmware. */
  readonly reservedBytes: number | undefined;
}

const { NVML_SUCCESS: SUCCESS, NVML_ERROR_FUNCTION_NOT_FOUND: NO_FUNCTION } = nvmlReturn;

const STATUS_NAMES = new Map<number, string>(
  Object.entries(nvmlReturn).map(([name, status]) => [status, name]),
);

/** Remedies for the statuses with which NVML fails to start. */
const FIXES = new Map<number, string>([
  [nvmlReturn.NVML_ERROR_DRIVER_NOT_LOADED, "load NVIDIA's kernel module"],
  [nvmlReturn.NVML_ERROR_LIB_RM_VERSION_MISMATCH, "reboot after the driver's update"],
  [nvmlReturn.NVML_ERROR_NO_PERMISSION, "check who may open /dev/nvidiactl"],
]);

/**
 * The path between two devices: over NVLink, or else the place where their paths to the processor meet,
 * from near to far: on one board, at one PCIe switch, over several, at one host bridge, inside one NUMA
 * node, or across the system.
 */
export type LinkPath = "nvlink" | "board" | "switch" | "switches" | "bridge" | "node" | "system";

const PATHS: ReadonlyMap<number, LinkPath> = new Map<number, LinkPath>([
  [Level.NVML_TOPOLOGY_INTERNAL, "board"],
  [Level.NVML_TOPOLOGY_SINGLE, "switch"],
  [Level.NVML_TOPOLOGY_MULTIPLE, "switches"],
  [Level.NVML_TOPOLOGY_HOSTBRIDGE, "bridge"],
  [Level.NVML_TOPOLOGY_NODE, "node"],
  [Level.NVML_TOPOLOGY_SYSTEM, "system"],
]);

const started = new WeakSet<NvmlApi>();

/** Finds a device in NVML by its UUID, as a whole GPU or a MIG device, or else by its PCI address. */
export function findNvmlDevice(
  driver: DriverApi,
  identity: DeviceIdentity,
): NvmlDevice | NvmlAbsence {
  const source = startNvml(driver);
  if ("reason" in source) return source;
  const { api } = source;
  const handle = new BigUint64Array(1);
  let status: number = nvmlReturn.NVML_ERROR_NOT_FOUND;
  for (const uuid of [identity.uuid, identity.uuid.replace(/^GPU-/, "MIG-")]) {
    status = api.nvmlDeviceGetHandleByUUID?.(cString(uuid), handle) ?? NO_FUNCTION;
    if (status === SUCCESS) return new NvmlDevice(source, { handle: handle[0] ?? 0n, uuid });
  }
  if (identity.pciBusId !== "") {
    status = api.nvmlDeviceGetHandleByPciBusId_v2(cString(identity.pciBusId), handle);
    const { uuid } = identity;
    if (status === SUCCESS) return new NvmlDevice(source, { handle: handle[0] ?? 0n, uuid });
  }
  return { reason: `NVML does not know ${identity.uuid}: ${formatStatus(status)}` };
}

/** Opens NVML and starts it, once for a process: that alone takes some milliseconds. */
function startNvml(driver: DriverApi): NvmlSource | NvmlAbsence {
  try {
    const source = findNvml(driver);
    if (started.has(source.api)) return source;
    const status = source.api.nvmlInit_v2();
    if (status !== SUCCESS) return { reason: `Cannot start NVML: ${formatStatus(status)}` };
    started.add(source.api);
    return source;
  } catch (error) {
    if (error instanceof LibraryError) return { reason: error.message };
    throw error;
  }
}

function formatStatus(status: number): string {
  const fix = FIXES.get(status);
  const name = STATUS_NAMES.get(status) ?? "NVML_ERROR_UNLISTED";
  return `${name} (${status})${fix === undefined ? "" : `; ${fix}`}`;
}

/** One device in NVML: a GPU, or a MIG device, which is a part of one. */
export class NvmlDevice {
  /** Its identity as `GPU-…` or `MIG-…`. */
  readonly uuid: string;
  /** The values come from a simulated device. */
  readonly isModelled: boolean;
  readonly #api: NvmlApi;
  /** Handle for memory and processes. */
  readonly #device: bigint;
  /** Handle for temperature, power, clocks and the bus: the whole GPU of a MIG device. */
  readonly #gpu: bigint;

  /** Adopts a handle; NVML keeps it valid for the life of the process. */
  constructor(source: NvmlSource, device: { readonly handle: bigint; readonly uuid: string }) {
    this.#api = source.api;
    this.isModelled = source.isModelled;
    this.uuid = device.uuid;
    this.#device = device.handle;
    this.#gpu = gpuAround(source.api, device.handle) ?? device.handle;
  }

  /** The driver's version, such as `"580.95.05"`. */
  get driverVersion(): string | undefined {
    const text = new Uint8Array(NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE);
    const status = this.#api.nvmlSystemGetDriverVersion(text, text.length);
    return status === SUCCESS ? readCString(text) : undefined;
  }

  /** Percent of the last sample period in which a kernel ran, and in which memory was in use. */
  get utilization(): { readonly gpu: number; readonly memory: number } | undefined {
    const bytes = nvmlUtilization_t.encode({});
    const status = this.#api.nvmlDeviceGetUtilizationRates?.(this.#device, bytes);
    return status === SUCCESS ? nvmlUtilization_t.decode(bytes) : undefined;
  }

  /** Its memory as the system sees it. */
  get memory(): NvmlMemory | undefined {
    const { nvmlDeviceGetMemoryInfo_v2: second, nvmlDeviceGetMemoryInfo: first } = this.#api;
    const version = structVersion(nvmlMemory_v2_t.byteLength, 2);
    const bytes = nvmlMemory_v2_t.encode({ version });
    if (second?.(this.#device, bytes) === SUCCESS) {
      const { total, used, free, reserved } = nvmlMemory_v2_t.decode(bytes);
      return { ...amounts({ total, used, free }), reservedBytes: Number(reserved) };
    }
    const older = nvmlMemory_t.encode({});
    if (first?.(this.#device, older) !== SUCCESS) return undefined;
    return { ...amounts(nvmlMemory_t.decode(older)), reservedBytes: undefined };
  }

  /** The processes that use it; undefined where the system does not say. */
  get processes(): readonly GpuProcess[] | undefined {
    return readProcesses(this.#api, this.#device);
  }

  /** Degrees Celsius of the GPU's die. */
  get temperatureCelsius(): number | undefined {
    const sensor = nvmlTemperatureSensors.NVML_TEMPERATURE_GPU;
    const bytes = nvmlTemperature_v1_t.encode({
      version: structVersion(nvmlTemperature_v1_t.byteLength, 1),
      sensorType: sensor,
    });
    if (this.#api.nvmlDeviceGetTemperatureV?.(this.#gpu, bytes) === SUCCESS) {
      return nvmlTemperature_v1_t.decode(bytes).temperature;
    }
    return this.#number("nvmlDeviceGetTemperature", sensor);
  }

  /** Watts that the board draws: the last second's mean on most devices. */
  get powerWatts(): number | undefined {
    return watts(this.#number("nvmlDeviceGetPowerUsage"));
  }

  /** Watts that it may draw: the lowest of all limits that are in force. */
  get powerLimitWatts(): number | undefined {
    return watts(
      this.#number("nvmlDeviceGetEnforcedPowerLimit") ??
        this.#number("nvmlDeviceGetPowerManagementLimit"),
    );
  }

  /** Megahertz of a clock, now or at most. */
  clockMegahertz(clock: keyof typeof nvmlClockType, when: "now" | "max"): number | undefined {
    const call = when === "now" ? "nvmlDeviceGetClockInfo" : "nvmlDeviceGetMaxClockInfo";
    return this.#number(call, nvmlClockType[clock]);
  }

  /** The PCI Express link: the generation's number and the number of lanes, now or at most. */
  pcieLink(
    when: "now" | "max",
  ): { readonly generation: number | undefined; readonly laneCount: number | undefined } {
    const which = when === "now" ? "Curr" : "Max";
    return {
      generation: this.#number(`nvmlDeviceGet${which}PcieLinkGeneration`),
      laneCount: this.#number(`nvmlDeviceGet${which}PcieLinkWidth`),
    };
  }

  /** Reasons why its clocks are lower than they could be, as bits: `nvmlClocksEventReasons`. */
  get clocksEventReasons(): bigint | undefined {
    const cell = new BigUint64Array(1);
    const {
      nvmlDeviceGetCurrentClocksEventReasons: current,
      nvmlDeviceGetCurrentClocksThrottleReasons: older,
    } = this.#api;
    const found = current?.(this.#gpu, cell) === SUCCESS || older?.(this.#gpu, cell) === SUCCESS;
    return found ? cell[0] : undefined;
  }

  /** Tells whether the GPU is divided into MIG devices; undefined where it cannot be. */
  get isMigEnabled(): boolean | undefined {
    return this.#isOn("nvmlDeviceGetMigMode", nvmlMigMode.NVML_DEVICE_MIG_ENABLE);
  }

  /** Number of its NVLinks that are up; undefined where it cannot have any. */
  get nvlinkCount(): number | undefined {
    const states = Array.from(
      { length: NVML_NVLINK_MAX_LINKS },
      (_, link) => this.#number("nvmlDeviceGetNvLinkState", link),
    ).filter((state) => state !== undefined);
    if (states.length === 0) return undefined;
    return states.filter((state) => state === nvmlEnableState.NVML_FEATURE_ENABLED).length;
  }

  /** Finds the way to another device; undefined where the system does not say. */
  pathTo(other: NvmlDevice): LinkPath | undefined {
    const nvlink = nvmlGpuP2PCapsIndex.NVML_P2P_CAPS_INDEX_NVLINK;
    const status = this.#number("nvmlDeviceGetP2PStatus", other.#gpu, nvlink);
    if (status === nvmlGpuP2PStatus.NVML_P2P_STATUS_OK) return "nvlink";
    const level = this.#number("nvmlDeviceGetTopologyCommonAncestor", other.#gpu);
    return level === undefined ? undefined : PATHS.get(level);
  }

  /** Generation of its NVLinks; undefined where it has none. */
  get nvlinkGeneration(): number | undefined {
    return this.#number("nvmlDeviceGetNvLinkVersion", 0);
  }

  /** Watts that the board draws at most unless somebody sets another limit. */
  get defaultPowerLimitWatts(): number | undefined {
    return watts(this.#number("nvmlDeviceGetPowerManagementDefaultLimit"));
  }

  /** Generation of the PCI Express link that the GPU itself could have, with another host. */
  get ownPcieGeneration(): number | undefined {
    return this.#number("nvmlDeviceGetGpuMaxPcieLinkGeneration");
  }

  /** GB/s that all programs move over the bus now, out of the device and into it: the last 20 ms. */
  pcieTraffic(way: keyof typeof nvmlPcieUtilCounter): number | undefined {
    const found = this.#number("nvmlDeviceGetPcieThroughput", nvmlPcieUtilCounter[way]);
    return found === undefined ? undefined : found * 1024 / 1e9;
  }

  /** Number of packets that were sent again over the bus, since the driver was loaded. */
  get pcieReplayCount(): number | undefined {
    return this.#number("nvmlDeviceGetPcieReplayCounter");
  }

  /** Tells that its memory corrects errors; undefined where it cannot. */
  get isEccEnabled(): boolean | undefined {
    return this.#isOn("nvmlDeviceGetEccMode", nvmlEnableState.NVML_FEATURE_ENABLED);
  }

  /** Number of errors in its memory that could not be corrected, since the driver was loaded. */
  get uncorrectedErrorCount(): number | undefined {
    const cell = new BigUint64Array(1);
    const status = this.#api.nvmlDeviceGetTotalEccErrors?.(
      this.#gpu,
      nvmlMemoryErrorType.NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
      nvmlEccCounterType.NVML_VOLATILE_ECC,
      cell,
    );
    return status === SUCCESS ? Number(cell[0]) : undefined;
  }

  /** Percent of its fan's full speed; undefined for boards without one. */
  get fanPercent(): number | undefined {
    return this.#number("nvmlDeviceGetFanSpeed");
  }

  /** Reads the `unsigned int` that a call writes behind its other arguments; undefined where there is none. */
  #number<K extends keyof NvmlApi>(name: K, ...args: ArgumentsBetween<K>): number | undefined {
    const call = this.#api[name] as ((...given: readonly unknown[]) => number) | null;
    const cell = new Uint32Array(1);
    const status = call?.(this.#gpu, ...args, cell);
    return status === SUCCESS && cell[0] !== NOT_AVAILABLE_32 ? cell[0] : undefined;
  }

  /** Tells whether a mode is on now, whatever is pending; undefined where the GPU has no such mode. */
  #isOn(name: "nvmlDeviceGetMigMode" | "nvmlDeviceGetEccMode", on: number): boolean | undefined {
    const [current, pending] = [new Uint32Array(1), new Uint32Array(1)];
    const status = this.#api[name]?.(this.#gpu, current, pending);
    if (status !== SUCCESS || current[0] === NOT_AVAILABLE_32) return undefined;
    return current[0] === on;
  }
}

/** The arguments of a call between the device and the cell that it writes. */
type ArgumentsBetween<K extends keyof NvmlApi> = Parameters<NonNullable<NvmlApi[K]>> extends
  readonly [unknown, ...infer A, unknown] ? A : never;

/** Finds the GPU that a MIG device is a part of. */
function gpuAround(api: NvmlApi, device: bigint): bigint | undefined {
  const isPart = new Uint32Array(1);
  if (api.nvmlDeviceIsMigDeviceHandle?.(device, isPart) !== SUCCESS || isPart[0] !== 1) {
    return undefined;
  }
  const gpu = new BigUint64Array(1);
  const status = api.nvmlDeviceGetDeviceHandleFromMigDeviceHandle?.(device, gpu);
  return status === SUCCESS ? gpu[0] : undefined;
}

function amounts(
  { total, used, free }: { readonly total: bigint; readonly used: bigint; readonly free: bigint },
): { totalBytes: number; usedBytes: number; freeBytes: number } {
  return { totalBytes: Number(total), usedBytes: Number(used), freeBytes: Number(free) };
}

function watts(milliwatts: number | undefined): number | undefined {
  return milliwatts === undefined ? undefined : milliwatts / 1000;
}
