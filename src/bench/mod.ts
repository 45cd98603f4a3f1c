/**
 * Benches of transfers for `deno bench`, with their bytes in the name, so that a report can show GB/s.
 *
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { transferBench } from "vramkit/bench";
 *
 * const open = () => CudaDevice.open(0, { driver: "auto" });
 * const array = new Float32Array(2 ** 18);
 *
 * transferBench({ open, name: "upload", bytes: array.byteLength }, async (gpu) => {
 *   using _x = await gpu.upload(array);
 * });
 * ```
 *
 * `deno bench -A --json | deno run -A src/bench/report.ts` prints the speeds, and writes a page.
 *
 * @module
 */

import "../words/runtime.ts";

export type { CaseLatency, CaseSpeed, CopyCase, LatencyCase } from "../measure/bandwidth_result.ts";
export { transferBench, type TransferBenchOptions } from "./registration.ts";
export type { BenchDirection } from "./bench_name.ts";
