// A program that moves arrays away while transfers use them, in every way there is, and lets their
// memory be used again at once. Its argument: who moves the bytes.

import { CudaDevice } from "../../src/device/device.ts";
import { MAX_KEPT_ARRAYS } from "../../src/lanes/memory_keeper.ts";
import { engineOf } from "../../src/transfer/context_engine.ts";
import { testDriver } from "./driver.ts";
import { shareOf } from "./random.ts";

const [threads] = Deno.args;
/** More than any call moves before it returns. */
const LENGTH = 24 * 2 ** 20;

/** Small arrays that are moved together, more bytes than the ring is from. */
const MANY = 300;

const WAYS: Record<string, (array: Uint8Array<ArrayBuffer>) => unknown> = {
  clone: (array) => structuredClone(array.buffer, { transfer: [array.buffer] }),
  post: (array) => {
    const { port1, port2 } = new MessageChannel();
    port1.postMessage(array, [array.buffer]);
    port1.close();
    port2.close();
  },
  move: (array) => array.buffer.transfer(),
  shrink: (array) => array.buffer.transfer(16),
  empty: (array) => array.buffer.transfer(0),
};

const driver = testDriver();
const transfers = { laneCount: threads === "driver" ? 1 : 7, ringFromSize: "4 MiB" };
using gpu = CudaDevice.open(0, { driver, transfers });
if (threads === "lanes") await engineOf(gpu.context).runLanes();
using buffer = gpu.zeros("uint8", LENGTH);

/** Moments after a call: so many microtasks, or turns of the event loop. */
const MOMENTS = [
  ...Array.from({ length: 6 }, (_, microtasks) => ({ microtasks, turns: 0 })),
  { microtasks: 0, turns: 1 },
  { microtasks: 0, turns: 3 },
];

const tries = Object.entries(WAYS).flatMap(([name, move]) =>
  MOMENTS.map((moment) => ({ name, move, ...moment }))
);
for (const direction of ["upload", "download"] as const) await moveAll(direction);
await buffer.upload(new Uint8Array(LENGTH).fill(9));
console.log((await buffer.download()).every((byte) => byte === 9));

async function moveAll(direction: "upload" | "download"): Promise<void> {
  for (const { name, move, microtasks, turns } of shareOf(tries)) {
    let array: Uint8Array<ArrayBuffer> | undefined = new Uint8Array(LENGTH).fill(1);
    const moving = direction === "upload" ? buffer.upload(array) : buffer.download(array);
    const outcome = moving.then(() => "resolved", (error: Error) => error.message);
    for (let count = 0; count < microtasks; count++) await undefined;
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    move(array);
    array = undefined;
    const others = Array.from({ length: 8 }, () => new Uint8Array(LENGTH / 2).fill(255));
    (globalThis as { gc?: () => void }).gc?.();
    const text = await outcome;
    if (others.some((other) => other[0] !== 255 || other.at(-1) !== 255)) {
      throw new Error("changed");
    }
    const isOver = text === "resolved" && microtasks + turns > 0; // all bytes were there before
    if (!isOver && !text.includes("its array was moved away")) throw new Error(`${name}: ${text}`);
  }
  for (const { microtasks, turns } of shareOf(MOMENTS)) {
    let array: Uint8Array<ArrayBuffer> | undefined = new Uint8Array(LENGTH).fill(1);
    using other = gpu.zeros("uint8", LENGTH);
    const abort = new AbortController();
    const moving = direction === "upload" ? buffer.upload(array) : buffer.download(array);
    const ending = other.upload(new Uint8Array(LENGTH), { signal: abort.signal });
    const outcomes = Promise.allSettled([moving, ending]);
    for (let count = 0; count < microtasks; count++) await undefined;
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    abort.abort(new RangeError("stop"));
    array.buffer.transfer(0);
    array = undefined;
    (globalThis as { gc?: () => void }).gc?.();
    for (const outcome of await outcomes) {
      if (outcome.status === "fulfilled") continue;
      const { message } = outcome.reason;
      if (!/its array was moved away|^stop$/.test(message)) throw new Error(`abort: ${message}`);
    }
  }

  let toMove: Uint8Array<ArrayBuffer> | undefined = new Uint8Array(LENGTH).fill(1);
  const onProgress = () => {
    toMove?.buffer.transfer(0);
    toMove = undefined;
  };
  const told = direction === "upload"
    ? buffer.upload(toMove, { onProgress })
    : buffer.download(toMove, { onProgress });
  const telling = await told.then(() => "resolved", (error: Error) => error.message);
  if (!telling.includes("its array was moved away")) throw new Error(`its listener: ${telling}`);

  for (const turns of [0, 1, 2]) {
    const arrays = Array.from({ length: MANY }, () => new Uint8Array(65_536).fill(1));
    using many = gpu.zeros("uint8", MANY * 65_536);
    const parts = arrays.map((_, at) => many.subarray(at * 65_536, (at + 1) * 65_536));
    const moving = direction === "upload"
      ? gpu.uploadAll(arrays, { into: parts })
      : gpu.downloadAll(parts, { into: arrays });
    const outcome = moving.then(() => "resolved", (error: Error) => error.message);
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    for (const array of arrays) array.buffer.transfer(0);
    (globalThis as { gc?: () => void }).gc?.();
    const text = await outcome;
    const isOver = text === "resolved" && turns > 0;
    if (!isOver && !text.includes("its array was moved away")) throw new Error(`many: ${text}`);
  }
  // Before it is the call's turn, and before the turn of a later part of it.
  for (const [count, isBehind] of [[MANY, true], [MAX_KEPT_ARRAYS + 1, false]] as const) {
    const arrays = Array.from({ length: count }, () => new Uint8Array(2048).fill(1));
    using many = gpu.zeros("uint8", count * 2048);
    const parts = arrays.map((_, at) => many.subarray(at * 2048, (at + 1) * 2048));
    const earlier = isBehind ? gpu.downloadAll(parts) : undefined;
    const moving = direction === "upload"
      ? gpu.uploadAll(arrays, { into: parts })
      : gpu.downloadAll(parts, { into: arrays });
    arrays.at(-1)?.buffer.transfer(0);
    (globalThis as { gc?: () => void }).gc?.();
    const text = await moving.then(() => "resolved", (error: Error) => error.message);
    if (!text.includes("its array was moved away")) throw new Error(`later: ${text}`);
    await earlier;
  }
}
