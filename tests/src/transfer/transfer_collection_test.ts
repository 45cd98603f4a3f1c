// Transfers keep the arrays that nobody else holds: the collector runs all the time while they move.

import { assertEquals } from "@std/assert";
import { runWithCollector } from "../../support/collector_program.ts";
import { takingTurns, testOnLinux } from "../../support/test_unless.ts";

/** Opens a device whose transfers use threads soon, and lets the collector run and memory be reused. */
const SETUP = `
  const transfers = { laneCount: 4, ringFromSize: "1 MiB" };
  const tuned = kit.CudaDevice.open(0, { driver: testDriver(), transfers });
  const reused = [];
  const timer = setInterval(() => {
    globalThis.gc();
    reused.push(new Uint8Array(2 ** 20).fill(255));
    if (reused.length > 8) reused.length = 0;
  }, 0);
  const isFull = (array, value) => array.every((byte) => byte === value);`;

takingTurns(testOnLinux)("upload() keeps an array that nobody else holds", async () => {
  const { result } = await runWithCollector(`${SETUP}
    const found = [];
    const buffer = tuned.alloc("uint8", 2 ** 23);
    for (let round = 0; round < 3; round++) {
      await buffer.upload(new Uint8Array(2 ** 23).fill(round));
      found.push(isFull(await buffer.download(), round));
    }
    clearInterval(timer);
    return found;
  `);
  assertEquals(result, new Array(3).fill(true));
});

takingTurns(testOnLinux)("uploadAll() keeps arrays that nobody else holds", async () => {
  const { result } = await runWithCollector(`${SETUP}
    const found = [];
    for (let round = 0; round < 2; round++) {
      const arrays = (value) => Array.from({ length: 500 }, () => new Uint8Array(2 ** 14).fill(value));
      const buffers = await tuned.uploadAll(arrays(round));
      found.push((await tuned.downloadAll([...buffers])).every((array) => isFull(array, round)));
      buffers[Symbol.dispose]();
    }
    clearInterval(timer);
    return found;
  `);
  assertEquals(result, new Array(2).fill(true));
});

testOnLinux("arrays of transfers that are over are collected", async () => {
  const { result } = await runWithCollector(`${SETUP}
    clearInterval(timer);
    const buffer = tuned.alloc("uint8", 2 ** 23);
    const arrays = [];
    async function moveOne(direction) {
      const array = new Uint8Array(2 ** 23);
      arrays.push(new WeakRef(array.buffer));
      await buffer[direction](array);
    }
    for (let round = 0; round < 3; round++) {
      await moveOne("upload");
      await moveOne("download");
    }
    await collect();
    return arrays.filter((array) => array.deref() !== undefined).length;
  `);
  assertEquals(result, 0);
});
