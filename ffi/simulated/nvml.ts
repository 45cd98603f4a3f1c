// The NVML of a simulated machine: its memory, no load, and round numbers for values that only
// hardware has. Values that are not modelled are not supported.

import { NVML, type NvmlApi } from "../nvml.ts";
import {
  nvmlClocksEventReasons,
  nvmlEnableState,
  nvmlMigMode,
  nvmlReturn,
} from "../nvml_constants.ts";
import {
  nvmlMemory_v2_t,
  nvmlProcessInfo_v2_t,
  nvmlTemperature_v1_t,
  nvmlUtilization_t,
} from "../nvml_structs.ts";
import { bytesOf, type Cell, get32, getText, put32, put64, putText } from "./calls/cells.ts";
import { type Device, pciBusIdOf, uuidOf } from "./model/device.ts";
import type { Machine } from "./model/machine.ts";

const FIRST_HANDLE = 0x7000_0000n;

const MODELLED = {
  temperatureCelsius: 40,
  powerMilliwatts: 100_000,
  powerLimitMilliwatts: 500_000,
  clockMegahertz: 1000,
} as const;

/** No MIG device, so no instance: as nvml.h says it. */
const NO_INSTANCE = 0xffff_ffff;

const {
  NVML_SUCCESS: SUCCESS,
  NVML_ERROR_UNINITIALIZED: NOT_STARTED,
  NVML_ERROR_INVALID_ARGUMENT: INVALID,
  NVML_ERROR_NOT_SUPPORTED: NOT_SUPPORTED,
  NVML_ERROR_NOT_FOUND: NOT_FOUND,
  NVML_ERROR_INSUFFICIENT_SIZE: TOO_FEW,
} = nvmlReturn;

/** Makes the functions for a machine; those that nothing models are null. */
export function simulateNvml(machine: Machine): NvmlApi {
  let isStarted = false;

  /** Makes a function about a device: it answers by a status, or by nothing for success. */
  function on<Rest extends unknown[]>(answer: (device: Device, ...rest: Rest) => number | void) {
    return (handle: number | bigint, ...rest: Rest): number => {
      if (!isStarted) return NOT_STARTED;
      const device = machine.devices[Number(BigInt(handle) - FIRST_HANDLE)];
      return device === undefined ? INVALID : answer(device, ...rest) ?? SUCCESS;
    };
  }

  /** Makes one about a value that only a board with memory of its own has. */
  function onBoard<Rest extends unknown[]>(
    answer: (device: Device, ...rest: Rest) => number | void,
  ) {
    return on((device, ...rest: Rest) =>
      machine.settings.integrated ? NOT_SUPPORTED : answer(device, ...rest)
    );
  }

  function find(handle: Cell, matches: (ordinal: number) => boolean): number {
    if (!isStarted) return NOT_STARTED;
    const device = machine.devices.find(({ ordinal }) => matches(ordinal));
    if (device === undefined) return NOT_FOUND;
    put64(handle, FIRST_HANDLE + BigInt(device.ordinal));
    return SUCCESS;
  }

  const putClock = on((_, _clock: number, cell: Cell) => put32(cell, MODELLED.clockMegahertz));
  const modelled: Partial<NvmlApi> = {
    nvmlInit_v2() {
      isStarted = true;
      return SUCCESS;
    },
    nvmlSystemGetDriverVersion(version, capacity) {
      if (!isStarted) return NOT_STARTED;
      putText(version, capacity, "simulated");
      return SUCCESS;
    },
    nvmlSystemGetProcessName(pid, name, capacity) {
      if (pid !== Deno.pid) return NOT_FOUND;
      putText(name, capacity, "deno");
      return SUCCESS;
    },
    nvmlDeviceGetHandleByUUID(uuid, handle) {
      const wanted = getText(uuid);
      return find(handle, (ordinal) => wanted === `GPU-${formatUuid(uuidOf(ordinal))}`);
    },
    nvmlDeviceGetHandleByPciBusId_v2(address, handle) {
      const wanted = getText(address);
      return find(handle, (ordinal) => wanted === pciBusIdOf(ordinal));
    },
    nvmlDeviceGetClockInfo: putClock,
    nvmlDeviceGetMaxClockInfo: putClock,
    nvmlDeviceGetTemperatureV: on((_, cell) => {
      const { temperatureCelsius: temperature } = MODELLED;
      bytesOf(cell).set(nvmlTemperature_v1_t.encode({ temperature }));
    }),
    nvmlDeviceGetCurrentClocksEventReasons: on((_, cell) =>
      put64(cell, nvmlClocksEventReasons.nvmlClocksEventReasonGpuIdle)
    ),
    nvmlDeviceGetPowerUsage: on((_, cell) => put32(cell, MODELLED.powerMilliwatts)),
    nvmlDeviceGetEnforcedPowerLimit: onBoard((_, cell) =>
      put32(cell, MODELLED.powerLimitMilliwatts)
    ),
    nvmlDeviceGetMemoryInfo_v2: onBoard(({ memoryBytes, freeBytes }, cell) => {
      const [total, free] = [BigInt(memoryBytes), BigInt(freeBytes)];
      bytesOf(cell).set(nvmlMemory_v2_t.encode({ total, free, used: total - free }));
    }),
    nvmlDeviceGetUtilizationRates: on((_, cell) =>
      bytesOf(cell).set(nvmlUtilization_t.encode({ gpu: 0, memory: 0 }))
    ),
    nvmlDeviceGetComputeRunningProcesses_v3: on(({ usedBytes }, count, infos) => {
      const room = get32(count);
      put32(count, 1);
      if (room < 1) return TOO_FEW;
      bytesOf(infos).set(nvmlProcessInfo_v2_t.encode({
        pid: Deno.pid,
        usedGpuMemory: BigInt(usedBytes),
        gpuInstanceId: NO_INSTANCE,
        computeInstanceId: NO_INSTANCE,
      }));
      return undefined;
    }),
    nvmlDeviceGetEccMode: onBoard((_, current, pending) => {
      put32(current, nvmlEnableState.NVML_FEATURE_ENABLED);
      put32(pending, nvmlEnableState.NVML_FEATURE_ENABLED);
    }),
    nvmlDeviceGetTotalEccErrors: onBoard((_, _kind, _since, cell) => put64(cell, 0)),
    nvmlDeviceGetMigMode: onBoard((_, current, pending) => {
      put32(current, nvmlMigMode.NVML_DEVICE_MIG_DISABLE);
      put32(pending, nvmlMigMode.NVML_DEVICE_MIG_DISABLE);
    }),
  };
  const missing = Object.fromEntries(Object.keys(NVML).map((name) => [name, null]));
  // The three functions that no library lacks are among the modelled ones.
  return { ...missing, ...modelled } as NvmlApi;
}

function formatUuid(bytes: Uint8Array): string {
  return bytes.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
