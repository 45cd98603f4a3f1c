// The speed of the host's memory: copies by one thread, and by one thread for each core at the same time.
// Each has arrays of its own, larger than the caches together.

import { builtin } from "../words/builtin.ts";
import { type Spread, spreadOf } from "../measure/samples.ts";

/** Bytes of all arrays that are read; as many are written. */
const SOURCE_BYTES = 256 * 2 ** 20;
/** Time of a sample, and their number. */
const SAMPLE_SECONDS = 0.15;
const SAMPLE_COUNT = 3;
/** The most threads: more cores than these do not make memory faster. */
const MAX_THREADS = 64;

/** The word that all threads wait for, and one for each of them that says that it is ready. */
const GO = 0;

/** A thread: it waits for its turn, copies for a while, and says how fast that was. */
const PROGRAM = `
import { parentPort, workerData } from "node:worker_threads";
const { gate, byteLength, milliseconds } = workerData;
const from = new Uint8Array(byteLength).fill(1), to = new Uint8Array(byteLength).fill(2);
parentPort.on("message", (turn) => {
  if (turn === 0) return void parentPort.close();
  Atomics.wait(gate, ${GO}, turn - 1);
  const start = performance.now();
  let count = 0, now = start;
  do {
    to.set(from);
    count++;
    now = performance.now();
  } while (now - start < milliseconds);
  parentPort.postMessage(count * byteLength / (now - start) / 1e6);
});
parentPort.postMessage(0);
`;

/** The speed of copies in GB/s, each byte counted once. */
export interface HostSpeed extends Spread {
  readonly threadCount: number;
}

/** Measures copies by some threads at once, with at most so many bytes of arrays. */
export async function measureHostSpeed(
  wanted: number,
  { roomBytes, signal }: { readonly roomBytes: number; readonly signal?: AbortSignal | undefined },
): Promise<HostSpeed> {
  const threadCount = Math.max(1, Math.min(wanted, MAX_THREADS));
  const byteLength = Math.floor(Math.min(SOURCE_BYTES, roomBytes / 2) / threadCount);
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const { Worker } = builtin("node:worker_threads");
  const url = new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`);
  const workerData = { gate, byteLength, milliseconds: 1000 * SAMPLE_SECONDS };
  const threads = Array.from({ length: threadCount }, () => new Worker(url, { workerData }));
  const answers = () =>
    Promise.all(threads.map((thread) =>
      new Promise<number>((resolve, reject) => {
        thread.once("message", resolve);
        thread.once("error", reject);
      })
    ));
  try {
    await answers();
    const speeds: number[] = [];
    for (let turn = 1; turn <= SAMPLE_COUNT; turn++) {
      signal?.throwIfAborted();
      const sample = answers();
      for (const thread of threads) thread.postMessage(turn);
      Atomics.store(gate, GO, turn);
      Atomics.notify(gate, GO);
      speeds.push((await sample).reduce((sum, speed) => sum + speed, 0));
    }
    return { ...spreadOf(speeds), threadCount };
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
}
