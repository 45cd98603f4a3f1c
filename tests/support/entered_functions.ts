// Counts the functions and files of the kit that one call enters after three like it, by V8's coverage, without
// the simulated driver; prints them as JSON. With `--list` it prints their names.

import { Session } from "node:inspector/promises";
import { CudaDevice } from "../../mod.ts";
import { PROJECT_ROOT } from "./project_files.ts";

const root = new URL("src/", PROJECT_ROOT).href;
const [ffi, simulated] = ["ffi/", "ffi/simulated/"].map((path) => new URL(path, PROJECT_ROOT).href);
using gpu = CudaDevice.open(0, { driver: "simulated" });
const few = new Float32Array(16).fill(1);
using buffer = await gpu.upload(new Float32Array(64));
const calls = {
  upload: async () => (await gpu.upload(few)).dispose(),
  download: () => buffer.download(),
};
const session = new Session();
session.connect();
await session.post("Profiler.enable");
const found: Record<string, { functions: number; files: number }> = {};
for (const [name, call] of Object.entries(calls)) {
  for (let count = 0; count < 3; count++) {
    await call();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await session.post("Profiler.takePreciseCoverage");
  await call();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  const entered = result
    .filter(({ url }) => url.startsWith(root) || isFfi(url))
    .map(({ url, functions }) => {
      const names = functions.filter(({ ranges: [range] }) => (range?.count ?? 0) > 0)
        .map(({ functionName }) => functionName);
      return { url, names };
    })
    .filter(({ names }) => names.length > 0);
  if (Deno.args.includes("--list")) console.error(name, entered);
  const functions = entered.reduce((sum, { names }) => sum + names.length, 0);
  found[name] = { functions, files: entered.length };
}
console.log(JSON.stringify(found));

function isFfi(url: string): boolean {
  return url.startsWith(`${ffi}`) && !url.startsWith(`${simulated}`);
}
