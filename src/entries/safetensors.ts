/**
 * Models in the safetensors format: load one into device memory, save one, read a header alone.
 *
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { readSafetensorsHeader, saveSafetensors } from "vramkit/safetensors";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * using bias = await gpu.upload(new Float32Array([1, 2, 3, 4]));
 * const path = await Deno.makeTempFile({ suffix: ".safetensors" });
 * await saveSafetensors(path, { bias });
 * const { tensors } = await readSafetensorsHeader(path);
 * console.log(tensors.map(({ name, shape }) => [name, shape])); // [ [ "bias", [ 4 ] ] ]
 * using model = await gpu.loadSafetensors(path);
 * console.log(model.tensor("bias").shape); // [ 4 ]
 * await Deno.remove(path);
 * ```
 *
 * @module
 */

export type { SafetensorsFormat } from "../interop/safetensors/formats.ts";
export type { SafetensorsHeader, TensorEntry } from "../interop/safetensors/header.ts";
export { readSafetensorsHeader } from "../interop/safetensors/read_header.ts";
export { loadSafetensors, type LoadSafetensorsOptions } from "../interop/safetensors/load.ts";
export {
  type LoadedTensor,
  type ModelFields,
  SafetensorsModel,
} from "../interop/safetensors/model.ts";
export {
  type NamedTensors,
  saveSafetensors,
  type SaveSafetensorsOptions,
} from "../interop/safetensors/save.ts";
export type { SafetensorsSource } from "../interop/safetensors/shards.ts";
export { SafetensorsError } from "../interop/safetensors/error.ts";
