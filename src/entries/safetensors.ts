/**
 * Models in the safetensors format: the types of `gpu.loadSafetensors()` and `gpu.saveSafetensors()`,
 * and a reader of headers alone.
 *
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { readSafetensorsHeader } from "vramkit/safetensors";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * using bias = await gpu.upload(new Float32Array([1, 2, 3, 4]));
 * const path = await Deno.makeTempFile({ suffix: ".safetensors" });
 * await gpu.saveSafetensors(path, { bias });
 * const { tensors } = await readSafetensorsHeader(path);
 * console.log(tensors.map(({ name, shape }) => [name, shape])); // [ [ "bias", [ 4 ] ] ]
 * using model = await gpu.loadSafetensors(path);
 * console.log(model.tensor("bias").shape); // [ 4 ]
 * await Deno.remove(path);
 * ```
 *
 * @module
 */

import "../words/runtime.ts";

export type { SafetensorsFormat } from "../interop/safetensors/formats.ts";
export type { SafetensorsHeader, TensorEntry } from "../interop/safetensors/header.ts";
export {
  type ReadHeaderOptions,
  readSafetensorsHeader,
} from "../interop/safetensors/read_header.ts";
export type { LoadSafetensorsOptions } from "../interop/safetensors/load.ts";
export { hubModel, type HubModelOptions, type HubOptions, localPath } from "../interop/hub.ts";
export { DeviceModel, LoadedTensors, type NamedFormat } from "../interop/loaded_contents.ts";
export type { LoadTensorsOptions } from "../interop/load_tensors.ts";
export { SafetensorsModel } from "../interop/safetensors/model.ts";
export type { NamedTensors, SaveSafetensorsOptions } from "../interop/safetensors/save.ts";
export type { SafetensorsSource } from "../interop/safetensors/shards.ts";
export { SafetensorsError } from "../interop/safetensors/header.ts";
