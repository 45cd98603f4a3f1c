/**
 * Models in the GGUF format of llama.cpp and its like: tensors on the GPU with their bytes as they are,
 * quantized ones too, and a reader of headers alone.
 *
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { loadGguf, readGgufHeader } from "vramkit/gguf";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * const path = await Deno.makeTempFile({ suffix: ".gguf" });
 * const parts = [new TextEncoder().encode("GGUF"), Uint32Array.of(3), new Uint8Array(24)];
 * await Deno.writeFile(path, new Uint8Array(await new Blob(parts).arrayBuffer())); // without tensors
 * const { metadata, tensors } = await readGgufHeader(path);
 * console.log(metadata, tensors); // {} []
 * using model = await loadGguf(path, gpu);
 * console.log(model.names); // []; else model.tensor(name), model.format(name), model.entry(name)
 * await Deno.remove(path);
 * ```
 *
 * @module
 */

import "../words/runtime.ts";
import "../cards/gguf_card.ts";

export { GGUF_FORMATS, type GgufFormat } from "../interop/gguf/formats.ts";
export {
  type GgufHeader,
  type GgufTensor,
  readGgufHeader,
  type ReadGgufOptions,
} from "../interop/gguf/header.ts";
export { GgufError, type GgufValue } from "../interop/gguf/header_scanner.ts";
export { loadGguf, type LoadGgufOptions } from "../interop/gguf/load.ts";
export { GgufModel } from "../interop/gguf/model.ts";
export { DeviceModel, LoadedTensors, type NamedFormat } from "../interop/loaded_contents.ts";
export type { LoadTensorsOptions } from "../interop/load_tensors.ts";
