/**
 * Kernels of your own: typed numbers as arguments, the access that a kernel has to memory, and the
 * classes and errors of `gpu.compile()` and `gpu.loadModule()`.
 *
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { f32, readOnly, u64 } from "vramkit/kernels";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * if (!gpu.isSimulated) {
 *   using add = await gpu.compile(`
 *     template <class T> __global__ void add(T *to, const T *from, T factor, size_t count) {
 *       size_t i = blockIdx.x * blockDim.x + threadIdx.x;
 *       if (i < count) to[i] += factor * from[i];
 *     }`, { name: "add<float>" });
 *   using x = await gpu.upload(new Float32Array([1, 2, 3]));
 *   using y = gpu.zeros("float32", 3);
 *   add.launch({ grid: 1, block: 32, args: [y, readOnly(x), f32(2), u64(3)] });
 *   console.log(await y.download()); // Float32Array(3) [2, 4, 6]
 * }
 * ```
 *
 * @module
 */

import "../words/runtime.ts";

export type { CompileOptions } from "../kernels/compile.ts";
export { CompileError, type CompileProblem, type CompileReport } from "../kernels/compile_error.ts";
export {
  CudaKernel,
  type GlobalOptions,
  type KernelArgument,
  type KernelModule,
  type LaunchOptions,
} from "../kernels/cuda_kernel.ts";
export { CudaModule } from "../kernels/cuda_module.ts";
export type { ModuleOptions, ModuleSource } from "../kernels/load_module.ts";
export type { Occupancy, OccupancyOptions } from "../kernels/occupancy.ts";
export { type KernelMemory, readOnly } from "../launch/kernel_memory.ts";
export type { KernelLimits } from "../launch/kernel_function.ts";
export {
  f16,
  f32,
  f64,
  i16,
  i32,
  i64,
  i8,
  KernelNumber,
  type NumberType,
  u16,
  u32,
  u64,
  u8,
} from "../launch/kernel_number.ts";
export type { LaunchShapeOptions, LaunchSize } from "../launch/launch_shape.ts";
