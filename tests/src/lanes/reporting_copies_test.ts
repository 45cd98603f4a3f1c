// Copies on lent threads that report in shared memory: blocking transfers use them before lanes run,
// without a turn of the event loop, and memory that the system does not read goes another way.

import { assertEquals, assertIsError } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { MAP, openHost, PROT } from "../../../ffi/host.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { STATUS } from "../../../src/lanes/lane_program.ts";
import { giveThreadBack, takeThread } from "../../../src/lanes/lent_threads.ts";
import { canReport, ReportingCopies } from "../../../src/lanes/reporting_copies.ts";
import { addressOf, type HostBytes } from "../../../src/memory/host_memory.ts";
import { BusyThreads } from "../../support/busy_threads.ts";
import { assertSameBytes, patternBytes } from "../../support/contents.ts";
import { TINY_LIMITS, TinyEngine } from "../../support/tiny_engine.ts";
import { withDevice } from "../../support/with_device.ts";

// The promises of threads that have reported are settled in later turns, some of them in later tests.
const OPTIONS = { ignore: !canReport(), sanitizeOps: false };
const PAGE_BYTES = 4096;
const MAP_FIXED = 0x10;

/** Five lent threads, and no lane. */
const LIMITS = { ...TINY_LIMITS, slotCount: 12, laneCount: 5, freshLaneCount: 5 };

/** Memory with a page that the processor reads and the system does not, as some drivers' memory is. */
function mapGuarded(
  pageCount: number,
  guarded: number,
): { bytes: Uint8Array<ArrayBuffer> } & Disposable {
  const host = openHost();
  const size = BigInt(pageCount * PAGE_BYTES);
  const flags = MAP.PRIVATE | MAP.ANONYMOUS;
  const address = host.mmap(0n, size, PROT.READ | PROT.WRITE, flags, -1, 0n);
  const page = address + BigInt(guarded * PAGE_BYTES);
  const mapped = host.mmap(page, BigInt(PAGE_BYTES), PROT.WRITE, flags | MAP_FIXED, -1, 0n);
  assertEquals(mapped, page);
  const pointer = Deno.UnsafePointer.create(address);
  if (pointer === null) throw new Error("Cannot map memory");
  const bytes = new Uint8Array(
    Deno.UnsafePointerView.getArrayBuffer(pointer, pageCount * PAGE_BYTES),
  );
  bytes.set(patternBytes(bytes.byteLength, guarded));
  return {
    bytes,
    [Symbol.dispose]: () => {
      bytes.buffer.transfer(0);
      host.munmap(address, size);
    },
  };
}

/** A copy into a new array, and the word that it sets. */
function copyOf(source: HostBytes) {
  const to = new Uint8Array(source.byteLength);
  const word = new Int32Array(new SharedArrayBuffer(4));
  const copy = {
    destination: addressOf(to),
    source: addressOf(source),
    byteLength: BigInt(source.byteLength),
    word: addressOf(word),
    kept: to,
  };
  return { to, word, copy };
}

/** Lets the event loop settle the promises of threads that have reported. */
function turns(): Promise<void> {
  return delay(50);
}

/** Number of threads that could be lent. */
function freeThreadCount(): number {
  let count = 0;
  while (takeThread()) count++;
  for (let given = 0; given < count; given++) giveThreadBack();
  return count;
}

/** Waits as a caller that blocks does. */
function waitFor(word: Int32Array<SharedArrayBuffer>): void {
  const end = performance.now() + 10_000;
  while (Atomics.load(word, 0) !== STATUS.done && performance.now() < end);
}

Deno.test("ReportingCopies.start() sets the word behind the bytes at once", OPTIONS, async () => {
  const copies = new ReportingCopies(3);
  const ends: (Promise<boolean> | undefined)[] = [];
  for (let seed = 0; seed < 300; seed++) {
    const source = patternBytes(1 + (seed * 7919) % 100_000, seed);
    const { to, word, copy } = copyOf(source);
    ends.push(copies.start(seed % 3, copy));
    waitFor(word);
    assertEquals(word[0], STATUS.done);
    assertSameBytes(to, source);
  }
  assertEquals(new Set(await Promise.all(ends)), new Set([true]));
});

Deno.test(
  "ReportingCopies.start() refuses memory that the system does not read at its ends",
  OPTIONS,
  () => {
    for (const guarded of [0, 2]) {
      using memory = mapGuarded(3, guarded);
      assertEquals(new ReportingCopies(1).start(0, copyOf(memory.bytes).copy), undefined);
    }
    const { copy } = copyOf(new Uint8Array(10));
    assertEquals(new ReportingCopies(1).start(0, { ...copy, source: 8n }), undefined);
  },
);

Deno.test(
  "ReportingCopies.start() resolves to false when the system stops in the middle",
  OPTIONS,
  async () => {
    using memory = mapGuarded(3, 1);
    const { word, copy } = copyOf(memory.bytes);
    assertEquals(await new ReportingCopies(1).start(0, copy), false);
    assertEquals(word[0], STATUS.begun);
  },
);

Deno.test("ReportingCopies.revoke() ends a copy that has not begun", OPTIONS, async () => {
  const source = patternBytes(10_000, 3);
  const { to, word, copy } = copyOf(source);
  const copies = new ReportingCopies(2);
  let copied: Promise<boolean> | undefined;
  {
    await using _busy = new BusyThreads();
    copied = copies.start(1, copy);
    copies.revoke(1);
  }
  assertEquals(await copied, false);
  assertEquals(word[0], STATUS.pending);
  assertEquals(new Set(to), new Set([0]));
  assertEquals(await copies.start(1, copy), true);
  assertSameBytes(to, source);
});

for (const hasLanes of [false, true]) {
  const threads = hasLanes ? "on lent threads until lanes run" : "on lent threads";

  Deno.test(
    `TransferEngine, blocking, moves random sizes ${threads}, and gives them back`,
    OPTIONS,
    () =>
      withDevice(async (gpu) => {
        using engine = new TinyEngine(gpu, LIMITS, { hasLanes });
        const free = freeThreadCount();
        for (let seed = 0; seed < 60; seed++) {
          const size = 1 + Math.floor(Math.random() * 150_000);
          const options = seed % 2 === 0
            ? {}
            : { pieceBytes: 1 + Math.floor(Math.random() * 4096) };
          using buffer = gpu.alloc("uint8", size);
          engine.uploadSync(buffer, patternBytes(size, seed), options);
          assertSameBytes(engine.downloadSync(buffer, options), patternBytes(size, seed));
          assertEquals(freeThreadCount(), free, "a thread is counted that has reported");
        }
        await turns();
      }),
  );
}

for (const [guarded, place] of [[16, "beginning"], [17, "middle"], [19, "end"]] as const) {
  Deno.test(
    `TransferEngine, blocking, uploads pieces whose ${place} the system does not read`,
    OPTIONS,
    () =>
      withDevice(async (gpu) => {
        const slotBytes = 4 * PAGE_BYTES;
        using engine = new TinyEngine(gpu, { ...LIMITS, slotBytes }, { hasLanes: false });
        using memory = mapGuarded(32, guarded);
        const { bytes } = memory;
        using buffer = gpu.alloc("uint8", bytes.byteLength);
        for (let i = 0; i < 3; i++) {
          engine.uploadSync(buffer, bytes, { pieceBytes: slotBytes });
          assertSameBytes(buffer.downloadSync(), patternBytes(bytes.byteLength, guarded));
          buffer.fill(0);
        }
        await turns();
      }),
  );
}

Deno.test(
  "TransferEngine, blocking, leaves arrays to the program that awaited transfers use",
  OPTIONS,
  () =>
    withDevice(async (gpu) => {
      using engine = new TinyEngine(gpu, LIMITS, { hasLanes: false });
      using first = gpu.alloc("uint8", 400_000);
      using second = gpu.alloc("uint8", 4096);
      for (let seed = 0; seed < 30; seed++) {
        const source = patternBytes(400_000, seed);
        const uploading = engine.upload(first, source, { pieceBytes: 1000 });
        if (seed % 3 === 0) await undefined;
        engine.uploadSync(second, patternBytes(4096, seed)); // advances both
        structuredClone(source, { transfer: [source.buffer] });
        try {
          await uploading;
          assertSameBytes(first.downloadSync(), patternBytes(400_000, seed));
        } catch (error) {
          assertIsError(error, TypeError, "moved away");
        }
        assertSameBytes(second.downloadSync(), patternBytes(4096, seed));
      }
      await turns();
    }),
);

for (let run = 0; run < 4; run++) {
  Deno.test(`CudaDevice leaves no call behind where nothing is awaited, run ${run}`, async () => {
    using gpu = CudaDevice.open(0, { driver: "simulated", transfers: { laneCount: 6 } });
    for (const byteLength of [2 ** 23 + 1, 2 ** 24 + 12_345, 2 ** 26, 2 ** 27]) {
      using buffer = gpu.uploadSync(new Uint8Array(byteLength).fill(run + 1));
      const made = buffer.downloadSync();
      assertEquals([made[0], made[byteLength >> 1], made[byteLength - 1]], Array(3).fill(run + 1));
      const given = buffer.downloadSync(new Uint8Array(byteLength));
      assertEquals([given[0], given[byteLength - 1]], [run + 1, run + 1]);
    }
    await turns();
  });
}
