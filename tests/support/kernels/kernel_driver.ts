// A driver with the kernels of the recordings: as functions on the simulated driver, and as PTX on a
// real one. `fill` writes bytes, `move` copies them, `nothing` does nothing.

import type { DriverApi } from "../../../ffi/cuda.ts";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import type { CudaDevice } from "../../../src/device/device.ts";
import type { CudaModule } from "../../../src/kernels/cuda_module.ts";
import { ON_GPU, testDriver } from "../driver.ts";
import { IMAGES, SIMULATED_KERNELS } from "../recording/images.ts";

/** The PTX that has the kernels. */
const KERNELS_PTX: string = new TextDecoder().decode(IMAGES["kernels"]).replace("\0", "");

/** A kernel of four parameters that the simulated driver always has; here it does nothing. */
export const IOTA_PTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry vramkit_iota_u32(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)
{
  ret;
}`;

/** Returns a driver that runs the kernels; a simulated one of the given CUDA version. */
export function kernelDriver(driverVersion = 13000): DriverApi {
  if (ON_GPU) return testDriver();
  return simulateDriver({ driverVersion, kernels: { ...SIMULATED_KERNELS } });
}

/** Loads the kernels on a device. */
export function loadKernels(gpu: CudaDevice): Promise<CudaModule> {
  return gpu.loadModule(KERNELS_PTX, { label: "kernels" });
}
