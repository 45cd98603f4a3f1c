// NVIDIA's management library as nvml.h declares it: what the kit asks about a device's bus.

/** The functions of NVML that the kit calls. */
export const NVML = {
  // nvmlReturn_t nvmlInit_v2(void)
  nvmlInit_v2: { parameters: [], result: "i32" },
  // nvmlReturn_t nvmlShutdown(void)
  nvmlShutdown: { parameters: [], result: "i32" },
  // nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *pciBusId, nvmlDevice_t *device)
  nvmlDeviceGetHandleByPciBusId_v2: { parameters: ["buffer", "buffer"], result: "i32" },
  // nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int *maxLinkGen)
  nvmlDeviceGetMaxPcieLinkGeneration: { parameters: ["u64", "buffer"], result: "i32" },
  // nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int *maxLinkWidth)
  nvmlDeviceGetMaxPcieLinkWidth: { parameters: ["u64", "buffer"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;
