// The adaptors that count, limit, list and ask: their numbers, and that faults leave them right.

import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { AlignedResourceAdaptor } from "../../../src/resources/aligned_resource_adaptor.ts";
import { FailureCallbackResourceAdaptor } from "../../../src/resources/failure_callback_resource_adaptor.ts";
import { LimitingResourceAdaptor } from "../../../src/resources/limiting_resource_adaptor.ts";
import { StatisticsResourceAdaptor } from "../../../src/resources/statistics_resource_adaptor.ts";
import { TrackingResourceAdaptor } from "../../../src/resources/tracking_resource_adaptor.ts";
import { CudaError, MemoryLimitError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { LedgerResource, shortage } from "../../support/ledger_resource.ts";
import { captureWarnings } from "../../support/warnings.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

Deno.test("LimitingResourceAdaptor.allocate() refuses what passes the limit, in multiples of 256", () =>
  withDevice((gpu) => {
    const upstream = new LedgerResource(gpu);
    const limited = new LimitingResourceAdaptor(upstream, { limitSize: "1 KiB" });
    const first = limited.allocate(1, gpu.stream);
    assertEquals(limited.usedBytes, 256);
    const error = assertThrows(() => limited.allocate(769, gpu.stream), MemoryLimitError);
    assertStringIncludes(error.message, "256 B of the 1 KiB that LimitingResourceAdaptor allows");
    assertEquals([error.holder, upstream.live.size], ["LimitingResourceAdaptor", 1]);
    const second = limited.allocate(768, gpu.stream);
    limited.deallocate(first, 1, gpu.stream);
    limited.deallocate(second, 768, gpu.stream);
    assertEquals(limited.usedBytes, 0);
  }));

Deno.test("LimitingResourceAdaptor reads bytes, sizes and shares, and refuses what could be two", () =>
  withDevice((gpu) => {
    const upstream = new LedgerResource(gpu);
    const limitOf = (limit: number | string) =>
      new LimitingResourceAdaptor(upstream, { limitSize: limit }).limitBytes;
    assertEquals(limitOf(4096), 4096);
    assertEquals(limitOf("2 GiB"), 2 * 2 ** 30);
    assertEquals(limitOf("40%"), Math.floor(0.4 * gpu.context.totalBytes));
    for (const limit of ["64k", "101%", "-1%", "%", "half", -1, 0.5]) {
      assertThrows(() => limitOf(limit), RangeError);
    }
  }));

testOnDevice("LimitingResourceAdaptor limit is what the buffer's error names", (gpu) => {
  const resource = new LimitingResourceAdaptor(gpu.memoryResource, { limitSize: "1 MiB" });
  const error = assertThrows(
    () => gpu.alloc("uint8", 2 ** 21, { resource }),
    OutOfMemoryError,
    "limited to 1 MiB, no live buffers; raise the limit of the LimitingResourceAdaptor",
  );
  assertEquals([error.limitBytes, error.cause instanceof MemoryLimitError], [2 ** 20, true]);
});

testOnDevice("LimitingResourceAdaptor counts nothing for calls that fail", (gpu) => {
  const upstream = new LedgerResource(gpu);
  const limited = new LimitingResourceAdaptor(upstream, { limitSize: "1 MiB" });
  upstream.fault.allocate = shortage();
  assertThrows(() => limited.allocate(256, gpu.stream), CudaError);
  assertEquals(limited.usedBytes, 0);
  upstream.fault.allocate = undefined;
  const block = limited.allocate(256, gpu.stream);
  upstream.fault.deallocate = new Error("planted");
  assertThrows(() => limited.deallocate(block, 256, gpu.stream), Error, "planted");
  assertEquals(limited.usedBytes, 256);
  upstream.fault.deallocate = undefined;
  limited.deallocate(block, 256, gpu.stream);
  assertEquals(limited.usedBytes, 0);
});

testOnDevice("StatisticsResourceAdaptor counts bytes now, at most and in all", (gpu) => {
  const stats = new StatisticsResourceAdaptor(new LedgerResource(gpu));
  const first = stats.allocate(1000, gpu.stream);
  const second = stats.allocate(500, gpu.stream);
  stats.deallocate(first, 1000, gpu.stream);
  const third = stats.allocate(100, gpu.stream);
  assertEquals([stats.currentBytes, stats.peakBytes, stats.totalBytes], [600, 1500, 1600]);
  assertEquals([stats.currentCount, stats.peakCount, stats.totalCount], [2, 2, 3]);
  stats.deallocate(second, 500, gpu.stream);
  stats.deallocate(third, 100, gpu.stream);
  assertEquals([stats.currentBytes, stats.currentCount], [0, 0]);
});

testOnDevice("StatisticsResourceAdaptor.push() counts a level, pop() returns it", (gpu) => {
  const stats = new StatisticsResourceAdaptor(new LedgerResource(gpu));
  const outer = stats.allocate(1000, gpu.stream);
  using level = stats.push();
  stats.push();
  stats.deallocate(stats.allocate(50, gpu.stream), 50, gpu.stream);
  assertEquals(stats.pop().totalBytes, 50);
  stats.deallocate(outer, 1000, gpu.stream);
  assertEquals([level.currentBytes, level.peakBytes, level.totalCount], [-1000, 50, 1]);
  assertEquals(stats.pop(), level);
  assertThrows(() => stats.pop(), RangeError, "none are open");
  assertEquals([stats.currentBytes, stats.peakBytes], [0, 1050]);
});

testOnDevice("StatisticsResourceAdaptor counts nothing for calls that fail", (gpu) => {
  const upstream = new LedgerResource(gpu);
  const stats = new StatisticsResourceAdaptor(upstream);
  upstream.fault.allocate = shortage();
  assertThrows(() => stats.allocate(256, gpu.stream), CudaError);
  assertEquals([stats.totalCount, stats.peakBytes], [0, 0]);
});

testOnDevice("TrackingResourceAdaptor lists what is held, with the caller's line", (gpu) => {
  const tracked = new TrackingResourceAdaptor(new LedgerResource(gpu));
  const kept = tracked.allocate(4096, gpu.stream);
  tracked.deallocate(tracked.allocate(1, gpu.stream), 1, gpu.stream);
  const [only, ...others] = tracked.outstanding();
  assertEquals([only?.byteLength, others.length, tracked.allocatedBytes], [4096, 0, 4096]);
  assert(only?.stack[0]?.startsWith("counting_adaptors_test.ts:"), only?.stack[0]);
  assertStringIncludes(tracked.toString(), "1 outstanding, 4 KiB");
  tracked.deallocate(kept, 4096, gpu.stream);
  assertEquals(tracked.toString(), "0 outstanding, 0 B");
});

Deno.test("TrackingResourceAdaptor.deallocate() reports a wrong size and never counts below zero", () =>
  withDevice((gpu) => {
    const upstream = new LedgerResource(gpu);
    const tracked = new TrackingResourceAdaptor(upstream);
    const unknown = upstream.allocate(512);
    const warnings = captureWarnings(() => tracked.deallocate(unknown, 512, gpu.stream));
    assertStringIncludes(warnings.join(), "was not allocated here");
    assertEquals(tracked.allocatedBytes, 0);
  }));

testOnDevice("FailureCallbackResourceAdaptor.allocate() tries again as it is told to", (gpu) => {
  const upstream = new LedgerResource(gpu);
  upstream.capacityBytes = 1024;
  const hoard = [upstream.allocate(512), upstream.allocate(512)];
  const asked: number[] = [];
  const resource = new FailureCallbackResourceAdaptor(upstream, {
    onFailure(byteLength) {
      asked.push(byteLength);
      const block = hoard.pop();
      if (block === undefined) return false;
      upstream.deallocate(block, 512);
      return true;
    },
  });
  resource.deallocate(resource.allocate(1024, gpu.stream), 1024, gpu.stream);
  assertEquals(asked, [1024, 1024]);
  assertThrows(() => resource.allocate(2048, gpu.stream), CudaError);
  assertEquals([asked.length, upstream.live.size], [3, 0]);
});

Deno.test("FailureCallbackResourceAdaptor passes on errors other than a lack of memory, and those of its callback", () =>
  withDevice((gpu) => {
    const upstream = new LedgerResource(gpu);
    const resource = new FailureCallbackResourceAdaptor(upstream, {
      onFailure() {
        throw new Error("thrown by the callback");
      },
    });
    upstream.fault.allocate = new Error("something else");
    assertThrows(() => resource.allocate(256, gpu.stream), Error, "something else");
    upstream.fault.allocate = shortage();
    assertThrows(() => resource.allocate(256, gpu.stream), Error, "thrown by the callback");
    assertEquals(upstream.live.size, 0);
  }));

testOnDevice("FailureCallbackResourceAdaptor refuses a promise, and does not go on", (gpu) => {
  const upstream = new LedgerResource(gpu);
  upstream.capacityBytes = 1024;
  const thenable = { then() {} };
  for (const answer of [Promise.resolve(true), Promise.reject(new Error("mine")), thenable]) {
    const onFailure = () => answer as unknown as boolean;
    const resource = new FailureCallbackResourceAdaptor(upstream, { onFailure });
    assertThrows(
      () => resource.allocate(2048, gpu.stream),
      TypeError,
      "Cannot allocate 2048 bytes: onFailure() returned a promise",
    );
  }
});

Deno.test("AlignedResourceAdaptor.allocate() aligns from the threshold on, and gives all back", () =>
  withDevice((gpu) => {
    const upstream = new LedgerResource(gpu);
    const options = { alignmentSize: "64 KiB", thresholdSize: 1024 };
    const aligned = new AlignedResourceAdaptor(upstream, options);
    const small = aligned.allocate(256, gpu.stream);
    const large = aligned.allocate(1024, gpu.stream);
    assertEquals([...upstream.live.values()], [256, 1024 + 65536 - 256]);
    assertEquals(large % 65536n, 0n);
    aligned.deallocate(small, 256, gpu.stream);
    aligned.deallocate(large, 1024, gpu.stream);
    assertEquals(upstream.live.size, 0);
  }));

testOnDevice(
  "AlignedResourceAdaptor refuses a number that is not a power of two from 256 on",
  (gpu) => {
    const upstream = new LedgerResource(gpu);
    for (const alignment of [0, 128, 300, 768]) {
      assertThrows(
        () => new AlignedResourceAdaptor(upstream, { alignmentSize: alignment }),
        RangeError,
      );
    }
  },
);
