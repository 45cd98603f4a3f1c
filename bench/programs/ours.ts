// One program as a user writes it: open, bytes up and down, the end. `MOD BYTES FORM`; the parent times the
// whole process, and this prints the parts of it in milliseconds.

import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import type * as kit from "../../mod.ts";

const [path = "mod.ts", bytes = "4096", form = "awaited"] = Deno.args;
const start = performance.now();
const { CudaDevice }: typeof kit = await import(pathToFileURL(resolve(path)).href);
const imported = performance.now();
using gpu = CudaDevice.open(0, { driver: "auto" });
const opened = performance.now();
const array = new Uint8Array(Number(bytes)).fill(7);
const filled = performance.now();
const buffer = form === "awaited" ? await gpu.upload(array) : gpu.uploadSync(array);
const up = performance.now();
const back = form === "awaited" ? await buffer.download() : buffer.downloadSync();
const down = performance.now();
if (back[0] !== 7 || back.at(-1) !== 7) throw new Error("The bytes are wrong");
buffer.dispose();
console.log(JSON.stringify({
  import: imported - start,
  open: opened - imported,
  up: up - filled,
  down: down - up,
}));
