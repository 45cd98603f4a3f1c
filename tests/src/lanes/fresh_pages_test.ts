// Checks that pages are made wherever memory begins and ends, whoever is free to make them, and that
// threads are given back.

import { assertEquals, assertGreater, assertLessOrEqual } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { type HostApi, MAP, openHost, PROT } from "../../../ffi/host.ts";
import {
  HUGE_PAGE_BYTES,
  makePagesNow,
  makePagesSync,
  PAGE_BYTES,
  pageParts,
  threadsBack,
} from "../../../src/lanes/fresh_pages.ts";
import { giveThreadBack, startThreads, takeThread } from "../../../src/lanes/lent_threads.ts";
import { bytesAt } from "../../support/simulated_gpu.ts";
import { testOnLinux } from "../../support/test_unless.ts";

/** Memory that nothing has touched; it is there until all threads are back that make pages of it. */
class FreshMemory implements AsyncDisposable {
  readonly host: HostApi = openHost();
  readonly address: bigint;
  readonly #size: bigint;

  constructor(readonly byteLength: number) {
    this.#size = BigInt(byteLength);
    const flags = MAP.PRIVATE | MAP.ANONYMOUS;
    this.address = this.host.mmap(0n, this.#size, PROT.READ | PROT.WRITE, flags, -1, 0n);
  }

  /** Numbers of the pages that are there. */
  pagesThere(): number[] {
    const states = new Uint8Array(this.byteLength / PAGE_BYTES);
    assertEquals(this.host.mincore(this.address, this.#size, states), 0);
    return [...states.keys()].filter((page) => ((states[page] ?? 0) & 1) === 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await threadsBack();
    this.host.munmap(this.address, this.#size);
  }
}

/** One page, parts of a part, parts that are not full, and more than there are threads for. */
const PAGE_COUNTS = [1, 2, 255, 256, 257, 511, 513, 1024, 1025, 4099, 9001];

for (const before of [0, PAGE_BYTES, HUGE_PAGE_BYTES, HUGE_PAGE_BYTES + PAGE_BYTES]) {
  Deno.test(`pageParts() cuts no more than it may, ${before} bytes behind a boundary`, () => {
    const start = BigInt(64 * HUGE_PAGE_BYTES + before);
    for (const pageCount of [1, 513, 4096, 4097, 8192, 9001]) {
      const parts = pageParts(start, pageCount * PAGE_BYTES, 8);
      assertLessOrEqual(parts.length, 8);
      assertEquals(parts[0]?.address, start);
      const end = parts.reduce((at, { address, byteLength }) => {
        assertEquals(address, at);
        return at + BigInt(byteLength);
      }, start);
      assertEquals(end, start + BigInt(pageCount * PAGE_BYTES));
      for (const { address } of parts.slice(1)) assertEquals(address % BigInt(HUGE_PAGE_BYTES), 0n);
    }
  });
}

for (const pageCount of PAGE_COUNTS) {
  testOnLinux(`makePagesNow() makes all of ${pageCount} pages, and no other`, async () => {
    await using memory = new FreshMemory((pageCount + 2) * PAGE_BYTES);
    const inner = memory.address + BigInt(PAGE_BYTES);
    makePagesNow(memory.host, inner, pageCount * PAGE_BYTES);
    assertEquals(memory.pagesThere(), Array.from({ length: pageCount }, (_, page) => page + 1));
  });
}

testOnLinux("makePagesNow() changes no byte of pages that are there", async () => {
  await using memory = new FreshMemory(8 * 2 ** 20);
  const bytes = bytesAt(memory.address, memory.byteLength);
  for (let at = 5; at < bytes.length; at += 3 * PAGE_BYTES) bytes[at] = at / PAGE_BYTES;
  const before = bytes.slice();
  makePagesNow(memory.host, memory.address, memory.byteLength);
  assertEquals(bytes, before);
});

testOnLinux("makePagesNow() makes all pages by itself when no thread is free", async () => {
  await using memory = new FreshMemory(16 * 2 ** 20);
  const taken = takeAll();
  makePagesNow(memory.host, memory.address, memory.byteLength);
  assertEquals(memory.pagesThere().length, memory.byteLength / PAGE_BYTES);
  giveBack(taken);
});

testOnLinux("makePagesNow() gives its threads back before it returns, once", async () => {
  await using memory = new FreshMemory(32 * 2 ** 20);
  const all = takeAll();
  giveBack(all);
  makePagesNow(memory.host, memory.address, memory.byteLength);
  const atOnce = takeAll();
  giveBack(atOnce);
  await delay(20);
  const later = takeAll();
  giveBack(later);
  assertEquals([atOnce, later], [all, all]);
});

testOnLinux("threadsBack() resolves when no thread is away, and is nothing then", async () => {
  await using memory = new FreshMemory(32 * 2 ** 20);
  makePagesNow(memory.host, memory.address, memory.byteLength);
  const back = threadsBack();
  assertEquals(back instanceof Promise, true);
  await back;
  await Promise.resolve();
  assertEquals(threadsBack(), undefined);
});

testOnLinux("makePagesNow() of few pages has no other thread begin anything", async () => {
  await threadsBack();
  await using memory = new FreshMemory(4 * 2 ** 20 - PAGE_BYTES);
  makePagesNow(memory.host, memory.address, memory.byteLength);
  assertEquals(threadsBack(), undefined);
  assertEquals(memory.pagesThere().length, memory.byteLength / PAGE_BYTES);
});

for (const hasHelp of [false, true]) {
  const name = hasHelp ? "with help" : "alone";
  testOnLinux(`makePagesSync(), ${name}, makes the pages that begin in an array`, async () => {
    await threadsBack();
    await using memory = new FreshMemory(16 * 2 ** 20);
    makePagesSync(bytesAt(memory.address, memory.byteLength).subarray(100, -100), { hasHelp });
    const pages = memory.byteLength / PAGE_BYTES;
    assertEquals(memory.pagesThere(), Array.from({ length: pages - 1 }, (_, page) => page + 1));
    assertEquals(threadsBack() !== undefined, hasHelp);
    await threadsBack();
  });
}

testOnLinux(
  "startThreads() starts as many threads, which are still there for the next call",
  async () => {
    const threadCount = () => [...Deno.readDirSync("/proc/self/task")].length;
    const starting = startThreads(20);
    assertGreater(threadCount(), 20);
    await starting;
    const started = threadCount();
    assertEquals(startThreads(20), undefined);
    assertEquals(threadCount(), started);
  },
);

function takeAll(): number {
  let count = 0;
  while (takeThread()) count++;
  return count;
}

function giveBack(count: number): void {
  for (; count > 0; count--) giveThreadBack();
}
