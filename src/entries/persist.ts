/**
 * Memory that outlives its program, and memory that sleeps: the names around `gpu.persist()`,
 * `gpu.persisted()`, `gpu.forget()`, `gpu.sleep()` and `gpu.wake()`.
 *
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { VirtualMemoryResource } from "vramkit/memory";
 * import { PersistError } from "vramkit/persist";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * const resource = new VirtualMemoryResource(gpu, { tag: "weights" });
 * using weights = gpu.zeros("float32", 1024, { resource });
 * await gpu.sleep({ tag: "weights" }, { onUse: "throw" });
 * try {
 *   weights.fill(1);
 * } catch (error) {
 *   if (error instanceof PersistError) console.log(error.reason); // asleep
 * }
 * await gpu.wake(weights);
 * ```
 *
 * @module
 */

import "../words/runtime.ts";

export type { LoadedFile } from "../disk/loaded_files.ts";
export type { Persistable, PersistableBuffers } from "../persist/contents.ts";
export type { Wholeness } from "../persist/keeper_words.ts";
export type { Persisted } from "../persist/open_persisted.ts";
export type { PersistOptions } from "../persist/persist.ts";
export { PersistedTable } from "../persist/persisted_table.ts";
export { Persistence } from "../persist/persistence.ts";
export { PersistError, type PersistProblem } from "../persist/persist_error.ts";
export type { Sleepable, SleepOptions, SleepTag } from "../persist/sleep.ts";
