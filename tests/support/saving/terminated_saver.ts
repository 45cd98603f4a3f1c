// A program that terminates workers while they save, and saves the same file itself each time: what a
// worker had open, its lock too, must go with it. Run as it is it is the program, in a worker the saver.

import { setTimeout as delay } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { readSafetensorsHeader } from "../../../src/entries/safetensors.ts";
import { saveSafetensors } from "../../../src/interop/safetensors/save.ts";
import { openTestDevice } from "../driver.ts";
import { namesIn } from "../files.ts";
import { TemporaryFolder } from "../temporary_folder.ts";

const ROUND_COUNT = 4;
const LATEST_MILLISECONDS = 40;
const MIN_LOOKS = 10;
const MAX_LOOKS = 100;

if (isMainThread) await runProgram();
else await saveForEver(workerData.path);

async function runProgram(): Promise<void> {
  using folder = new TemporaryFolder();
  const path = folder.pathOf("model.safetensors");
  using gpu = openTestDevice();
  using small = gpu.zeros("uint8", 100);
  for (let round = 0; round < ROUND_COUNT; round++) {
    const worker = new Worker(new URL(import.meta.url), { workerData: { path } });
    await new Promise((resolve) => worker.once("message", resolve));
    await delay(LATEST_MILLISECONDS * round / ROUND_COUNT);
    await worker.terminate();
    await saveSafetensors(path, { small }, { signal: AbortSignal.timeout(10_000) });
  }
  // A worker that was ended can still finish a step on its own thread: the next save takes it over.
  for (let look = 0; look < MAX_LOOKS; look++) {
    if (look >= MIN_LOOKS && namesIn(folder).length === 1) break;
    await delay(LATEST_MILLISECONDS);
    await saveSafetensors(path, { small }, { signal: AbortSignal.timeout(10_000) });
  }
  const { tensors } = await readSafetensorsHeader(path);
  console.log(JSON.stringify({ files: namesIn(folder), tensors: tensors.map(({ name }) => name) }));
}

async function saveForEver(path: string): Promise<void> {
  using gpu = openTestDevice();
  using large = gpu.zeros("uint8", 2 ** 25);
  parentPort?.postMessage("saving");
  for (;;) await saveSafetensors(path, { large });
}
