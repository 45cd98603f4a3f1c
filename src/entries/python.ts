/**
 * Python in this process: it runs source text, exchanges values, and shares arrays without copies, so
 * that CuPy, PyTorch or numpy and TypeScript work on the same memory. It needs Linux and a
 * `libpython`.
 *
 * ```ts ignore
 * import { CudaDevice } from "vramkit";
 * import { startPython } from "vramkit/python";
 *
 * using gpu = CudaDevice.open();
 * const python = startPython();
 * using x = await gpu.upload(new Float32Array([1, 2, 3]));
 * python.set("x", x);
 * python.run(`
 *   import cupy
 *   x = cupy.from_dlpack(x)
 *   x *= 2
 *   y = cupy.sqrt(x)
 * `);
 * console.log(await x.download()); // Float32Array(3) [2, 4, 6]
 * using y = python.buffer("y", { gpu, dtype: "float32" });
 * console.log(await y.download());
 * ```
 *
 * @module
 */

import "../words/runtime.ts";

export {
  Python,
  type PythonBufferOptions,
  type PythonOptions,
  type PythonStreamOptions,
  PythonUnavailableError,
  startPython,
} from "../python/python.ts";
export { PythonError } from "../python/python_error.ts";
export type { PythonInput, PythonValue } from "../python/values.ts";
