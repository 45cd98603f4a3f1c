// NVIDIA's management library as nvml.h declares it: one row per function, its C declaration above
// it. Older libraries lack some, so all but the first three are optional.

/** The rest of the row of a function that older libraries lack. */
const OPTIONAL = { result: "i32", optional: true } as const;

/** The functions of NVML that the kit calls. */
export const NVML = {
  // nvmlReturn_t nvmlInit_v2(void)
  nvmlInit_v2: { parameters: [], result: "i32" },
  // nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
  nvmlSystemGetDriverVersion: { parameters: ["buffer", "u32"], result: "i32" },
  // nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *pciBusId, nvmlDevice_t *device)
  nvmlDeviceGetHandleByPciBusId_v2: { parameters: ["buffer", "buffer"], result: "i32" },
  // nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length)
  nvmlSystemGetProcessName: { parameters: ["u32", "buffer", "u32"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
  nvmlDeviceGetHandleByUUID: { parameters: ["buffer", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int *maxLinkGen)
  nvmlDeviceGetMaxPcieLinkGeneration: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device,
  //     unsigned int *maxLinkGenDevice)
  nvmlDeviceGetGpuMaxPcieLinkGeneration: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int *maxLinkWidth)
  nvmlDeviceGetMaxPcieLinkWidth: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device,
  //     unsigned int *currLinkGen)
  nvmlDeviceGetCurrPcieLinkGeneration: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int *currLinkWidth)
  nvmlDeviceGetCurrPcieLinkWidth: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter,
  //     unsigned int *value)
  nvmlDeviceGetPcieThroughput: { parameters: ["u64", "u32", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned int *value)
  nvmlDeviceGetPcieReplayCounter: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type,
  //     unsigned int *clock)
  nvmlDeviceGetClockInfo: { parameters: ["u64", "u32", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type,
  //     unsigned int *clock)
  nvmlDeviceGetMaxClockInfo: { parameters: ["u64", "u32", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned int *speed)
  nvmlDeviceGetFanSpeed: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device,
  //     nvmlTemperatureSensors_t sensorType, unsigned int *temp)
  nvmlDeviceGetTemperature: { parameters: ["u64", "u32", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t *temperature)
  nvmlDeviceGetTemperatureV: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device,
  //     unsigned long long *clocksEventReasons)
  nvmlDeviceGetCurrentClocksEventReasons: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device,
  //     unsigned long long *clocksThrottleReasons)
  nvmlDeviceGetCurrentClocksThrottleReasons: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned int *limit)
  nvmlDeviceGetPowerManagementLimit: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t device,
  //     unsigned int *defaultLimit)
  nvmlDeviceGetPowerManagementDefaultLimit: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *power)
  nvmlDeviceGetPowerUsage: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int *limit)
  nvmlDeviceGetEnforcedPowerLimit: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
  nvmlDeviceGetMemoryInfo: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
  nvmlDeviceGetMemoryInfo_v2: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t *current,
  //     nvmlEnableState_t *pending)
  nvmlDeviceGetEccMode: { parameters: ["u64", "buffer", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t errorType,
  //     nvmlEccCounterType_t counterType, unsigned long long *eccCounts)
  nvmlDeviceGetTotalEccErrors: { parameters: ["u64", "u32", "u32", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device,
  //     nvmlUtilization_t *utilization)
  nvmlDeviceGetUtilizationRates: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device,
  //     unsigned int *infoCount, nvmlProcessInfo_t *infos)
  nvmlDeviceGetComputeRunningProcesses_v3: { parameters: ["u64", "buffer", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device,
  //     unsigned int *infoCount, nvmlProcessInfo_t *infos)
  nvmlDeviceGetGraphicsRunningProcesses_v3: {
    parameters: ["u64", "buffer", "buffer"],
    ...OPTIONAL,
  },
  // nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *currentMode,
  //     unsigned int *pendingMode)
  nvmlDeviceGetMigMode: { parameters: ["u64", "buffer", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link,
  //     nvmlEnableState_t *isActive)
  nvmlDeviceGetNvLinkState: { parameters: ["u64", "u32", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned int link,
  //     unsigned int *version)
  nvmlDeviceGetNvLinkVersion: { parameters: ["u64", "u32", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device1, nvmlDevice_t device2,
  //     nvmlGpuP2PCapsIndex_t p2pIndex, nvmlGpuP2PStatus_t *p2pStatus)
  nvmlDeviceGetP2PStatus: { parameters: ["u64", "u64", "u32", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device1, nvmlDevice_t device2,
  //     nvmlGpuTopologyLevel_t *pathInfo)
  nvmlDeviceGetTopologyCommonAncestor: { parameters: ["u64", "u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int *isMigDevice)
  nvmlDeviceIsMigDeviceHandle: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t migDevice,
  //     nvmlDevice_t *device)
  nvmlDeviceGetDeviceHandleFromMigDeviceHandle: { parameters: ["u64", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device,
  //     unsigned int *infoCount, nvmlProcessInfo_v1_t *infos)
  nvmlDeviceGetComputeRunningProcesses: { parameters: ["u64", "buffer", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device,
  //     unsigned int *infoCount, nvmlProcessInfo_v2_t *infos)
  nvmlDeviceGetComputeRunningProcesses_v2: { parameters: ["u64", "buffer", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device,
  //     unsigned int *infoCount, nvmlProcessInfo_v1_t *infos)
  nvmlDeviceGetGraphicsRunningProcesses: { parameters: ["u64", "buffer", "buffer"], ...OPTIONAL },
  // nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device,
  //     unsigned int *infoCount, nvmlProcessInfo_v2_t *infos)
  nvmlDeviceGetGraphicsRunningProcesses_v2: {
    parameters: ["u64", "buffer", "buffer"],
    ...OPTIONAL,
  },
} as const satisfies Deno.ForeignLibraryInterface;

/** NVML's functions; those that a library lacks are null. */
export type NvmlApi = Deno.DynamicLibrary<typeof NVML>["symbols"];
