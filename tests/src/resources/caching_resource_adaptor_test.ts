// Reuse in and across streams, merging, limits, giving back, and books that stay right when the
// upstream fails.

import {
  assert,
  assertEquals,
  assertNotEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { CudaAsyncMemoryResource } from "../../../src/memory/cuda_async_memory_resource.ts";
import { CachingResourceAdaptor } from "../../../src/resources/caching_resource_adaptor.ts";
import { CudaError, DisposedError, MemoryLimitError } from "../../../src/words/errors.ts";
import { assertSameBytes, patternBytes, readBytes, writeBytes } from "../../support/contents.ts";
import { watchedDriver } from "../../support/faulty_driver.ts";
import { HeldStream, testHolding } from "../../support/held_stream.ts";
import { LedgerResource } from "../../support/ledger_resource.ts";
import { captureWarnings } from "../../support/warnings.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const MEBIBYTE = 2 ** 20;

Deno.test("CachingResourceAdaptor.allocate() hands out a freed block without a driver call", () => {
  const { driver, calls } = watchedDriver();
  return withDevice((gpu) => {
    using cache = new CachingResourceAdaptor(new CudaAsyncMemoryResource(gpu));
    const { stream } = gpu;
    const first = cache.allocate(MEBIBYTE, stream);
    cache.deallocate(first, MEBIBYTE, stream);
    calls.length = 0;
    const second = cache.allocate(MEBIBYTE, stream);
    cache.deallocate(second, MEBIBYTE, stream);
    assertEquals(second, first);
    assertEquals(calls, []);
  }, { driver });
});

Deno.test("CachingResourceAdaptor.deallocate() merges neighbours, so that a larger request fits", () =>
  withDevice((gpu) => {
    const upstream = new LedgerResource(gpu);
    using cache = new CachingResourceAdaptor(upstream);
    const { stream } = gpu;
    const blocks = [0, 1, 2, 3].map(() => cache.allocate(MEBIBYTE / 2, stream));
    assertEquals(upstream.allocationCount, 1);
    for (const at of [2, 0, 3, 1]) cache.deallocate(blocks[at] ?? 0n, MEBIBYTE / 2, stream);
    const whole = cache.allocate(MEBIBYTE, stream);
    assertEquals([whole, upstream.allocationCount], [blocks[0], 1]);
    cache.deallocate(whole, MEBIBYTE, stream);
    assertEquals([cache.usedBytes, cache.cachedBytes], [0, cache.reservedBytes]);
  }));

Deno.test("CachingResourceAdaptor.largestCachedBytes tells how scattered the kept memory is", () =>
  withDevice((gpu) => {
    using cache = new CachingResourceAdaptor(new LedgerResource(gpu));
    const { stream } = gpu;
    assertEquals(cache.largestCachedBytes, 0);
    const blocks = [0, 1, 2, 3].map(() => cache.allocate(MEBIBYTE / 2, stream));
    for (const at of [0, 2]) cache.deallocate(blocks[at] ?? 0n, MEBIBYTE / 2, stream);
    assertEquals([cache.cachedBytes, cache.largestCachedBytes], [MEBIBYTE, MEBIBYTE / 2]);
    const kept = gpu.report().data.caches.find(({ largestBytes }) => largestBytes !== undefined);
    assertEquals([kept?.byteLength, kept?.largestBytes], [MEBIBYTE, MEBIBYTE / 2]);
    assertStringIncludes(`${gpu.report()}`, "its largest block");
    for (const at of [1, 3]) cache.deallocate(blocks[at] ?? 0n, MEBIBYTE / 2, stream);
    assertEquals(cache.largestCachedBytes, cache.cachedBytes);
  }));

testHolding("CachingResourceAdaptor.allocate() leaves the blocks of a busy stream alone", (gpu) => {
  using cache = new CachingResourceAdaptor(new CudaAsyncMemoryResource(gpu));
  using busy = gpu.createStream();
  const former = cache.allocate(3 * MEBIBYTE, busy);
  using _held = new HeldStream(gpu, busy);
  cache.deallocate(former, 3 * MEBIBYTE, busy);
  const other = cache.allocate(3 * MEBIBYTE, gpu.stream);
  assertNotEquals(other, former);
  const same = cache.allocate(3 * MEBIBYTE, busy);
  assertEquals(same, former);
  cache.deallocate(same, 3 * MEBIBYTE, busy);
  cache.deallocate(other, 3 * MEBIBYTE, gpu.stream);
});

testOnDevice("CachingResourceAdaptor.allocate() takes over the blocks of an idle stream", (gpu) => {
  const upstream = new LedgerResource(gpu);
  using cache = new CachingResourceAdaptor(upstream);
  using other = gpu.createStream();
  const former = cache.allocate(3 * MEBIBYTE, other);
  cache.deallocate(former, 3 * MEBIBYTE, other);
  const block = cache.allocate(3 * MEBIBYTE, gpu.stream);
  assertEquals([block, upstream.allocationCount], [former, 1]);
  cache.deallocate(block, 3 * MEBIBYTE, gpu.stream);
});

testHolding("CachingResourceAdaptor.allocate() waits for a stream when memory is out", (gpu) => {
  using cache = new CachingResourceAdaptor(new CudaAsyncMemoryResource(gpu), {
    limitSize: "4 MiB",
  });
  using busy = gpu.createStream();
  using target = gpu.alloc("uint8", 3 * MEBIBYTE);
  const pattern = patternBytes(3 * MEBIBYTE);
  const source = gpu.alloc("uint8", 3 * MEBIBYTE, { resource: cache, stream: busy });
  writeBytes(source, pattern);
  const former = source.ptr;
  {
    using _held = new HeldStream(gpu, busy);
    target.copyFrom(source, { stream: busy });
    source.dispose();
    using next = gpu.alloc("uint8", 3 * MEBIBYTE, { resource: cache });
    assertEquals(next.ptr, former);
    next.fill(0xff);
  }
  assertSameBytes(readBytes(target), pattern);
});

testOnDevice("CachingResourceAdaptor.allocate() adopts the blocks of disposed streams", (gpu) => {
  const upstream = new LedgerResource(gpu);
  using cache = new CachingResourceAdaptor(upstream);
  for (let round = 0; round < 50; round++) {
    using stream = gpu.createStream();
    const block = cache.allocate(3 * MEBIBYTE, stream);
    cache.deallocate(block, 3 * MEBIBYTE, stream);
  }
  assertEquals([upstream.allocationCount, cache.segmentCount], [1, 1]);
});

Deno.test("CachingResourceAdaptor.allocate() gives free segments back before the peak rises", () =>
  withDevice((gpu) => {
    const upstream = new LedgerResource(gpu);
    using cache = new CachingResourceAdaptor(upstream);
    for (let size = 2; size <= 64; size += 2) {
      const block = cache.allocate(size * MEBIBYTE, gpu.stream);
      cache.deallocate(block, size * MEBIBYTE, gpu.stream);
    }
    assertEquals(cache.peakReservedBytes, 64 * MEBIBYTE);
    assertEquals(upstream.liveBytes, 64 * MEBIBYTE);
  }));

Deno.test("CachingResourceAdaptor.allocate() gives everything back and tries again when memory is out", () =>
  withDevice((gpu) => {
    const upstream = new LedgerResource(gpu);
    upstream.capacityBytes = 10 * MEBIBYTE;
    using cache = new CachingResourceAdaptor(upstream);
    const small = cache.allocate(MEBIBYTE, gpu.stream);
    const large = cache.allocate(6 * MEBIBYTE, gpu.stream);
    cache.deallocate(large, 6 * MEBIBYTE, gpu.stream);
    const next = cache.allocate(7 * MEBIBYTE, gpu.stream);
    assertEquals(upstream.live.size, 2);
    const error = assertThrows(() => cache.allocate(2 * MEBIBYTE, gpu.stream), CudaError);
    assertEquals(error.codeName, "CUDA_ERROR_OUT_OF_MEMORY");
    assertEquals(cache.usedBytes, 8 * MEBIBYTE);
    cache.deallocate(next, 7 * MEBIBYTE, gpu.stream);
    cache.deallocate(small, MEBIBYTE, gpu.stream);
    assertEquals(cache.usedBytes + cache.cachedBytes, upstream.liveBytes);
  }));

testOnDevice("CachingResourceAdaptor limit holds, and says so", (gpu) => {
  const upstream = new LedgerResource(gpu);
  using cache = new CachingResourceAdaptor(upstream, { limitSize: "8 MiB" });
  const error = assertThrows(() => cache.allocate(9 * MEBIBYTE, gpu.stream), MemoryLimitError);
  assertStringIncludes(error.message, "0 B of the 8 MiB that CachingResourceAdaptor allows");
  const block = cache.allocate(7 * MEBIBYTE, gpu.stream);
  assertThrows(() => cache.allocate(3 * MEBIBYTE, gpu.stream), MemoryLimitError);
  cache.deallocate(block, 7 * MEBIBYTE, gpu.stream);
  assertThrows(() => new CachingResourceAdaptor(upstream, { limitSize: "64k" }), RangeError);
  assertThrows(() => new CachingResourceAdaptor(upstream, { limitSize: "140%" }), RangeError);
});

testOnDevice("CachingResourceAdaptor.trim() keeps what is in use, and what it is told", (gpu) => {
  const upstream = new LedgerResource(gpu);
  using cache = new CachingResourceAdaptor(upstream);
  const blocks = [4, 8, 16].map((size) => cache.allocate(size * MEBIBYTE, gpu.stream));
  cache.deallocate(blocks[0] ?? 0n, 4 * MEBIBYTE, gpu.stream);
  cache.deallocate(blocks[1] ?? 0n, 8 * MEBIBYTE, gpu.stream);
  cache.trim(8 * MEBIBYTE);
  assertEquals(cache.cachedBytes, 8 * MEBIBYTE);
  cache.trim();
  assertEquals([cache.cachedBytes, cache.usedBytes], [0, 16 * MEBIBYTE]);
  assertEquals(upstream.liveBytes, 16 * MEBIBYTE);
  cache.deallocate(blocks[2] ?? 0n, 16 * MEBIBYTE, gpu.stream);
});

Deno.test("CachingResourceAdaptor.dispose() gives back at once what is free, and later the rest", () =>
  withDevice((gpu) => {
    const upstream = new LedgerResource(gpu);
    const cache = new CachingResourceAdaptor(upstream);
    const used = cache.allocate(4 * MEBIBYTE, gpu.stream);
    const free = cache.allocate(4 * MEBIBYTE, gpu.stream);
    cache.deallocate(free, 4 * MEBIBYTE, gpu.stream);
    cache.dispose();
    cache.dispose();
    assertEquals(upstream.liveBytes, 4 * MEBIBYTE);
    assertThrows(() => cache.allocate(1, gpu.stream), DisposedError);
    cache.deallocate(used, 4 * MEBIBYTE, gpu.stream);
    assertEquals(upstream.live.size, 0);
  }));

testOnDevice("CachingResourceAdaptor is outlived by its buffers", (gpu) => {
  function make() {
    using cache = new CachingResourceAdaptor(new CudaAsyncMemoryResource(gpu));
    return gpu.alloc("uint8", 4096, { resource: cache });
  }
  using buffer = make();
  writeBytes(buffer, patternBytes(4096));
  assertSameBytes(readBytes(buffer), patternBytes(4096));
});

testOnDevice("CachingResourceAdaptor.deallocate() refuses a block that is not in use", (gpu) => {
  using cache = new CachingResourceAdaptor(new LedgerResource(gpu));
  const block = cache.allocate(4096, gpu.stream);
  cache.deallocate(block, 4096, gpu.stream);
  const error = assertThrows(() => cache.deallocate(block, 4096, gpu.stream), TypeError);
  assertStringIncludes(error.message, "it is not in use here");
  assertEquals(cache.usedBytes, 0);
  assertEquals(cache.cachedBytes, cache.reservedBytes);
});

Deno.test("CachingResourceAdaptor.deallocate() loses nothing when its stream cannot be used", () =>
  withDevice((gpu) => {
    using cache = new CachingResourceAdaptor(new LedgerResource(gpu));
    const streams = [gpu.createStream(), gpu.createStream()];
    const [first, second] = streams;
    if (first === undefined || second === undefined) throw new TypeError("Cannot happen");
    cache.deallocate(cache.allocate(4096, first), 4096, first);
    const block = cache.allocate(4096, gpu.stream);
    for (const stream of streams) stream.dispose();
    assertThrows(() => cache.deallocate(block, 4096, second), DisposedError);
    assertEquals(cache.usedBytes, 4096);
    cache.deallocate(block, 4096, gpu.stream);
    assertEquals([cache.usedBytes, cache.cachedBytes], [0, cache.reservedBytes]);
  }));

testOnDevice("CachingResourceAdaptor changes nothing when its upstream cannot allocate", (gpu) => {
  const upstream = new LedgerResource(gpu);
  using cache = new CachingResourceAdaptor(upstream);
  upstream.fault.allocate = new Error("planted");
  assertThrows(() => cache.allocate(4096, gpu.stream), Error, "planted");
  assertEquals([cache.usedBytes, cache.cachedBytes, cache.reservedBytes], [0, 0, 0]);
  upstream.fault.allocate = undefined;
  cache.deallocate(cache.allocate(4096, gpu.stream), 4096, gpu.stream);
});

testOnDevice("CachingResourceAdaptor keeps a segment that its upstream refuses", (gpu) => {
  const upstream = new LedgerResource(gpu);
  using cache = new CachingResourceAdaptor(upstream);
  cache.deallocate(cache.allocate(4096, gpu.stream), 4096, gpu.stream);
  upstream.fault.deallocate = new Error("planted");
  const warnings = captureWarnings(() => cache.trim());
  assert(warnings.length === 1 && warnings[0]?.includes("planted"));
  assertEquals(cache.cachedBytes, upstream.liveBytes);
  upstream.fault.deallocate = undefined;
  cache.trim();
  assertEquals([cache.cachedBytes, upstream.liveBytes], [0, 0]);
});

Deno.test("CachingResourceAdaptor lets its upstream use it while it gives a segment back", () =>
  withDevice((gpu) => {
    const { stream } = gpu;
    class Meddler extends LedgerResource {
      override deallocate(address: bigint, byteLength: number): void {
        cache.trim();
        blocks.push(cache.allocate(4096, stream));
        super.deallocate(address, byteLength);
      }
    }
    const upstream = new Meddler(gpu);
    const blocks: bigint[] = [];
    using cache = new CachingResourceAdaptor(upstream);
    const large = cache.allocate(4 * MEBIBYTE, stream);
    for (const size of [4096, 4096]) cache.deallocate(cache.allocate(size, stream), size, stream);
    cache.deallocate(large, 4 * MEBIBYTE, stream);
    assertEquals(captureWarnings(() => cache.trim()), []);
    assertEquals([blocks.length, new Set(blocks).size], [2, 2]);
    assertEquals(cache.reservedBytes, upstream.liveBytes);
    for (const block of blocks) cache.deallocate(block, 4096, stream);
    assertEquals(cache.cachedBytes, upstream.liveBytes);
    upstream.deallocate = LedgerResource.prototype.deallocate;
  }));

testOnDevice("CachingResourceAdaptor ends once when its upstream disposes it meanwhile", (gpu) => {
  class Disposer extends LedgerResource {
    override allocate(byteLength: number): bigint {
      cache.dispose();
      return super.allocate(byteLength);
    }
  }
  const upstream = new Disposer(gpu);
  const cache = new CachingResourceAdaptor(upstream);
  gpu.alloc("uint8", 4096, { resource: cache }).dispose();
  assertEquals([cache.reservedBytes, upstream.liveBytes, gpu.context.released], [0, 0, false]);
});

testOnDevice("CachingResourceAdaptor is one of the device's caches, which gpu trims", (gpu) => {
  const upstream = new LedgerResource(gpu);
  const cache = new CachingResourceAdaptor(upstream);
  cache.deallocate(cache.allocate(4096, gpu.stream), 4096, gpu.stream);
  const { caches } = gpu.context.ledger;
  const kept = [...caches].filter(({ name }) => name === "caching resource");
  assertEquals(kept.map(({ byteLength }) => byteLength), [cache.cachedBytes]);
  for (const each of kept) each.trim();
  assertEquals(upstream.liveBytes, 0);
  cache.dispose();
  assertEquals([...caches].filter(({ name }) => name === "caching resource"), []);
});

Deno.test("CachingResourceAdaptor is as it was after calls without a stream, or of a wrong size", () =>
  withDevice((gpu) => {
    using cache = new CachingResourceAdaptor(gpu.memoryResource);
    const [allocate, deallocate] = [cache.allocate, cache.deallocate].map((method) =>
      method.bind(cache) as (...args: unknown[]) => unknown
    ) as [(...args: unknown[]) => bigint, (...args: unknown[]) => void];
    const words = "Cannot use undefined: expected a stream of gpu.createStream()";
    assertThrows(() => allocate(512), TypeError, words);
    for (const byteLength of [NaN, -1, 1.5, "512"]) {
      assertThrows(() => allocate(byteLength, gpu.stream), RangeError, "Cannot use byteLength");
    }
    const address = allocate(512, gpu.stream);
    assertThrows(() => deallocate(address, 512), TypeError, words);
    assertEquals([cache.usedBytes, cache.usedCount], [512, 1]);
    deallocate(address, 512, gpu.stream);
    cache.trim();
    assertEquals([cache.usedBytes, cache.cachedBytes, cache.reservedBytes], [0, 0, 0]);
  }));
