// Terminates workers in the middle of their transfers, and goes on with a device of its own; prints
// what it read back from there, and how many threads of workers are left.

import { setTimeout as delay } from "node:timers/promises";
import { openTestDevice } from "./driver.ts";
import { share } from "./random.ts";

const WORKER_COUNT = share(4, { parts: 2 });

/** Longer than lanes sleep at a stretch. */
const PATIENCE_MILLISECONDS = 20_000;

/** A worker's transfers take some milliseconds: each is ended at another point of them. */
const STEP_MILLISECONDS = 3;

for (let index = 0; index < WORKER_COUNT; index++) {
  const url = new URL("./transferring_worker.ts", import.meta.url);
  const worker = new Worker(url, { type: "module" });
  await new Promise<void>((resolve) => {
    worker.onmessage = ({ data }) => data === "ring" && resolve();
  });
  await delay(index * STEP_MILLISECONDS);
  worker.terminate();
}

const gpu = openTestDevice();
const buffer = await gpu.upload(new Float32Array([1, 2, 3]));
const back = [...await buffer.download()];
buffer.dispose();
gpu.dispose();
const deadline = performance.now() + PATIENCE_MILLISECONDS;
while (workerThreadCount() > 0 && performance.now() < deadline) await delay(100);
console.log(JSON.stringify({ back, left: workerThreadCount() }));

/** Threads that run workers, lanes among them, by the name that Deno gives them. */
function workerThreadCount(): number {
  const threads = [...Deno.readDirSync("/proc/self/task")];
  return threads.filter(({ name }) => nameOf(name).startsWith("worker-")).length;
}

function nameOf(thread: string): string {
  try {
    return Deno.readTextFileSync(`/proc/self/task/${thread}/comm`);
  } catch {
    return ""; // it ended meanwhile
  }
}
