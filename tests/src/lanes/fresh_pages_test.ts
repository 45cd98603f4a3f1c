// Checks that pages are made wherever memory begins and ends, and that no byte changes.

import { assert, assertEquals } from "@std/assert";
import { type HostApi, MAP, openHost, pageBytes, PROT } from "../../../ffi/host.ts";
import { isUntouched, makePages, makePagesAt } from "../../../src/lanes/fresh_pages.ts";
import { bytesAt } from "../../support/simulated_gpu.ts";
import { testOnLinux } from "../../support/test_unless.ts";

const PAGE_BYTES = pageBytes();

/** Memory that nothing has touched. */
class FreshMemory implements Disposable {
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

  [Symbol.dispose](): void {
    this.host.munmap(this.address, this.#size);
  }
}

for (const pageCount of [1, 2, 255, 256, 257, 511, 513, 1024, 1025, 4099, 9001]) {
  testOnLinux(`makePagesAt() makes all of ${pageCount} pages, and no other`, () => {
    using memory = new FreshMemory((pageCount + 2) * PAGE_BYTES);
    const inner = memory.address + BigInt(PAGE_BYTES);
    makePagesAt(memory.host, inner, pageCount * PAGE_BYTES);
    assertEquals(memory.pagesThere(), Array.from({ length: pageCount }, (_, page) => page + 1));
  });
}

testOnLinux("makePagesAt() changes no byte of pages that are there", () => {
  using memory = new FreshMemory(8 * 2 ** 20);
  const bytes = bytesAt(memory.address, memory.byteLength);
  for (let at = 5; at < bytes.length; at += 3 * PAGE_BYTES) bytes[at] = at / PAGE_BYTES;
  const before = bytes.slice();
  makePagesAt(memory.host, memory.address, memory.byteLength);
  assertEquals(bytes, before);
});

testOnLinux("makePages() makes every page of an array that begins within one", () => {
  using memory = new FreshMemory(16 * 2 ** 20);
  const bytes = bytesAt(memory.address, memory.byteLength).subarray(100, -100);
  assert(isUntouched(bytes));
  makePages(bytes);
  const pages = memory.byteLength / PAGE_BYTES;
  assertEquals(memory.pagesThere(), Array.from({ length: pages }, (_, page) => page));
  assert(!isUntouched(bytes));
});

testOnLinux("isUntouched() is true where most pages are missing, and false for few bytes", () => {
  using memory = new FreshMemory(8 * 2 ** 20);
  const bytes = bytesAt(memory.address, memory.byteLength);
  assert(isUntouched(bytes) && !isUntouched(bytes.subarray(0, 4096)));
  bytes.fill(1, 0, 6 * 2 ** 20);
  assert(!isUntouched(bytes) && isUntouched(bytes.subarray(6 * 2 ** 20)));
});
