// Pages made ahead for new arrays: that they are there, that they are bounded, and that no byte of any
// array changes. Each program runs by itself: a heap remembers what was there before.

import { assert, assertEquals } from "@std/assert";
import { evaluate } from "../../support/child_deno.ts";
import { testOnLinux } from "../../support/test_unless.ts";

const HELPERS = `
  import { findHost } from "./ffi/host.ts";
  import { prepareHeap, prepareHeapAhead, warmNextBlock } from "./src/lanes/heap_pages.ts";
  const MIB = 2 ** 20;
  const host = findHost();
  const residentBytes = () => Deno.memoryUsage().rss;
  /** Counts the pages of a new block of the heap that are there before anything touches it. */
  function pagesOfNewBlock(byteLength) {
    const address = host.malloc(BigInt(byteLength));
    const first = (address + 4095n) / 4096n * 4096n;
    const states = new Uint8Array(byteLength / 4096 - 1);
    host.mincore(first, BigInt(states.length * 4096), states);
    host.free(address);
    return states.filter((state) => (state & 1) === 1).length;
  }
`;

async function outputOf(program: string): Promise<unknown> {
  const { code, stdout, stderr } = await evaluate(HELPERS + program);
  assertEquals([code, stderr], [0, ""]);
  return JSON.parse(stdout);
}

testOnLinux("prepareHeap() makes the pages that the next arrays take", async () => {
  const missing = await outputOf(`
    const kept = [];
    const missing = [];
    for (const byteLength of [MIB, MIB / 4, 3 * MIB, MIB / 16, 2 * MIB]) {
      for (let i = 0; i < 6; i++) {
        prepareHeap(byteLength);
        const pageCount = byteLength / 4096 - 1;
        const found = pagesOfNewBlock(byteLength); // one of 16 may be missing
        if (found < pageCount - 8 - pageCount / 16) missing.push([byteLength, i, found]);
        kept.push(new Uint8Array(byteLength));
      }
    }
    console.log(JSON.stringify(missing));
  `);
  assertEquals(missing, []);
});

testOnLinux(
  "prepareHeap() makes few pages for the first array, and none for small and large ones",
  async () => {
    const [none, few] = await outputOf(`
    host.free(host.malloc(8n * BigInt(MIB))); // the heap serves blocks of this size from here on
    const before = pagesOfNewBlock(4 * MIB);
    for (let i = 0; i < 1000; i++) prepareHeap(65_535);
    for (let i = 0; i < 1000; i++) prepareHeap(4 * MIB + 1);
    const none = pagesOfNewBlock(4 * MIB) - before;
    prepareHeap(2 ** 18);
    console.log(JSON.stringify([none, pagesOfNewBlock(4 * MIB) - before]));
  `) as [number, number];
    assert(none <= 8, `${none} pages`);
    assert(few >= 3 * 64 - 72 && few <= 3 * 64 + 8, `${few} pages`);
  },
);

testOnLinux("prepareHeapAhead() makes the pages of the first arrays, and no others", async () => {
  const [first, second, grown] = await outputOf(`
    prepareHeapAhead();
    const first = pagesOfNewBlock(20 * MIB);
    const before = residentBytes();
    for (let i = 0; i < 100; i++) prepareHeapAhead();
    console.log(JSON.stringify([first, pagesOfNewBlock(20 * MIB), residentBytes() - before]));
  `) as [number, number, number];
  for (const pages of [first, second]) assert(pages > 20 * 240, `${pages} pages`);
  // Each time takes 24 MiB; once the runtime may take the heap's end meanwhile.
  assert(grown < 2 * 24 * 2 ** 20, `${grown} bytes`);
});

testOnLinux("prepareHeap() holds a bounded number of pages, however often", async () => {
  const grown = await outputOf(`
    for (let i = 0; i < 3; i++) prepareHeap(MIB);
    const before = residentBytes();
    for (let i = 0; i < 20_000; i++) prepareHeap(MIB);
    console.log(residentBytes() - before);
  `) as number;
  assert(grown < 24 * 2 ** 20, `${grown} bytes`);
});

testOnLinux("prepareHeap() and warmNextBlock() change no byte of any array", async () => {
  const wrong = await outputOf(`
    let state = 12345;
    const random = (below) => (state = (state * 48271) % 2147483647) % below;
    const kept = [];
    let wrong = 0;
    const holds = (array, value) => {
      for (let at = 0; at < array.length; at += 61) if (array[at] !== value) return false;
      return true;
    };
    for (let i = 0; i < 300; i++) {
      const byteLength = 1 + random(3 * MIB);
      prepareHeap(byteLength);
      warmNextBlock(byteLength);
      const made = new Uint8Array(byteLength);
      if (!holds(made, 0)) wrong++;
      kept.push(made.fill(i % 251));
      if (kept.length < 24) continue;
      const [gone] = kept.splice(random(kept.length), 1);
      if (!holds(gone, gone[0])) wrong++;
    }
    console.log(wrong);
  `);
  assertEquals(wrong, 0);
});

testOnLinux("warmNextBlock() touches the next block's beginning, and keeps nothing", async () => {
  const [without, touched, grown] = await outputOf(`
    const kept = [];
    /** Counts arrays of which less than so many pages are there when they are made. */
    function countUntouched(byteLength, warmedBytes, pageCount) {
      let count = 0;
      for (let i = 0; i < 40; i++) {
        warmNextBlock(warmedBytes);
        if (pagesOfNewBlock(byteLength) < pageCount) count++;
        kept.push(new Uint8Array(byteLength));
      }
      return count;
    }
    const sizes = [0, 2 ** 14 - 1, 2 ** 20 + 1];
    const without = sizes.map((bytes) => countUntouched(2 ** 20, bytes, 30));
    const touched = countUntouched(2 ** 20, 2 ** 20, 30) + countUntouched(2 ** 16, 2 ** 16, 12);
    const before = residentBytes();
    for (let i = 0; i < 20_000; i++) warmNextBlock(2 ** 14 + i % 2 ** 18);
    console.log(JSON.stringify([without, touched, residentBytes() - before]));
  `) as [number[], number, number];
  for (const count of without) assert(count > 0);
  assertEquals(touched, 0);
  assert(grown < 8 * 2 ** 20, `${grown} bytes`);
});

testOnLinux(
  "prepareHeap() asks again where the system could not tell once, and not for ever",
  async () => {
    const [pageCount, lookCount] = await outputOf(`
    const { mincore } = host;
    let lookCount = 0;
    host.mincore = () => (lookCount++, -1);
    prepareHeap(MIB);
    host.mincore = mincore;
    for (let i = 0; i < 4; i++) prepareHeap(MIB);
    const pageCount = pagesOfNewBlock(MIB);
    host.mincore = () => (lookCount++, -1);
    for (let i = 0; i < 1000; i++) prepareHeap(MIB);
    console.log(JSON.stringify([pageCount, lookCount]));
  `) as [number, number];
    assert(pageCount > 230, `${pageCount} pages`);
    assert(lookCount < 40, `${lookCount} looks`);
  },
);
