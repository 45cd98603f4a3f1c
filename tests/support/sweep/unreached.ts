// Functions of the driver's table that no step of the failure sweep reaches, and why.

import type { DriverFunction } from "../../../ffi/cuda.ts";

const OLD = "drivers before CUDA 12.0 have no libraries; tests/src/kernels/ runs on them, too";
const HELD = "memory that other processes hold; tests/src/persist/ refuses, limits and kills it";
const HOST = "the kit queues no functions of the host";

/** The functions, each with its reason. A new one fails the test until it has a step or a reason. */
export const UNREACHED: Partial<Record<DriverFunction, string>> = {
  cuCtxDisablePeerAccess: "the way between two devices stays open as long as their contexts",
  cuModuleLoadData: "the kit asks for the words of the driver's compiler: cuModuleLoadDataEx",
  cuModuleLoadDataEx: OLD,
  cuModuleUnload: OLD,
  cuModuleGetFunction: OLD,
  cuModuleGetGlobal_v2: OLD,
  cuLaunchHostFunc: HOST,
  cuMemExportToShareableHandle: HELD,
  cuMemImportFromShareableHandle: HELD,
  cuMemRetainAllocationHandle: HELD,
};
