// Functions of the driver's table that no step of the failure sweep reaches, and why.

import type { DriverFunction } from "../../../ffi/cuda.ts";

const KERNELS = "kernels are the program's: it calls the driver itself";
const SHARING = "memory and events are shared with other processes by the program itself";

/** The functions, each with its reason. A new one fails the test until it has a step or a reason. */
export const UNREACHED: Partial<Record<DriverFunction, string>> = {
  cuCtxDisablePeerAccess: "the way between two devices stays open as long as their contexts",
  cuModuleLoadData: KERNELS,
  cuModuleUnload: KERNELS,
  cuModuleGetFunction: KERNELS,
  cuModuleGetGlobal_v2: KERNELS,
  cuLaunchKernel: KERNELS,
  cuLaunchHostFunc: KERNELS,
  cuIpcGetMemHandle: SHARING,
  cuIpcOpenMemHandle_v2: SHARING,
  cuIpcCloseMemHandle: SHARING,
  cuIpcGetEventHandle: SHARING,
  cuIpcOpenEventHandle: SHARING,
};
