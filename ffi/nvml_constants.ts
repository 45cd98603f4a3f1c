// The numbers of nvml.h that the kit uses, under the header's own names.

/** Status of a call. */
export const nvmlReturn = {
  NVML_SUCCESS: 0,
  NVML_ERROR_UNINITIALIZED: 1,
  NVML_ERROR_INVALID_ARGUMENT: 2,
  NVML_ERROR_NOT_SUPPORTED: 3,
  NVML_ERROR_NO_PERMISSION: 4,
  NVML_ERROR_ALREADY_INITIALIZED: 5,
  NVML_ERROR_NOT_FOUND: 6,
  NVML_ERROR_INSUFFICIENT_SIZE: 7,
  NVML_ERROR_INSUFFICIENT_POWER: 8,
  NVML_ERROR_DRIVER_NOT_LOADED: 9,
  NVML_ERROR_TIMEOUT: 10,
  NVML_ERROR_IRQ_ISSUE: 11,
  NVML_ERROR_LIBRARY_NOT_FOUND: 12,
  NVML_ERROR_FUNCTION_NOT_FOUND: 13,
  NVML_ERROR_CORRUPTED_INFOROM: 14,
  NVML_ERROR_GPU_IS_LOST: 15,
  NVML_ERROR_RESET_REQUIRED: 16,
  NVML_ERROR_OPERATING_SYSTEM: 17,
  NVML_ERROR_LIB_RM_VERSION_MISMATCH: 18,
  NVML_ERROR_IN_USE: 19,
  NVML_ERROR_MEMORY: 20,
  NVML_ERROR_NO_DATA: 21,
  NVML_ERROR_UNKNOWN: 999,
} as const;

export const nvmlTemperatureSensors = { NVML_TEMPERATURE_GPU: 0 } as const;

/** Clock domains. */
export const nvmlClockType = { NVML_CLOCK_SM: 1, NVML_CLOCK_MEM: 2 } as const;

/** States of the division of a GPU into MIG devices. */
export const nvmlMigMode = { NVML_DEVICE_MIG_DISABLE: 0, NVML_DEVICE_MIG_ENABLE: 1 } as const;

/** Directions of the counters of the bus: out of the device, and into it. */
export const nvmlPcieUtilCounter = {
  NVML_PCIE_UTIL_TX_BYTES: 0,
  NVML_PCIE_UTIL_RX_BYTES: 1,
} as const;

/** Errors of memory that its code for error correction could not mend. */
export const nvmlMemoryErrorType = { NVML_MEMORY_ERROR_TYPE_UNCORRECTED: 1 } as const;

/** Counters of such errors: those since the driver was loaded. */
export const nvmlEccCounterType = { NVML_VOLATILE_ECC: 0 } as const;

/** Reasons for clocks that are lower than they could be, one bit each. */
export const nvmlClocksEventReasons = {
  nvmlClocksEventReasonGpuIdle: 0x1,
  nvmlClocksEventReasonApplicationsClocksSetting: 0x2,
  nvmlClocksEventReasonSwPowerCap: 0x4,
  nvmlClocksThrottleReasonHwSlowdown: 0x8,
  nvmlClocksEventReasonSyncBoost: 0x10,
  nvmlClocksEventReasonSwThermalSlowdown: 0x20,
  nvmlClocksThrottleReasonHwThermalSlowdown: 0x40,
  nvmlClocksThrottleReasonHwPowerBrakeSlowdown: 0x80,
  nvmlClocksEventReasonDisplayClockSetting: 0x100,
} as const;

/** States of a feature, such as an NVLink. */
export const nvmlEnableState = { NVML_FEATURE_ENABLED: 1 } as const;

/** Links that a device can have at most. */
export const NVML_NVLINK_MAX_LINKS = 18;

/** Abilities of the link between two devices. */
export const nvmlGpuP2PCapsIndex = { NVML_P2P_CAPS_INDEX_NVLINK: 2 } as const;

/** Answers about an ability of a link. */
export const nvmlGpuP2PStatus = { NVML_P2P_STATUS_OK: 0 } as const;

/** The places on the bus where the ways from two devices to the processor meet. */
export const nvmlGpuTopologyLevel = {
  NVML_TOPOLOGY_INTERNAL: 0,
  NVML_TOPOLOGY_SINGLE: 10,
  NVML_TOPOLOGY_MULTIPLE: 20,
  NVML_TOPOLOGY_HOSTBRIDGE: 30,
  NVML_TOPOLOGY_NODE: 40,
  NVML_TOPOLOGY_SYSTEM: 50,
} as const;

/** Bytes of a driver's version with its NUL. */
export const NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE = 80;

/** Stands in a field of 64 bits for a value that there is not: `NVML_VALUE_NOT_AVAILABLE`, -1. */
export const NOT_AVAILABLE_64 = 0xffff_ffff_ffff_ffffn;

/** Stands in the same way in a field of 32 bits. */
export const NOT_AVAILABLE_32 = 0xffff_ffff;
