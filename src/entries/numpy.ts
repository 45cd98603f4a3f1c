/**
 * Files of numpy: `.npy` with one array, `.npz` with several by name. Use `gpu.loadNpy()` and
 * `buffer.saveNpy()` of the main entry for single arrays; this entry has the archives, and the
 * error.
 *
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { loadNpz, saveNpz } from "vramkit/numpy";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * using bias = await gpu.upload(new Float32Array([1, 2, 3, 4]));
 * const path = await Deno.makeTempFile({ suffix: ".npz" });
 * await saveNpz(path, { bias }, { compress: true });
 * using arrays = await loadNpz(path, gpu);
 * console.log(arrays.names); // [ "bias" ]
 * console.log(await arrays.array("bias").download()); // Float32Array(4) [1, 2, 3, 4]
 * await Deno.remove(path);
 * ```
 *
 * @module
 */

import "../words/runtime.ts";
import "../cards/archive_card.ts";

export type { SaveNpyOptions } from "../buffers/gpu_buffer.ts";
export { loadNpy, type LoadNpyOptions } from "../interop/numpy/load_npy.ts";
export { loadNpz } from "../interop/numpy/load_npz.ts";
export { NpzArrays } from "../interop/numpy/npz_arrays.ts";
export { type NamedArrays, saveNpz, type SaveNpzOptions } from "../interop/numpy/save_npz.ts";
export { NumpyError } from "../numpy/npy_header.ts";
